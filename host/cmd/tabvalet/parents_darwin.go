package main

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// parents gives the path of the program that started us and of the one that started that, as the system reports them.
func parents() (parent, grandparent string) {
	ppid := os.Getppid()
	parent = executable(ppid)
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", ppid); err == nil {
		grandparent = executable(int(info.Eproc.Ppid))
	}
	return parent, grandparent
}

// executable reads the path out of kern.procargs2: a count of four bytes, then the path.
func executable(pid int) string {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(args) < 4 {
		return ""
	}
	path, _, _ := bytes.Cut(args[4:], []byte{0})
	return string(path)
}
