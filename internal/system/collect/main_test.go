// Package collect proves that what comes to a brand's site, visits by the pixel and crawlers by access logs, is counted
// once.
package collect

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
