// Package dashboard proves that a demo comes to figures, and that the dashboard, in real browsers on the demo's data,
// shows what the API says, takes what people enter, and can be used by everyone.
package dashboard

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
