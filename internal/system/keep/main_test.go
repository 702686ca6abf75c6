// Package keep proves that what was counted stays right and can be taken along: backups, exports, dead letters, answers
// that are read again, and reconciliation.
package keep

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
