package cli

import (
	"encoding/json"
	"testing"

	"github.com/answerscope/answerscope/queryapi/metrics"
)

func TestVerdictsAreSaidInWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"verdict":"moved_down","reach":"prompts","e_value":5.17,"e_days":357700,"since":{"day":"2026-03-07",` +
			`"difference":-10.6,"interval":{"low":-15.1,` +
			`"high":-6.1}}}`: "moved down since 7 March 2026, −10.6 points " +
			"(−15.1 to −6.1), these prompts; e-days 357,700",
		`{"verdict":"moved_up","reach":"brand","e_value":1234567,"e_days":1.5,"since":{"day":"2026-02-28",` +
			`"difference":4,"interval":null}}`: "moved up since 28 February 2026, 4.0 points, the brand; " +
			"e-value 1,234,567",
		`{"verdict":"within_noise","difference":-1.2,"interval":{"low":-7.4,"high":5},` +
			`"detectable":7.8}`: "within noise, −1.2 points (−7.4 to 5.0); a change of 7.8 would be seen",
		`{"verdict":"within_noise","difference":-75,"unadjusted":"moved_down","reach":"prompts",` +
			`"since":{"day":"2026-03-16","difference":-75,"interval":null}}`: "within noise, −75.0 points; " +
			"it moved, but among so many rows that may be chance",
		`{"verdict":"too_little_data","reason":"few_days","days_before":28,` +
			`"days_after":2}`: "too little data: 28 days before and 2 after, want 7 and 3",
		`{"verdict":"too_little_data","reason":"few_prompts","prompts":2}`: "too little data: 2 prompts, want 5",
		`{"verdict":"too_little_data","reason":"coarse"}`: "too little data: a change of 20 points " +
			"could be missed",
		`{"verdict":"too_little_data","reason":"no_runs"}`: "too little data: no runs in the window, " +
			"or none before it",
		`{"verdict":"model_changed","reason":"gemini, openai"}`: "model changed (gemini, openai): over half of a " +
			"window cannot be compared",
	} {
		var c metrics.Change
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			t.Fatal(body, err)
		}
		if got := changeText(c); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for e, want := range map[float64]string{
		0.1921: "0.1921", 999: "999", 1000: "1,000", 971500000000: "971,500,000,000", 12.5: "12.5",
	} {
		if got := grouped(e); got != want {
			t.Errorf("%v: got %s, want %s", e, got, want)
		}
	}
}
