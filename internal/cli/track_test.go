package cli

import (
	"encoding/json"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestSummary(t *testing.T) {
	for result, want := range map[string]string{
		`{"answered": 2, "notShown": 0, "gaveUp": {}, "cost": {"amount": 0.02, ` +
			`"currency": "USD"}}`: "completed: 2 of 90 answered; 0.02 USD",
		`{"answered": 88, "notShown": 29, "gaveUp": {"timeout": 1}, "cancelled": 1, "cost": {"amount": 1.5, ` +
			`"currency": "USD"}}`: "completed: 88 of 90 answered, of them 29 without an overview, 1 given up: " +
			"timeout, 1 cancelled; 1.5 USD",
	} {
		if got := summary(postgres.TrackingJob{Status: "completed", Total: 90,
			Result: json.RawMessage(result)}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
