// Package people proves that people come in by every credential, and that each sees and changes only what is theirs.
package people

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
