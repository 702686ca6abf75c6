// Package track proves that platforms are asked what a brand wants to know, once each, and that the answers land.
package track

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
