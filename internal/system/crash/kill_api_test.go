package crash

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// asked compares what every endpoint says of a brand with what was imported.
func (k *killing) asked(t *testing.T, s *run.Server, b int, id string) {
	t.Helper()
	k.summarized(t, s, b, id)
	if against := run.Compared(t, s, k.key, b, id, k.lines, run.RivalOf(b)); against != "" {
		t.Errorf("%s: %s", run.Lamps[b], against)
	}
	k.cited(t, s, b, id)
	k.prompted(t, s, b, id)
	if cards := k.cards(t, s, id); cards != k.lines {
		t.Errorf("%d shopping cards of %s, want %d", cards, run.Lamps[b], k.lines)
	}
	var traffic struct {
		Total uint64 `json:"total_visits"`
	}
	if body := k.ask(t, s, "ai-traffic"+run.Window(id), &traffic); traffic.Total != everyVisit(k.lines, b) {
		t.Errorf("traffic of %s: %s, want %d visits", run.Lamps[b], body, everyVisit(k.lines, b))
	}
	var crawlers struct {
		Total uint64 `json:"total_requests"`
	}
	if body := k.ask(t, s, "ai-crawlers"+run.Window(id), &crawlers); crawlers.Total != everyCrawl(k.lines, b) {
		t.Errorf("crawlers of %s: %s, want %d requests", run.Lamps[b], body, everyCrawl(k.lines, b))
	}
}

// ask reads an answer of the API, and returns its text.
func (k *killing) ask(t *testing.T, s *run.Server, path string, into any) (body string) {
	t.Helper()
	status, body := run.Fetch(t, s.URL+"/api/v1/"+path, k.key)
	if err := json.Unmarshal([]byte(body), into); err != nil || status != 200 {
		t.Fatalf("%s: %d %s, %v", path, status, body, err)
	}
	return body
}

// summarized compares the summary of a brand with what was imported.
func (k *killing) summarized(t *testing.T, s *run.Server, b int, id string) {
	t.Helper()
	var summary struct {
		Totals struct {
			ResultCount, TotalMentions, TotalCitations, MentionAnswers uint64
		}
		TopCompetitors []struct{ Mentions uint64 }
	}
	body := k.ask(t, s, "visibility-summary"+run.Window(id), &summary)
	if len(summary.TopCompetitors) != 1 {
		t.Fatalf("summary of %s: %s, want one competitor", run.Lamps[b], body)
	}
	named := run.OwnNames(k.lines, b)
	want := summary
	want.Totals.ResultCount, want.Totals.TotalMentions, want.Totals.TotalCitations, want.Totals.MentionAnswers = uint64(
		k.lines), named, ownPages(k.lines, b), named
	if summary.Totals != want.Totals || summary.TopCompetitors[0].Mentions != rivalNames(k.lines, b) {
		t.Errorf("summary of %s: %s, want %+v and %d of the competitor", run.Lamps[b], body, want.Totals,
			rivalNames(k.lines, b))
	}
}

// cited compares the citations of a brand with those of the file: each line has one.
func (k *killing) cited(t *testing.T, s *run.Server, b int, id string) {
	t.Helper()
	type totals struct {
		Domains, Citations uint64
		Answers            uint64 `json:"results_with_citations"`
	}
	var got struct{ Totals totals }
	body := k.ask(t, s, "citations"+run.Window(id), &got)
	if want := (totals{uint64(len(run.Lamps)), uint64(k.lines), uint64(k.lines)}); got.Totals != want {
		t.Errorf("citations of %s: %s, want %+v", run.Lamps[b], body, want)
	}
}

// prompted compares the sums over all prompts of a brand with what was imported.
func (k *killing) prompted(t *testing.T, s *run.Server, b int, id string) {
	t.Helper()
	type figures struct {
		Results     uint64 `json:"result_count"`
		Appearances uint64 `json:"appearance_count"`
		Mentions    uint64 `json:"total_mentions"`
		Citations   uint64 `json:"total_citations"`
	}
	var got struct{ Prompts []figures }
	body := k.ask(t, s, "prompt-performance"+run.Window(id)+"&limit=100", &got)
	var sum figures
	for _, p := range got.Prompts {
		sum.Results += p.Results
		sum.Appearances += p.Appearances
		sum.Mentions += p.Mentions
		sum.Citations += p.Citations
	}
	named := run.OwnNames(k.lines, b)
	if want := (figures{uint64(k.lines), named, named, ownPages(k.lines, b)}); sum != want {
		t.Errorf("prompts of %s: %s, in all %+v, want %+v", run.Lamps[b], body, sum, want)
	}
}

// cards pages through the shopping cards of a brand, and returns how many there are.
func (k *killing) cards(t *testing.T, s *run.Server, id string) int {
	t.Helper()
	path, seen := "shopping-cards"+run.Window(id)+"&limit=200", map[string]bool{}
	for next := path; ; {
		var page struct {
			Cards []struct{ ID string }
			Next  *string `json:"next_cursor"`
		}
		k.ask(t, s, next, &page)
		for _, card := range page.Cards {
			if seen[card.ID] {
				t.Errorf("shopping card %s comes twice", card.ID)
			}
			seen[card.ID] = true
		}
		if page.Next == nil {
			return len(seen)
		}
		next = path + "&cursor=" + url.QueryEscape(*page.Next)
	}
}

// responses are those of every endpoint, by path, in `make test` about one brand.
func (k *killing) responses(t *testing.T, s *run.Server) map[string]string {
	t.Helper()
	paths := []string{"/api/v1/brands", "/api/v1/whoami"}
	for _, id := range k.brands[:draws(1, len(k.brands))] {
		trend := "/api/v1/visibility-trend" + run.Window(id)
		paths = append(paths, trend, trend+"&granularity=week")
		for _, endpoint := range []string{
			"visibility-summary", "competitor-comparison", "citations", "prompt-performance",
			"shopping-cards", "ai-traffic", "ai-crawlers",
		} {
			paths = append(paths, "/api/v1/"+endpoint+run.Window(id))
		}
	}
	bodies := map[string]string{}
	for _, path := range paths {
		var status int
		if status, bodies[path] = run.Fetch(t, s.URL+path, k.key); status != 200 {
			t.Errorf("%s: %d %s", path, status, bodies[path])
		}
	}
	return bodies
}

// lags says where log_progress is, unless that is where the landing table is, which has the name of its topic.
func lags(t *testing.T, warehouse *clickhouse.Conn, table string) string {
	t.Helper()
	sql := `SELECT
    (SELECT toString(groupArray((log_partition, last))) FROM (SELECT log_partition, max(last_offset) AS last
        FROM log_progress WHERE endsWith(log_topic, '` + table + `') GROUP BY ALL ORDER BY ALL)),
    (SELECT toString(groupArray((log_partition, last))) FROM (SELECT log_partition, max(log_offset) AS last FROM ` +
		table + ` GROUP BY ALL ORDER BY ALL))`
	var reached, landed string
	if err := warehouse.QueryRow(t.Context(), sql).Scan(&reached, &landed); err != nil {
		t.Fatal(err)
	}
	if reached != landed || strings.Count(landed, "(") != run.Partitions {
		return fmt.Sprintf("log_progress is at %s, table %s at %s; want the same of %d partitions", reached, table,
			landed, run.Partitions)
	}
	return ""
}
