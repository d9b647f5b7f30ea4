//go:build !linux && !darwin && !windows

package main

// parents is not known here.
func parents() (parent, grandparent string) { return "", "" }
