// Package first proves that a person who starts answerscope for the first time comes to figures: by all, and by
// commands that explain themselves. Package dashboard has the demo.
package first

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
