package store

// ReadFile reads a small file of ours as this package reads all of its own: through no link, ours alone, at most 64 KiB. Other
// packages keep what they remember with it and [WriteFile].
func ReadFile(path string) ([]byte, error) { return readFile(path) }

// WriteFile puts a whole file, 0600 in a folder of 0700, in place of another, or leaves the other as it was. The caller is
// the only writer of path: see [Lock].
func WriteFile(path string, data []byte) error { return writeFile(path, data) }

// Lock keeps other processes out until unlock is called, for a second at most: path is a file of its own in the folder of
// what is written, and the lock ends with the process.
func Lock(path string) (unlock func(), err error) { return lock(path) }
