//go:build !all

package browsertest

// Kinds are the browsers that tests are run in: `make test` needs Chromium alone.
var Kinds = []string{"chromium"}
