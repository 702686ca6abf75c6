package metrics

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/sql/postgres"
)

// store stores suggestions of a brand as a computation would at an instant.
func (s *stage) store(t *testing.T, slug string, at time.Time, found string) {
	t.Helper()
	window := map[string]string{"date_from": "2026-03-01", "date_to": "2026-03-05"}
	err := s.db.StoreAdvice(t.Context(), postgres.Advice{
		DueAdvice: postgres.DueAdvice{BrandID: s.id(slug), Inputs: json.RawMessage(`{}`)}, RulesVersion: 3,
		ComputedAt: at,
		From:       "2026-03-01", To: "2026-03-05", Window: window, Suggestions: json.RawMessage(found),
		Totals:  json.RawMessage(`[{"kind":"gap","of":70,"shown":2,"tried":80,"expected":0.5}]`),
		Reasons: json.RawMessage(`[{"kind":"source","reason":"too_few_citing_prompts","have":3,"need":5}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two gaps with 5 of 6 and 6 of 6 answers, a name and a search. What is added and no longer holds is closed. A row is
// what was stored, with both rates, and its address lists as many answers as it says.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.organization(t, "acme")
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	s.addBrand(t, brandFact{Organization: "rival", Name: "Lumen", Slug: "other"})
	target := "/api/v1/suggestions?brand_id=" + s.ids["lumen"]
	const nothing = `{"computed_at":null,"rules_version":0,"window":null,"reasons":[],"totals":[],"suggestions":[],` +
		`"next_cursor":null}`
	if status, body := s.get(t, "acme", target); status != 200 || body != nothing {
		t.Errorf("before the first computation: %d %s", status, body)
	}
	s.addFacts(t,
		answerFact{On: "2026-03-02", Prompt: "p1", Text: "Glow, Brother's and (Brother)."},
		answerFact{On: "2026-03-02", Prompt: "p1", Text: "Lumen. Brotherhood, brother"},
		answerFact{On: "2026-03-03", Prompt: "p1", Text: "Brother"},
		answerFact{On: "2026-02-28", Prompt: "p1", Text: "Brother"},
	)
	s.know(t, answerFact{Prompt: "p2"}, answerFact{Prompt: "p3"})
	gap := func(prompt string, brand, rival int, open string) string {
		return s.withIDs(fmt.Sprintf(`{"kind":"gap","key":"$%s","text":"=%s","reason":"why","score":%d.5,`+
			`"evidence":{"answers":6,"brand_answers":%d,"rival_answers":%d,"open":%q}}`,
			prompt, prompt, rival-brand, brand, rival, open))
	}
	name := `{"kind":"competitor","key":"brother","text":"Brother","reason":"","score":1,` +
		`"evidence":{"open":"name=Brother","listed_answers":2}}`
	s.store(t, "lumen", today.AddDate(0, 0, -15), "["+gap("p3", 1, 5, "")+"]")
	if _, err := s.db.Exec(t.Context(),
		"UPDATE public.suggestions SET status = 'added' WHERE brand_id = $1", s.id("lumen")); err != nil {
		t.Fatal(err)
	}
	s.store(t, "lumen", today, "["+gap("p2", 1, 5, "")+","+gap("p1", 0, 6, "prompt_id=$p1&mentioned=false")+","+name+
		"]")

	var body Suggestions
	read := func(query string) {
		t.Helper()
		status, text := s.get(t, "acme", target+query)
		body = Suggestions{}
		if err := json.Unmarshal([]byte(text), &body); err != nil || status != 200 {
			t.Fatalf("%s: %d %s, %v", query, status, text, err)
		}
	}
	keys := func() string {
		var all []string
		for _, row := range body.Suggestions {
			all = append(all, row.Status+" "+s.withNames(row.Key))
		}
		return strings.Join(all, ", ")
	}
	read("")
	if keys() != "new brother, new $p1, new $p2" || body.RulesVersion != 3 || body.Window.To != "2026-03-05" ||
		len(body.Reasons) != 1 {
		t.Errorf("%s of %+v", keys(), body)
	}
	wanted := []SuggestionTotal{
		{Total: advice.Total{Kind: "competitor"}, New: 1},
		{Total: advice.Total{Kind: "gap", Found: 70, Stored: 2, Judged: 80, ByChance: 0.5}, New: 2, Closed: 1},
	}
	if fmt.Sprint(body.Totals) != fmt.Sprint(wanted) {
		t.Errorf("totals %+v", body.Totals)
	}
	if b := body.Suggestions[2]; *b.BrandRatePct != 16.7 || *b.RivalRatePct != 83.3 || b.AnswersURL != nil ||
		b.ExpiresAt == nil {
		t.Errorf("rates and addresses %+v", b)
	}
	for _, row := range body.Suggestions[:2] { // both list two answers of the window
		if status, text := s.get(t, "acme", *row.AnswersURL); status != 200 || !strings.HasPrefix(text, `{"total":2,`) {
			t.Errorf("%s: %d %s", *row.AnswersURL, status, text)
		}
	}
	for query, want := range map[string]string{
		"&kind=gap": "new $p1, new $p2", "&status=closed": "closed $p3", "&status=added": "", "&kind=theme": "",
		"&status=new,closed&kind=gap": "new $p1, new $p2, closed $p3",
	} {
		if read(query); keys() != want {
			t.Errorf("%s: %s, want %s", query, keys(), want)
		}
	}
	read("&limit=2")
	if read("&limit=2&cursor=" + *body.NextCursor); keys() != "new $p2" || body.NextCursor != nil {
		t.Errorf("second page %s", keys())
	}
	r := s.ask(t, "GET", target+"&table=suggestions&kind=gap&limit=1", s.bearer("acme"), wantCSV)
	if !strings.Contains(r.body, ",'=p1,why,6.5,new,0,100,") || !strings.Contains(r.Header.Get("Link"), "cursor=") {
		t.Errorf("CSV %q, %v", r.body, r.Header)
	}
	if status, text := s.get(t, "rival", target); status != 404 {
		t.Errorf("another organization: %d %s", status, text)
	}
	if status, text := s.get(t, "acme", target+"&kind=gaps&status=open"); status != 400 ||
		!strings.Contains(text, "closed") {
		t.Errorf("unknown words: %d %s", status, text)
	}
}

// A search is found by any of its wordings, as it was issued.
func TestAnswersOfSearches(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	answers := s.records(t, answerFact{On: "2026-03-02", Text: "a"}, answerFact{On: "2026-03-02", Text: "b"},
		answerFact{On: "2026-03-02", Text: "c"})
	answers[0].SearchQueries, answers[1].SearchQueries = []string{"best lamp", "x"}, []string{"Best lamps"}
	s.append(t, answers)
	for search, want := range map[string]string{
		"best lamp": "1", "best lamp\nBest lamps": "2", "lamp": "0", "x\nbest lamp": "1",
	} {
		query := url.Values{
			"brand_id": {s.ids["lumen"]}, "date_from": {"2026-03-01"}, "date_to": {"2026-03-05"}, "search": {search},
		}
		if _, body := s.get(t, "acme",
			"/api/v1/answers?"+query.Encode()); !strings.HasPrefix(body, `{"total":`+want+",") {
			t.Errorf("%q: %s, want %s", search, body, want)
		}
	}
}

// The address of each computed suggestion lists as many answers as the suggestion says: of a name, answers that it does
// not head too; of a page, one that was read before the site was the brand's. Criticism has quotes instead.
func TestAnswersBehindSuggestions(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"}})
	if err := s.db.AddCompetitor(t.Context(), s.id("lumen"), postgres.NewCompetitor{Name: "Glow"}); err != nil {
		t.Fatal(err)
	}
	s.awaitMirror(t)
	facts := []answerFact{
		{On: "2026-03-02", Prompt: "p1", Text: "A Nova's shade, and Novas"},
		{On: "2026-03-02", Prompt: "p1", Text: "Novas"},
		{On: "2026-03-03", Prompt: "p2", Text: "Lumen lacks a dimmer.", Times: 2},
		{On: "2026-03-03", Prompt: "p3", Text: "Lumen lacks a dimmer."},
		{On: "2026-03-02", Prompt: "p4", Text: "Lumen",
			Cites: []string{"https://lumen.example/guide", "https://www.lumen.example/guide/?x"}, Times: 13},
		{On: "2026-03-02", Prompt: "p5", Text: "Lumen", Cites: []string{"https://lumen.example/shop"}, Times: 12},
	}
	for n := range 6 {
		facts = append(facts, answerFact{
			On: "2026-03-04", Prompt: fmt.Sprint("lost", n), Times: 5,
			Text:  "1. **Nova Pro** is bright\n2. **Nova Max** is dim\n3. Glow",
			Cites: []string{"https://paper.example/best", "https://www.paper.example/"},
		})
	}
	answers := s.records(t, facts...)
	answers[5].Brand.Domains = nil // p4
	for i, search := range []string{"desk light", "desk lights", "Desk light"} {
		answers[i].SearchQueries = []string{search}
	}
	s.append(t, answers)
	s.land(t, s.visitSink(t, 100), s.visits(t, visitFact{On: "2026-03-02", Path: "/shop", Times: 12}))
	for day := 1; day <= 5; day++ {
		s.landCrawls(t, s.crawls(t,
			crawlFact{On: fmt.Sprint("2026-03-0", day), Purpose: "search", Status: 200, Path: "/new", Times: 4}))
	}
	if err := advice.New(s.db, s.warehouse, func() time.Time { return today }, logTo(t)).Advise(t.Context(),
		s.id("lumen")); err != nil {
		t.Fatal(err)
	}
	if _, text := s.get(t, "acme",
		"/api/v1/sentiment?brand_id="+
			s.ids["lumen"]); !strings.Contains(text, `"themes":[{"theme":"dimmer","answers":3}]`) {
		t.Errorf("themes of %s", text)
	}
	_, text := s.get(t, "acme", "/api/v1/suggestions?limit=200&brand_id="+s.ids["lumen"])
	var body Suggestions
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, row := range body.Suggestions {
		var evidence struct {
			Listed int `json:"listed_answers"`
			Quotes []struct {
				AnswerID string `json:"answer_id"`
			}
		}
		if err := json.Unmarshal(row.Evidence, &evidence); err != nil {
			t.Fatal(err)
		}
		got[row.Kind+" "+row.Key] = evidence.Listed
		if row.AnswersURL == nil {
			if evidence.Listed > 0 || row.Kind == "theme" && len(evidence.Quotes) == 0 {
				t.Errorf("%s %s opens nothing: %s", row.Kind, row.Key, row.Evidence)
			}
			continue
		}
		if _, text := s.get(t, "acme", *row.AnswersURL); evidence.Listed == 0 ||
			!strings.HasPrefix(text, fmt.Sprintf(`{"total":%d,`, evidence.Listed)) {
			t.Errorf("%s %s: %s, evidence %s", row.Kind, row.Key, text, row.Evidence)
		}
	}
	want := map[string]int{
		"source paper.example": 30, "competitor nova": 31, "prompt desk light": 3, "theme dimmer": 0,
		"page cited:lumen.example/guide": 13, "page crawled:lumen.example/new": 0,
	}
	for n := range 6 {
		want["gap "+s.ids[fmt.Sprint("lost", n)]] = 5
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
