package store

// SetFault makes each step of a write ask first, until the returned function is called.
func SetFault(f func(step string) error) (restore func()) {
	old := fault
	fault = f
	return func() { fault = old }
}

// Steps are the steps of one write, in order.
var Steps = []string{"create", "write", "sync", "rename", "sync dir"}
