package keep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// What is exported here and imported there gives the same figures there, given-up runs, surfaces without an answer and
// answers that were read again included, and visits and crawls. However often it is imported, it counts once.
func TestAnExportMakesTheSameFiguresElsewhere(t *testing.T) {
	t.Parallel()
	const lines, givenUp, notShown = 240, 30, 9
	text, err := os.ReadFile(run.Captured(t, lines))
	if err != nil {
		t.Fatal(err)
	}
	for n := range givenUp { // of a platform of their own, which is degraded
		text = fmt.Appendf(text, `{"platform":"openai","prompt":"best lamp for room `+
			`1?","answered_at":"2026-03-%02dT09:00:00Z","given_up":"timeout"}`+"\n", n%28+1)
	}
	for day := range notShown {
		text = fmt.Appendf(text, `{"platform":"google-ai-overview","prompt":"best lamp for room `+
			`1?","answered_at":"2026-03-%02dT10:00:00Z","finish":"not_shown","provider":"serpapi"}`+"\n", day+1)
	}
	first := run.Installed(t)
	lumen := first.AddBrands(t, first.Organization.ID, run.LampsFile(t, 1))
	text = bytes.Replace(text, []byte("Lumen is a fine one"), []byte("Lumen, or Lu-Men by Gloow, is a fine one"), 2)
	imported := run.ToEnd(t, first.Env, string(text), "import", "-", "--org", "acme", "--brand", "lumen", "--json")
	if !strings.Contains(imported.Stdout,
		`"near_names":[{"text":"Lu-Men","answers":2,"near":"Lumen","entity":"Lumen"}]}`) ||
		!strings.Contains(imported.Stderr, `not counted: "Lu-Men" in 2 answers, nearly "Lumen" of Lumen`) {
		t.Errorf("import: status %d, %s%s", imported.Status, imported.Stdout, imported.Stderr)
	}
	others := []string{`"degraded_platforms":["openai"]`, fmt.Sprintf(`"notShown":%d,`, notShown)}
	settled(t, first, lumen, lines, others...)
	verdicts(t, first, lumen)
	r := run.ToEnd(t, first.Env, "", "export", "--org", "acme", "--brand", "lumen")
	if r.Status != run.ExitDone || strings.Count(r.Stdout, "\n") != lines+28+notShown {
		t.Fatalf("export: status %d, %d lines, %s", r.Status, strings.Count(r.Stdout, "\n"), r.Stderr)
	}
	if part := run.ToEnd(t, first.Env, "", "export", "--org", "acme", "--brand", "lumen", "--from", "2026-02-01",
		"--to", "2026-02-28"); strings.Count(part.Stdout, "\n") != lines/run.Months() {
		t.Errorf("of February: %d lines, want %d", strings.Count(part.Stdout, "\n"), lines/run.Months())
	}
	if parquet := run.ToEnd(t, first.Env, "", "export", "--org", "acme", "--brand", "lumen",
		"--format", "parquet"); !strings.HasPrefix(parquet.Stdout, "PAR1") ||
		!strings.HasSuffix(parquet.Stdout, "PAR1") {
		t.Errorf("parquet: status %d, %d bytes, %s", parquet.Status, len(parquet.Stdout), parquet.Stderr)
	}
	if visits := run.ToEnd(t, first.Env, "", "export", "--org", "acme", "--brand", "lumen",
		"--what", "visits"); visits.Status != run.ExitDone || visits.Stdout != "" {
		t.Errorf("no visits: status %d, %q, %s", visits.Status, visits.Stdout, visits.Stderr)
	}
	if wrong := run.ToEnd(t, first.Env, "", "export", "--org", "acme", "--brand", "lumen",
		"--from", "May"); wrong.Status != run.ExitUsage {
		t.Errorf("--from May: status %d", wrong.Status)
	}
	visits, crawls := haveTraffic(t, first)
	exported := r.Stdout + visits + crawls
	want := figures(t, first, lumen)
	first.Stop(t, syscall.SIGTERM)

	second := run.Installed(t)
	run.Must(t, second.Env, "import", run.Written(t, "exported.ndjson", []byte(exported)), "--org", "acme",
		"--create", run.BrandsOf(t, 1))
	lumen = run.OnlyBrand(t, second.URL, second.Key)
	settled(t, second, lumen, lines, others...)
	landed(t, second, "acme", visitLines, crawlLines)
	if again := run.Must(t, second.Env, "import", run.Written(t, "exported.ndjson", []byte(exported)), "--org", "acme",
		"--brand", "lumen"); again != fmt.Sprintf(`{"imported":0,"skipped":%d,"refused":0}`,
		lines+28+notShown+visitLines+crawlLines) {
		t.Errorf("imported again: %s", again)
	}
	for path, body := range figures(t, second, lumen) {
		if body != want[path] {
			t.Errorf("%s was\n%s\nand is\n%s", path, want[path], body)
		}
	}
	for what, before := range map[string]string{"visits": visits, "crawls": crawls} {
		after := run.ToEnd(t, second.Env, "", "export", "--org", "acme", "--brand", "lumen", "--what", what)
		if got, want := withoutPositions(after.Stdout), withoutPositions(before); !slices.Equal(got, want) {
			t.Errorf("%s were\n%s\nand are\n%s", what, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	importElsewhere(t, second, visits+crawls, lumen, want)
}

// verdicts compares what the commands verdict and plan print with the API. Without --org they find the only brand of
// that slug.
func verdicts(t *testing.T, i *run.Installation, lumen string) {
	t.Helper()
	command := strings.Fields("verdict lumen --org acme --from 2026-03-01 --to 2026-03-28 --by platform,prompt")
	_, body := run.Fetch(t,
		i.URL+"/api/v1/visibility-changes?group_by=platform,prompt&date_from=2026-03-01&date_to=2026-03-28&brand_id="+
			lumen, i.Key)
	if printed := run.Must(t, i.Env, append(command, "--json")...); printed != body {
		t.Errorf("verdict --json prints\n%s\nand the API says\n%s", printed, body)
	}
	printed := run.Must(t, i.Env, command...)
	if !strings.HasPrefix(printed, "Lumen: ") || !strings.Contains(printed, "\nplatform openai: ") ||
		!strings.Contains(printed, "\nprompt best lamp for room 1?: ") {
		t.Errorf("verdict prints\n%s", printed)
	}
	_, body = run.Fetch(t, i.URL+"/api/v1/sampling-plan?difference=7&days=21&brand_id="+lumen, i.Key)
	if printed := run.Must(t, i.Env, "plan", "lumen", "--difference", "7", "--days", "21", "--json"); printed != body {
		t.Errorf("plan --json prints\n%s\nand the API says\n%s", printed, body)
	}
	if printed := run.Must(t, i.Env, "plan", "lumen"); !strings.HasPrefix(printed, "Lumen: ") {
		t.Errorf("plan prints\n%s", printed)
	}
	if wrong := run.ToEnd(t, i.Env, "", "plan", "lumen",
		"--days", "90"); !strings.Contains(wrong.Stderr, "days: want a whole number from 3 to 49") {
		t.Errorf("--days 90: status %d, %s", wrong.Status, wrong.Stderr)
	}
	report(t, i, lumen)
	if wrong := run.ToEnd(t, i.Env, "", "verdict", "lumen", "--org", "acme",
		"--from", "May"); wrong.Status != run.ExitUsage || !strings.Contains(wrong.Stderr, "2026-03-01") {
		t.Errorf("--from May: status %d, %s", wrong.Status, wrong.Stderr)
	}
}

// report compares the weekly report with the API, and its two forms with each other.
func report(t *testing.T, i *run.Installation, lumen string) {
	t.Helper()
	command := strings.Fields("report lumen --org acme --week 2026-W07")
	var data struct {
		Answers int64
		Overall struct{ Rate float64 }
	}
	var summary struct {
		Totals struct {
			ResultCount    int64
			MentionRatePct float64
		}
	}
	_, body := run.Fetch(t, i.URL+"/api/v1/visibility-summary?date_from=2026-02-09&date_to=2026-02-15&brand_id="+lumen,
		i.Key)
	printed := run.Must(t, i.Env, append(command, "--json")...)
	if err := errors.Join(json.Unmarshal([]byte(printed), &data), json.Unmarshal([]byte(body), &summary)); err != nil ||
		data.Answers == 0 || data.Answers != summary.Totals.ResultCount ||
		data.Overall.Rate != summary.Totals.MentionRatePct {
		t.Errorf("report --json prints\n%s\nand the API says\n%s", printed, body)
	}
	text, page := run.Must(t, i.Env, command...), run.Must(t, i.Env, append(command, "--format", "html")...)
	rate := fmt.Sprintf("%.1f %%", data.Overall.Rate)
	if !strings.Contains(text, rate) || strings.Contains(text, "<") || !strings.Contains(page, rate) ||
		!strings.Contains(page, "</html>") {
		t.Errorf("without %s:\n%s\n%s", rate, text, page)
	}
	if wrong := run.ToEnd(t, i.Env, "", "report", "lumen", "--week", "2026-W54"); wrong.Status != run.ExitUsage ||
		!strings.Contains(wrong.Stderr, "an ISO week that has ended, such as 20") {
		t.Errorf("--week 2026-W54: status %d, %s", wrong.Status, wrong.Stderr)
	}
}

// importElsewhere imports the traffic of another organization's brand: it is theirs, and nothing of it is the first
// one's.
func importElsewhere(t *testing.T, i *run.Installation, traffic, brand string, want map[string]string) {
	t.Helper()
	other, _ := i.Organize(t, "other")
	i.AddBrands(t, other.ID, `{"brands":[{"name":"Theirs"},{"name":"Second"}]}`)
	if wrong := run.ToEnd(t, i.Env, traffic, "import", "-", "--org", "other",
		"--brand", "lumen"); wrong.Status == run.ExitDone {
		t.Errorf("a brand of another organization: status %d, %s", wrong.Status, wrong.Stdout)
	}
	both := run.Written(t, "both.json", []byte(`{"brands":[{"name":"Theirs"},{"name":"Second"}]}`))
	several := run.ToEnd(t, i.Env, traffic, "import", "-", "--org", "other", "--create", both)
	if several.Status != run.ExitRefused ||
		!strings.Contains(several.Stderr, "line 1: a visit or crawl is of one brand, got 2: import it with --brand") {
		t.Errorf("for two brands: status %d, %s%s", several.Status, several.Stdout, several.Stderr)
	}
	run.Must(t, i.Env, "import", run.Written(t, "traffic.ndjson", []byte(traffic)), "--org", "other",
		"--brand", "theirs")
	landed(t, i, "other", visitLines, crawlLines)
	landed(t, i, "acme", visitLines, crawlLines)
	for path, body := range figures(t, i, brand) {
		if body != want[path] {
			t.Errorf("%s was\n%s\nand is\n%s", path, want[path], body)
		}
	}
}

// The traffic of a test.
const (
	visitLines = 60
	crawlLines = 40
)

// haveTraffic has visits and crawls of the brand lumen of acme land, and returns their exports.
func haveTraffic(t *testing.T, i *run.Installation) (visits, crawls string) {
	t.Helper()
	var beacons, log strings.Builder
	for n := range visitLines {
		at := time.Date(2026, 3, n%28+1, 9, 0, n, 5e6, time.UTC)
		id := event.RunID(event.Identity{Sample: int64(n), Due: at})
		fmt.Fprintf(&beacons, `{"id":"%s","at":"%s","platform":"%s","platform_by":"referrer","host":"lumen.example",`+
			`"path":"/ä/%d","country":"%s","country_by":"database","session":"s%d","visitor":"1844674407370955161%d"`,
			id, at.Format(time.RFC3339Nano), []string{"chatgpt", "perplexity", "gemini"}[n%3], n%7,
			[]string{"DE", "", "US"}[n%3], n%5, n%6)
		switch n % 4 {
		case 0:
			fmt.Fprintf(&beacons,
				`,"event":"goal","goal_name":"purchase","goal_value":"%d.000001","goal_currency":"EUR"}`, n-30)
		case 1:
			beacons.WriteString(`,"event":"goal","goal_name":"signup","goal_value":null}`)
		default:
			fmt.Fprintf(&beacons, `,"event":"view","new_session":%t,"language":"de","screen":"1x1",`+
				`"time_zone":"Europe/Berlin","referrer_host":"chatgpt.com","simulated":false}`, n%8 == 2)
		}
		beacons.WriteByte('\n')
	}
	for n := range crawlLines {
		fmt.Fprintf(&log, "192.0.2.%d - - [%02d/Mar/2026:12:00:00 +0000] \"GET /p/%d HTTP/1.1\" %d 10 \"-\" "+
			"\"(compatible; %s/1.0)\"\n", n%20, n%28+1, n%3, []int{200, 404}[n%2],
			[]string{"GPTBot", "Claude-User"}[n%2])
	}
	ranges := run.Written(t, "gptbot.json", []byte(`{"prefixes":[{"ipv4Prefix":"192.0.2.0/29"}]}`))
	run.Must(t, i.Env, "import", run.Written(t, "visits.ndjson", []byte(beacons.String())), "--org", "acme",
		"--brand", "lumen")
	run.Must(t, i.Env, "crawlers", "import", run.Written(t, "access.log", []byte(log.String())), "--org", "acme",
		"--brand", "lumen", "--ranges", "GPTBot="+ranges)
	landed(t, i, "acme", visitLines, crawlLines)
	visits = run.Must(t, i.Env, "export", "--org", "acme", "--brand", "lumen", "--what", "visits") + "\n"
	crawls = run.Must(t, i.Env, "export", "--org", "acme", "--brand", "lumen", "--what", "crawls") + "\n"
	return visits, crawls
}

// landed waits until an organization has so many visits and crawls, and none twice.
func landed(t *testing.T, i *run.Installation, organization string, visits, crawls uint64) {
	t.Helper()
	var of string
	if err := i.DB.QueryRow(t.Context(),
		"SELECT id::text FROM public.organizations WHERE slug = $1", organization).Scan(&of); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, func() string {
		var v, vs, c, cs uint64
		for table, into := range map[string][]any{"visits": {&v, &vs}, "crawls": {&c, &cs}} {
			err := i.Warehouse.QueryRow(t.Context(),
				"SELECT count(), uniqExact(id) FROM "+table+" WHERE organization_id = ?", of).Scan(into...)
			if err != nil {
				t.Fatal(err)
			}
		}
		if v == visits && vs == visits && c == crawls && cs == crawls {
			return ""
		}
		return fmt.Sprintf("%d visits of %d ids, %d crawls of %d ids; want %d and %d", v, vs, c, cs, visits, crawls)
	})
}

var position = regexp.MustCompile(`,"log_topic":.*`)

// withoutPositions are the lines of an export, but for where the log has them.
func withoutPositions(export string) []string {
	all := strings.Split(position.ReplaceAllString(strings.TrimSpace(export), "}"), "\n")
	slices.Sort(all)
	return all
}
