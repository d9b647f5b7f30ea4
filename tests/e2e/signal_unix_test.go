//go:build unix

package e2e

import "syscall"

const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)
