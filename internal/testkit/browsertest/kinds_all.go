//go:build all

package browsertest

import "github.com/answerscope/answerscope/internal/testkit/browser"

// Kinds are the browsers that tests are run in.
var Kinds = browser.Kinds
