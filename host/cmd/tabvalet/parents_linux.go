package main

import (
	"fmt"
	"os"
	"strings"
)

// parents gives the path of the program that started us and of the one that started that, as the system reports them.
func parents() (parent, grandparent string) {
	ppid := os.Getppid()
	parent, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", ppid))
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", ppid))
	if err != nil {
		return parent, ""
	}
	// The name in parentheses may hold anything; what follows the last one is state and parent.
	_, rest, _ := cutLast(string(stat), ")")
	if f := strings.Fields(rest); len(f) > 1 {
		grandparent, _ = os.Readlink("/proc/" + f[1] + "/exe")
	}
	return parent, grandparent
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
