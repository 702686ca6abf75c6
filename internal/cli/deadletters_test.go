package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Somebody adds a view that throws on some answers. The others are counted; those are
// listed and shown, wait until their months are reconciled, and are counted once the
// view is gone.
func TestRefusedAnswersAreReplayed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, captured(t, 30), brandsOf(t, 1))
	h.settled(t, 30)
	before := h.figures(t)
	warehouse, leave := opened(t, h.env)
	defer leave()
	exec := func(statement string) {
		t.Helper()
		if err := warehouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE MATERIALIZED VIEW theirs TO log_progress AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(model = 'odd')) AS last_offset FROM citations")

	var more strings.Builder
	for n := range 10 {
		fmt.Fprintf(&more, `{"platform":"chatgpt-web","model":"%s","prompt":"best lamp?","sample":%d,"answered_at":"2026-03-02T09:00:00Z","text":"Lumen is fine.","citations":[{"url":"https://lumen.example/"}]}`+"\n",
			map[bool]string{true: "odd", false: "even"}[n%5 == 3], n+1)
	}
	must(t, h.env, "import", written(t, "more.ndjson", []byte(more.String())), "--org", "acme", "--brand", "lumen")
	eventually(t, h.server, 50*time.Millisecond, func() string { // the figures are right once they are reconciled
		var landed int64
		if err := warehouse.QueryRow(t.Context(), "SELECT sum(sign) FROM answers").Scan(&landed); err != nil {
			t.Fatal(err)
		}
		if landed != 38 {
			return fmt.Sprintf("%d answers have landed, want 38", landed)
		}
		return ""
	})

	var listed []shownDeadLetter
	eventually(t, h.server, 200*time.Millisecond, func() string {
		listed = nil
		for line := range strings.Lines(must(t, h.env, "deadletters", "list", "--json", "--reason", "refused", "--topic", "answers")) {
			var one shownDeadLetter
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(line, err)
			}
			listed = append(listed, one)
		}
		if len(listed) != 2 {
			return fmt.Sprintf("%d dead letters, want 2", len(listed))
		}
		return ""
	})
	first := listed[0]
	if first.Reason != "refused" || !strings.Contains(first.Detail, "395") || len(first.Unsettled) != 1 || first.Unsettled[0] != "2026-03" || first.ReplayedAt != nil {
		t.Errorf("listed %+v", first)
	}
	if text := must(t, h.env, "deadletters", "list", "--from", "2020-01-01"); strings.Count(text, "refused, 2026-03 to be reconciled") != 2 {
		t.Errorf("listed as\n%s", text)
	}
	if text := must(t, h.env, "deadletters", "list", "--topic", "visits"); text != "" {
		t.Errorf("of visits %s", text)
	}
	var record struct{ Model string }
	if err := json.Unmarshal([]byte(must(t, h.env, "deadletters", "show", first.Place, "--raw")), &record); err != nil || record.Model != "odd" {
		t.Errorf("shown raw: %+v, %v", record, err)
	}
	if text := must(t, h.env, "deadletters", "show", first.Place); !strings.Contains(text, "record    "+first.Place) || !strings.Contains(text, `"model":"odd"`) {
		t.Errorf("shown as\n%s", text)
	}

	if r := run(t, h.env, "", "deadletters", "replay", "--all", "--json"); r.status != exitRefused || !strings.Contains(r.stdout, `"refused":2,"refusals":[{"topic":`) || !strings.Contains(r.stderr, "reconcile --from 2026-03") {
		t.Errorf("replayed before they were reconciled: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	exec("DROP VIEW theirs SYNC")
	must(t, h.env, "reconcile", "--from", "2026-03", "--to", "2026-03", "--fix")
	h.settled(t, 38)
	if text := must(t, h.env, "deadletters", "replay", first.Place); text != `{"replayed":1,"skipped":0,"refused":0}` {
		t.Errorf("one was replayed: %s", text)
	}
	if text := must(t, h.env, "deadletters", "replay", "--reason", "refused"); text != `{"replayed":1,"skipped":1,"refused":0}` {
		t.Errorf("the rest was replayed: %s", text)
	}
	h.settled(t, 40)
	if text := must(t, h.env, "deadletters", "list"); text != "" {
		t.Errorf("left are\n%s", text)
	}
	if text := must(t, h.env, "deadletters", "list", "--replayed"); strings.Count(text, "refused, replayed 20") != 2 {
		t.Errorf("replayed are\n%s", text)
	}
	must(t, h.env, "reconcile") // nothing differs
	if after := h.figures(t); after["visibility-summary"] == before["visibility-summary"] {
		t.Error("the figures did not move")
	}
	if n, err := clickhouse.Suspects(t.Context(), warehouse); err != nil || len(n) > 0 {
		t.Errorf("suspects %v, %v", n, err)
	}
}

func TestWhatIsNoDeadLetterIsSaid(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t)}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"show answers", exitUsage, "want TOPIC/PARTITION@OFFSET"},
		{"replay", exitUsage, "want records, a filter, or --all"},
		{"replay answers/0@1 --all", exitUsage, "not both"},
		{"list --topic news", exitUsage, "want one of"},
		{"list --from yesterday", exitUsage, "want a day such as"},
		{"show answers/0@1", exitFailed, "no dead letter is of answers/0@1"},
		{"replay answers/0@1", exitFailed, "no dead letter is of answers/0@1"},
	} {
		r := run(t, env, "", append([]string{"deadletters"}, strings.Fields(c.args)...)...)
		if r.status != c.status || !strings.Contains(r.stderr, c.says) {
			t.Errorf("deadletters %s: status %d, %s", c.args, r.status, r.stderr)
		}
	}
}
