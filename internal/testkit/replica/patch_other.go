//go:build !(linux && amd64)

package replica

import "errors"

// Unsupported says why this machine has no replicas.
const Unsupported = "replicas are the embedded engine's build for Linux on x86-64, changed in its machine code: " +
	"other builds have other code"

func replicate(_, _, _ string) error { return errors.New(Unsupported) }
