package metrics

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// compareAnswers reads a list page by page under a random filter: it is what the plainest computation lists. So many
// parameters leave nothing in most cases, so two of three times they are drawn until something is listed.
func (h *history) compareAnswers(t *testing.T, slug string, common naive.Filter, query url.Values,
	rivals []naive.Live) {
	t.Helper()
	f, asked := h.answerFilter(slug, common, query)
	want := naive.Answers(h.readings[slug], f, rivals)
	for mayBeEmpty := h.random.IntN(3) == 0; len(want) == 0 && !mayBeEmpty; mayBeEmpty = h.random.IntN(50) == 0 {
		f, asked = h.answerFilter(slug, common, query)
		want = naive.Answers(h.readings[slug], f, rivals)
	}
	h.compared["/api/v1/answers"] += len(want)
	target := "/api/v1/answers?" + asked.Encode()
	got := h.pages(t, h.owners[slug], target, len(want))
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if listed := "[" + strings.Join(got, ",") + "]"; !slices.Equal(rowsIn(t, listed), rowsIn(t, string(text))) {
		t.Errorf("%s\ngot  %s\nwant %s", target, listed, text)
	}
}

// answerFilter draws the parameters of a list of answers.
func (h *history) answerFilter(slug string, common naive.Filter, query url.Values) (naive.AnswerFilter, url.Values) {
	query = maps.Clone(query)
	if h.random.IntN(3) > 0 { // else few are left
		common = naive.Filter{From: "2026-02-01", To: "2026-04-30"}
		query = url.Values{"brand_id": query["brand_id"], "date_from": {common.From}, "date_to": {common.To}}
	}
	f := naive.AnswerFilter{Filter: common}
	if f.Mentioned = pick(h.random, nil, nil, new(true), new(false)); f.Mentioned != nil {
		query.Set("mentioned", fmt.Sprint(*f.Mentioned))
	}
	if f.Cited = pick(h.random, nil, nil, new(true), new(false)); f.Cited != nil {
		query.Set("cited", fmt.Sprint(*f.Cited))
	}
	if name := pick(h.random, append([]string{"", "", ""}, h.rivals[slug]...)...); name != "" {
		f.Competitor = new(h.id(edit{What: "competitor", Of: slug, Name: name}.calledBy(h.stage)))
		query.Set("competitor_id", f.Competitor.String())
	}
	if prompt := pick(h.random, append([]string{"", "", "", "", ""}, promptTexts...)...); prompt != "" &&
		h.ids[h.named(slug, prompt)] != "" {
		f.Prompt = new(h.id(h.named(slug, prompt)))
		query.Set("prompt_id", f.Prompt.String())
	}
	if f.Sample = pick[int64](h.random, 0, 0, 0, 0, 0, 0, 1, 2, 3); f.Sample > 0 {
		query.Set("sample", fmt.Sprint(f.Sample))
	}
	if f.Sentiment = pick(h.random, "", "", "", "", "positive", "neutral", "unknown"); f.Sentiment != "" {
		query.Set("sentiment", f.Sentiment)
	}
	if f.ByPrompt = h.random.IntN(2) == 0; f.ByPrompt {
		query.Set("sort", "prompt")
	}
	if f.Domain = pick(h.random, nil, nil, new("lumen.example"), new("other.example")); f.Domain != nil {
		query.Set("domain", strings.ToUpper(*f.Domain))
	}
	if f.URL = pick(h.random, nil, nil, nil, new("https://lumen.example/a"),
		new("https://rival0.example")); f.URL != nil {
		query.Set("url", *f.URL)
	}
	if f.Page = pick(h.random, nil, nil, nil, new("lumen.example/a"), new("lumen.example"),
		new("rival0.example/b")); f.Page != nil {
		query.Set("page", *f.Page)
	}
	if f.Category, f.Listed = pick(h.random, nil, nil, nil, new("owned"), new("competitor"), new("editorial")),
		listed; f.Category != nil {
		query.Set("category", *f.Category)
	}
	if f.Shown = pick(h.random, "", "", "true", "false", "all"); f.Shown != "" {
		query.Set("shown", f.Shown)
	}
	query.Set("limit", fmt.Sprint(pick(h.random, 7, 50, 200)))
	return f, query
}

// pages are the rows of all pages of a list, each of which says that there are so many.
func (s *stage) pages(t *testing.T, organization, target string, total int) (rows []string) {
	t.Helper()
	for next := ""; ; {
		status, body := s.get(t, organization, target+next)
		var page struct {
			Total   int
			Answers []json.RawMessage
			Next    *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || page.Total != total {
			t.Fatalf("%s%s: %d, %v, total %d, want %d: %s", target, next, status, err, page.Total, total, body)
		}
		for _, row := range page.Answers {
			rows = append(rows, string(row))
		}
		if page.Next == nil {
			return rows
		}
		next = "&cursor=" + *page.Next
	}
}

var excerpts = regexp.MustCompile(`,"excerpt":"(\\.|[^"\\])*"`)

// rowsIn are rows with their fields in one order, without their excerpts.
func rowsIn(t *testing.T, list string) (rows []string) {
	t.Helper()
	for _, row := range exactly(t, excerpts.ReplaceAllString(list, "")).([]any) {
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(text))
	}
	return rows
}

// An answer has as many mentions of the brand as it is read to have, each of which is one of its names.
func TestAnAnswerShowsItsMentions(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, []string{"Glow"})
	if _, err := s.db.Exec(t.Context(),
		"UPDATE public.brands SET aliases = '{Müller Licht}' WHERE id = $1", s.id("lumen")); err != nil {
		t.Fatal(err)
	}
	text := "😀 Glow, dann [Lumen](https://lumen.example/Lumen) und Mueller  Licht.\n\n```\nLumen\n```\nlumen.example"
	s.addFacts(t, answerFact{On: "2026-03-30", Text: text})
	_, body := s.get(t, "acme", "/api/v1/answers/"+s.answered["lumen"].String())
	var shown struct {
		Text     string
		Mentions []mentionBody
	}
	if err := json.Unmarshal([]byte(body), &shown); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range shown.Mentions {
		named = append(named, m.Role+" "+string([]rune(text)[m.Start:m.End]))
	}
	want := []string{"competitor Glow", "brand Lumen", "brand Mueller  Licht", "brand lumen.example"}
	if !slices.Equal(named, want) || shown.Text != text {
		t.Errorf("%q, want %q in %s", named, want, body)
	}
}

// A text of 4 MB that is all names has 800,000 mentions; a body of all of them would have 100 MB.
func TestTheMentionsOfAnAnswerAreBounded(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addRivals(t, nil)
	const repeated = 4 << 20 / len("Lumen ")
	s.addFacts(t, answerFact{On: "2026-03-30", Text: strings.Repeat("Lumen ", repeated)})
	status, body := s.get(t, "acme", "/api/v1/answers/"+s.answered["lumen"].String())
	var shown struct {
		Text     string
		Mentions []mentionBody
		Omitted  int `json:"mentions_omitted"`
	}
	if err := json.Unmarshal([]byte(body), &shown); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	last := shown.Mentions[len(shown.Mentions)-1]
	if len(shown.Mentions) != 1000 || last.Start != 999*len("Lumen ") ||
		shown.Omitted != repeated-1000 || len(body) > len(shown.Text)+200_000 {
		t.Errorf("%d mentions, the last at %d, %d omitted, in %d bytes",
			len(shown.Mentions), last.Start, shown.Omitted, len(body))
	}
}

// A brand may be deleted while its answers are asked for.
func TestADeletedBrandIsMissing(t *testing.T) {
	t.Parallel()
	s := aBrand(t, newService(t))
	tx, err := s.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	for _, statement := range []string{
		"LOCK TABLE public.competitors", // the look-up of the names waits for it, that of the brand does not
		"DELETE FROM public.brands WHERE id = '" + s.ids["lumen"] + "'",
	} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	replies := make(chan reply, 1)
	go func() {
		replies <- s.ask(t, http.MethodGet, "/api/v1/answers?brand_id="+s.ids["lumen"], s.bearer("acme"))
	}()
	wait.For(t, "the look-up of the names", func() (waiting bool) {
		err := s.db.QueryRow(t.Context(),
			"SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'public.competitors'::regclass").
			Scan(&waiting)
		return err == nil && waiting
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-replies; r.StatusCode != 404 || !strings.Contains(r.body, "no such brand") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// What a client may send for an id that no answer has.
func TestNoIDIsAFault(t *testing.T) {
	t.Parallel()
	s := aBrand(t, newService(t))
	answer := s.answered["lumen"].String()
	for id, want := range map[string]int{
		"x": 400, "%27": 400, "%00": 400, "": 404, uuid.Nil.String(): 404, "ffffffff-ffff-ffff-ffff-ffffffffffff": 404,
		strings.ToUpper(answer): 200, "{" + answer + "}": 400, answer + "?id=" + answer: 400,
		uuid.Must(uuid.NewV4()).String(): 404, event.CrawlID("x", nil, 0, today).String(): 404, answer + "/": 404,
	} {
		if status, body := s.get(t, "acme", "/api/v1/answers/"+id); status != want {
			t.Errorf("%q: %d %s, want %d", id, status, body, want)
		}
	}
}

func TestExcerpts(t *testing.T) {
	long := strings.Repeat("wort ", 60)
	brand := extract.Entity{Name: "Lumen"}
	for text, want := range map[string]string{
		"Nichts.\n\nGar  nichts.":                    "Nichts. Gar nichts.",
		"Erst dies. Dann Lumen! Und mehr von Lumen.": "Dann Lumen!",
		"# Lampen\n- Glow\n- **Lumen**: gut\n- Beam": "- **Lumen**: gut",
		long:                         strings.TrimSpace(long[:239]) + "…",
		"Ü" + long + "Lumen " + long: "…" + long[:80] + "Lumen wort",
		strings.Repeat("Ü. ", excerptWithin/3) + "Lumen Lumen.": strings.Repeat("Ü. ", 79) + "Ü.…",
	} {
		got := excerpt(text, extract.Version, &brand)
		if !strings.HasPrefix(got, want) || len([]rune(got)) > excerptLength {
			t.Errorf("excerpt(%.60q) = %q, want %q", text, got, want)
		}
	}
	if got := excerpt("", extract.Version, &brand); got != "" {
		t.Errorf("of nothing %q", got)
	}
	text, err := clickhouse.Files.ReadFile("query/listed_answers.sql")
	if listed := fmt.Sprintf("substringUTF8(answers.text, 1, %d)", excerptWithin); err != nil ||
		!strings.Contains(string(text), listed) {
		t.Errorf("listed_answers has no %s", listed)
	}
}
