//go:build unix

package kit

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process in a group of its own, so that killGroup ends its children too.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
