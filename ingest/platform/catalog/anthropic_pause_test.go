package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// pausing is a server that answers with a pause so many times, and then ends.
func pausing(t *testing.T, pauses int) (url string, bodies *[]map[string]any) {
	bodies = &[]map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		*bodies = append(*bodies, body)
		n, stop := len(*bodies), "pause_turn"
		if n > pauses {
			stop = "end_turn"
		}
		fmt.Fprintf(w,
			`{"type":"message","model":"claude-sonnet-5-5",
			"content":[{"type":"text","text":"Part %d.","a_new_field":%d}],
			"stop_reason":%q,
			"usage":{"input_tokens":10,"output_tokens":5,"server_tool_use":{"web_search_requests":1}}}`, n, n, stop)
	}))
	t.Cleanup(server.Close)
	return server.URL, bodies
}

func askPaused(t *testing.T, url string) platform.Reply {
	t.Helper()
	a, err := opener(anthropic)("key", url)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := a.Ask(t.Context(), platform.Question{Text: "best tent?", Model: "claude-haiku-4-5"})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// A pause is continued with what came, as it came; the text goes on, and usage is summed.
func TestPauseIsContinued(t *testing.T) {
	url, bodies := pausing(t, 2)
	reply := askPaused(t, url)
	if reply.Text != "Part 1.Part 2.Part 3." || reply.Finish != event.FinishComplete ||
		strings.Count(string(reply.Raw), "pause_turn") != 2 {
		t.Errorf("%+v", reply)
	}
	if u := *reply.Usage; u.InputTokens != 30 || u.OutputTokens != 15 || u.Searches != 3 {
		t.Errorf("usage %+v", u)
	}
	if len(*bodies) != 3 {
		t.Fatalf("%d requests", len(*bodies))
	}
	last := (*bodies)[2]
	messages, err := json.Marshal(last["messages"])
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"content":[{"text":"best tent?","type":"text"}],"role":"user"},` +
		`{"content":[{"a_new_field":1,"text":"Part 1.","type":"text"}],"role":"assistant"},` +
		`{"content":[{"a_new_field":2,"text":"Part 2.","type":"text"}],"role":"assistant"}]`
	if string(messages) != want || last["tool_choice"] != nil || (*bodies)[0]["tool_choice"] == nil {
		t.Errorf("sent %s, want %s; tool_choice %v", messages, want, last["tool_choice"])
	}
}

func TestContinuationsAreLimited(t *testing.T) {
	url, bodies := pausing(t, 100)
	if reply := askPaused(t, url); len(*bodies) != 6 || reply.Finish != event.FinishTruncated {
		t.Errorf("%d requests, %q; want six and truncated", len(*bodies), reply.Finish)
	}
}
