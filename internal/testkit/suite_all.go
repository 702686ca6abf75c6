//go:build all

package testkit

// All reports whether this is `make test-all`.
const All = true
