package link

// Serve is Listen on a listener of the test's own.
var Serve = serve
