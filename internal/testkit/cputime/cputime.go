// Package cputime measures the processor time of a computation, which a busy machine does not lengthen.
package cputime

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Of returns the processor time that do takes in its own goroutine. It runs on one thread meanwhile.
func Of(t testing.TB, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(t)
	do()
	return threadTime(t) - before
}

func threadTime(t testing.TB) time.Duration {
	t.Helper()
	const rusageThread = 1 // getrusage(2)
	var usage syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
