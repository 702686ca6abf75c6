package keep

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// listedDeadLetter is a dead letter as deadletters list and show print it.
type listedDeadLetter struct {
	Record     string     `json:"record"`
	Reason     string     `json:"reason"`
	Detail     string     `json:"detail"`
	ReplayedAt *time.Time `json:"replayed_at"`
}

// A view that throws on some answers stops the pipeline, which says so. Once the view is dropped, a restart counts them
// all.
func TestAViewThatThrowsStopsThePipelineUntilItIsRepaired(t *testing.T) {
	t.Parallel()
	h := run.Installed(t)
	lumen := h.AddBrands(t, h.Organization.ID, run.LampsFile(t, 1))
	exec := func(statement string) {
		t.Helper()
		if err := h.Warehouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE MATERIALIZED VIEW theirs TO log_progress AS SELECT '' AS log_topic, 0 AS log_partition, " +
		"toInt64(throwIf(model = 'odd')) AS last_offset FROM citations")
	var more strings.Builder
	for n := range 10 {
		fmt.Fprintf(&more, `{"platform":"chatgpt-web","model":"%s","prompt":"best lamp?","sample":%d,`+
			`"answered_at":"2026-03-02T09:00:00Z","text":"Lumen is `+
			`fine.","citations":[{"url":"https://lumen.example/"}]}`+"\n",
			map[bool]string{true: "odd", false: "even"}[n%5 == 3], n+1)
	}
	run.Must(t, h.Env, "import", run.Written(t, "more.ndjson", []byte(more.String())), "--org", "acme",
		"--brand", "lumen")
	wait.Until(t, func() string {
		if status, body := run.Fetch(t, h.Admin(t)+"/readyz", ""); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "is refused by view ") || !strings.Contains(body, ".theirs") {
			return fmt.Sprintf("readyz: %d %s", status, body)
		}
		return ""
	})
	exec("DROP VIEW theirs SYNC")
	h.Stop(t, syscall.SIGTERM)
	h.Start(t)
	settled(t, h, lumen, 10)
	if text := run.Must(t, h.Env, "deadletters", "list"); text != "" {
		t.Errorf("dead letters\n%s", text)
	}
	wait.For(t, "the months of the repeated batch to be compared", func() bool {
		months, err := clickhouse.Suspects(t.Context(), h.Warehouse)
		if err != nil {
			t.Fatal(err)
		}
		return len(months) == 0
	})
	run.Must(t, h.Env, "reconcile") // nothing differs
}

// Answers that an earlier build could not read are listed, shown, and counted once when they are replayed.
func TestDeadLettersAreReplayed(t *testing.T) {
	t.Parallel()
	h := run.Installed(t)
	lumen := h.AddBrands(t, h.Organization.ID, run.LampsFile(t, 1))
	run.Must(t, h.Env, "import", run.Captured(t, 30), "--org", "acme", "--brand", "lumen")
	settled(t, h, lumen, 30)
	before := figures(t, h, lumen)
	brand := uuid.Must(uuid.FromString(lumen))
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for n := range 2 {
		value, err := event.EncodeAnswer(nil, &event.Answer{
			V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Sample: int64(n + 1), Due: at}),
			OrganizationID: h.Organization.ID,
			Brand:          event.Brand{Entity: event.Entity{ID: brand, Name: "Lumen"}, Revision: 1},
			Prompt:         event.Prompt{ID: uuid.UUID{1}, Text: "best lamp?", SetID: uuid.UUID{2}},
			Platform:       "chatgpt-web", Model: "odd", Sample: int64(n + 1), Surface: event.SurfaceConsumer,
			AnsweredAt: event.At(at), Attempts: 1, Finish: event.FinishComplete, Text: "Lumen is fine.",
		})
		if err != nil {
			t.Fatal(err)
		}
		letter := clickhouse.DeadLetter{
			LogTopic: h.Prefix + "answers", LogOffset: int64(n), AppendedAt: at, Value: string(value),
			Reason: "malformed", Detail: "of a later release",
		}
		if err := clickhouse.DeadLetters.Insert(t.Context(), h.Warehouse, fmt.Sprint(n),
			[]clickhouse.DeadLetter{letter}); err != nil {
			t.Fatal(err)
		}
	}

	var listed []listedDeadLetter
	for line := range strings.Lines(run.Must(t, h.Env, "deadletters", "list", "--json", "--reason", "malformed",
		"--topic", "answers")) {
		var one listedDeadLetter
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(line, err)
		}
		listed = append(listed, one)
	}
	if len(listed) != 2 || listed[0].Reason != "malformed" || listed[0].Detail != "of a later release" ||
		listed[0].ReplayedAt != nil {
		t.Fatalf("listed %+v", listed)
	}
	first := listed[0]
	if text := run.Must(t, h.Env, "deadletters", "list",
		"--from", "2020-01-01"); strings.Count(text, "malformed  of a later release") != 2 {
		t.Errorf("listed as\n%s", text)
	}
	if text := run.Must(t, h.Env, "deadletters", "list", "--topic", "visits"); text != "" {
		t.Errorf("of visits %s", text)
	}
	var record struct{ Model string }
	if err := json.Unmarshal([]byte(run.Must(t, h.Env, "deadletters", "show", first.Record, "--raw")),
		&record); err != nil || record.Model != "odd" {
		t.Errorf("shown raw: %+v, %v", record, err)
	}
	if text := run.Must(t, h.Env, "deadletters", "show",
		first.Record); !strings.Contains(text, "record    "+first.Record) || !strings.Contains(text, `"model":"odd"`) {
		t.Errorf("shown as\n%s", text)
	}
	if text := run.Must(t, h.Env, "deadletters", "replay",
		first.Record); text != `{"replayed":1,"skipped":0,"refused":0}` {
		t.Errorf("one was replayed: %s", text)
	}
	if text := run.Must(t, h.Env, "deadletters", "replay",
		"--reason", "malformed"); text != `{"replayed":1,"skipped":1,"refused":0}` {
		t.Errorf("the rest was replayed: %s", text)
	}
	settled(t, h, lumen, 32)
	if text := run.Must(t, h.Env, "deadletters", "list"); text != "" {
		t.Errorf("left are\n%s", text)
	}
	if text := run.Must(t, h.Env, "deadletters", "list",
		"--replayed"); strings.Count(text, "malformed, replayed 20") != 2 {
		t.Errorf("replayed are\n%s", text)
	}
	run.Must(t, h.Env, "reconcile") // nothing differs
	if after := figures(t, h, lumen); after["visibility-summary"] == before["visibility-summary"] {
		t.Error("the figures did not change")
	}
	showsNoControls(t, h)
	saysWhatIsNoDeadLetter(t, h.Env)
}

// showsNoControls shows that what others wrote does nothing to a terminal.
func showsNoControls(t *testing.T, h *run.Installation) {
	t.Helper()
	const clipboard = "\x1b]52;c;cm0=\a"
	letter := clickhouse.DeadLetter{
		LogTopic: h.Prefix + "answers", LogOffset: 7, AppendedAt: time.Now(), Reason: "malformed",
		Detail: "a" + clipboard + "\nb" + clipboard, Value: "c" + clipboard,
		HeaderKeys: []string{"h" + clipboard}, HeaderValues: []string{"v"},
	}
	if err := clickhouse.DeadLetters.Insert(t.Context(), h.Warehouse, "7",
		[]clickhouse.DeadLetter{letter}); err != nil {
		t.Fatal(err)
	}
	const escapes = `\u001b]52;c;cm0=\u0007`
	shown, list := run.Must(t, h.Env, "deadletters", "show", h.Prefix+"answers/0@7"),
		run.Must(t, h.Env, "deadletters", "list")
	for _, want := range []string{
		"detail    a" + escapes + "\n          b" + escapes + "\n", "header    h" + escapes + `: "v"`,
		"\n\nc" + escapes,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("show lacks %q:\n%q", want, shown)
		}
	}
	if strings.ContainsAny(shown+list, "\x1b\a") {
		t.Errorf("%q, %q", shown, list)
	}
	if raw := run.Must(t, h.Env, "deadletters", "show", h.Prefix+"answers/0@7", "--raw"); raw != letter.Value {
		t.Errorf("raw: %q", raw)
	}
}

func saysWhatIsNoDeadLetter(t *testing.T, env []string) {
	t.Helper()
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"show answers", run.ExitUsage, "want TOPIC/PARTITION@OFFSET"},
		{"replay", run.ExitUsage, "want records, a filter, or --all"},
		{"replay answers/0@9 --all", run.ExitUsage, "not both"},
		{"list --topic news", run.ExitUsage, "want one of"},
		{"list --from yesterday", run.ExitUsage, "want a day such as"},
		{"show answers/0@9", run.ExitFailed, "there is no dead letter answers/0@9"},
		{"replay answers/0@9", run.ExitFailed, "there is no dead letter answers/0@9"},
	} {
		r := run.ToEnd(t, env, "", append([]string{"deadletters"}, strings.Fields(c.args)...)...)
		if r.Status != c.status || !strings.Contains(r.Stderr, c.says) {
			t.Errorf("deadletters %s: status %d, %s", c.args, r.Status, r.Stderr)
		}
	}
}
