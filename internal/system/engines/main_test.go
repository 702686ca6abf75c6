// Package engines proves that answerscope works with engines as they are elsewhere: away, killed, full, behind TLS, in
// shards, and beside a collector of traces.
package engines

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
