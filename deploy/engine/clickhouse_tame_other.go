//go:build !linux

package engine

// tame is for Linux only, where an engine is packaged for us.
func tame(string) error { return nil }
