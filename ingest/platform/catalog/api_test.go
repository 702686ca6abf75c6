package catalog

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Answers and refusals for a rate limit say what is allowed, other failures do not.
func TestAllowanceOfResponses(t *testing.T) {
	for status, want := range map[int]int{200: 70, 429: 70, 503: 0} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Ratelimit-Limit-Requests", "70")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"output":[{"type":"message","content":[{"type":"output_text","text":"Fernwood",` +
				`"annotations":[]}]}]}`))
		}))
		t.Cleanup(server.Close)
		client, err := opener(openAI)("key", server.URL)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := client.Ask(t.Context(), platform.Question{Text: "best tent?"})
		failure := &platform.Error{Allowance: reply.Allowance}
		if (err != nil) != (status != 200) || err != nil && !errors.As(err, &failure) ||
			failure.Allowance.RequestsPerMinute != want {
			t.Errorf("%d: %+v, %v", status, failure.Allowance, err)
		}
	}
}
