//go:build !linux

package engine

import "syscall"

// passClosed says that only Linux can let a process pass closed directories.
func passClosed(*syscall.SysProcAttr) bool { return false }
