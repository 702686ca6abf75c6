//go:build !linux

package engine

import "errors"

// passCapability: only Linux lets a process pass closed directories.
func passCapability() (capability int, ok bool) { return 0, false }

func runExec(execAs, []string) error { return errors.New("only for Linux") }
