package naive_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Real answers, imported for each brand: the figures of the API equal the naive ones field by field, and the file
// imported again changes no byte.
func TestRealAnswersGiveTheNaiveFigures(t *testing.T) {
	brandsFile, file := open(t, "brands.json"), open(t, "run-1.ndjson")
	if brandsFile == nil || file == nil {
		return
	}
	specs, err := imports.ReadBrands(brandsFile)
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t)
	var brands []uuid.UUID
	for _, spec := range specs {
		brand, _, err := s.db.AddBrand(t.Context(), s.organization, spec)
		s.must(err)
		brands = append(brands, brand.ID)
	}
	summary, err := s.importer.Import(t.Context(), file, brands, nil)
	s.must(err)
	if want := 264 * len(brands); summary.Imported != want || summary.Skipped != 0 || summary.Refused != 0 {
		t.Errorf("imported %+v, want %d", summary, want)
	}
	s.waitFor("SELECT count() FROM answers", uint64(summary.Imported))

	before := map[string]string{}
	for _, brand := range brands {
		snapshot, err := answer.ReadSnapshot(t.Context(), s.db, brand)
		s.must(err)
		answers := answersOf(t, open(t, "run-1.ndjson"), snapshot.Brand, snapshot.Competitors)
		s.asStored(answers)
		s.compare(snapshot, answers, "2025-05-01", "2025-06-15")
		for _, path := range []string{
			"visibility-summary?", "visibility-trend?", "visibility-trend?granularity=week&",
		} {
			path = "/api/v1/" + path + queryOf(brand, naive.Filter{From: "2025-05-01", To: "2025-06-15"})
			before[path] = string(s.get(path))
		}
	}

	again, err := s.importer.Import(t.Context(), open(t, "run-1.ndjson"), brands, nil)
	s.must(err)
	if again.Imported != 0 || again.Skipped != summary.Imported {
		t.Errorf("imported again: %+v", again)
	}
	for path, body := range before {
		if after := string(s.get(path)); after != body {
			t.Errorf("importing the file again changed %s\nfrom %s\nto   %s", path, body, after)
		}
	}
}

// asStored gives answers the ids and topics that the import gave them.
func (s *stack) asStored(answers []event.Answer) {
	s.t.Helper()
	wanted := make([]postgres.NewPrompt, len(answers))
	for i, a := range answers {
		wanted[i].Text = a.Prompt.Text
	}
	prompts, err := s.db.EnsurePrompts(s.t.Context(), answers[0].Brand.ID, wanted)
	s.must(err)
	topics := map[uuid.UUID]uuid.UUID{} // generated → stored
	for i := range answers {
		a := &answers[i]
		if stored, known := topics[*a.Prompt.TopicID]; known && stored != *prompts[i].TopicID {
			s.t.Errorf("prompt %q has another topic than others of its topic", a.Prompt.Text)
		}
		topics[*a.Prompt.TopicID] = *prompts[i].TopicID
		a.Prompt = answer.Prompt(prompts[i])
		a.ID = event.RunID(event.Identity{
			BrandID: a.Brand.ID, PromptText: a.Prompt.Text, Platform: a.Platform, Model: a.Model,
			Region: a.Region, Sample: 1, Due: a.AnsweredAt.Time,
		})
	}
}

// A history with everything in it: languages, days, given-up runs, renewed models, shopping answers, prompts set to
// branded or not.
func TestSimulatedHistoryGivesTheNaiveFigures(t *testing.T) {
	s := newStack(t)
	spec := demo.Brand()
	brand, _, err := s.db.AddBrand(t.Context(), s.organization, spec)
	s.must(err)
	snapshot, err := answer.ReadSnapshot(t.Context(), s.db, brand.ID)
	s.must(err)
	var wanted []postgres.NewPrompt
	for _, p := range demo.Prompts() {
		wanted = append(wanted, postgres.NewPrompt{Text: p.Text, Topic: p.Topic})
	}
	prompts, err := s.db.EnsurePrompts(t.Context(), brand.ID, wanted)
	s.must(err)
	until := time.Now().UTC().Truncate(24 * time.Hour)
	history := demo.History{Snapshot: snapshot, Models: simulator.Models, From: until.AddDate(0, 0, -14), Until: until}
	for i, p := range demo.Prompts()[:24] {
		prompt := p.Tracked(answer.Prompt(prompts[i]))
		if set := i%2 == 0; i%5 == 0 {
			prompt.Prompt.IsBranded = &set
		}
		history.Prompts = append(history.Prompts, prompt)
	}
	var answers []event.Answer
	for _, slug := range []string{platform.Simulator, platform.SimulatorOverview, platform.SimulatorShopping} {
		simulated, err := simulator.New(simulator.Config{
			Seed: 11, Slug: slug, Cast: simulator.Cast{
				Brand: snapshot.Brand.Entity, Competitors: snapshot.Competitors,
			}, Changes: demo.Changes(until),
		})
		s.must(err)
		for a := range history.Answers(simulated) {
			answers = append(answers, a)
		}
		history.Prompts = history.Prompts[:6]
	}
	summary, err := s.importer.Append(t.Context(), slices.Values(answers))
	s.must(err)
	if summary.Imported != len(answers) {
		t.Errorf("%+v, want %d imported", summary, len(answers))
	}
	s.waitFor("SELECT count() FROM answers", uint64(len(answers)))
	s.compare(snapshot, answers, until.AddDate(0, 0, -20).Format(time.DateOnly), until.Format(time.DateOnly))
}

// compare asks the API about a brand under every filter, and compares each body with the naive one.
func (s *stack) compare(snapshot answer.Snapshot, answers []event.Answer, from, to string) {
	s.t.Helper()
	who := naive.Live{ID: snapshot.Brand.ID, Name: snapshot.Brand.Name}
	slots, err := s.db.CompetitorSlots(s.t.Context(), snapshot.OrganizationID, who.ID)
	s.must(err)
	var live []naive.Live
	for _, c := range snapshot.Competitors {
		live = append(live, naive.Live{ID: c.ID, Name: c.Name, Slot: slots[c.ID]})
	}
	sentiments := s.sentiments(who.ID)
	var readings []naive.Reading
	for _, a := range answers {
		sentiment, inserted := sentiments[a.ID]
		if !inserted {
			s.t.Fatalf("answer %s of %s is not in the warehouse", a.ID, a.AnsweredAt)
		}
		readings = append(readings, naive.Read(a, sentiment))
	}
	prompts := s.prompts(who.ID)
	figures := map[string]int{} // that were compared and are not 0
	for _, f := range filters(answers, from, to) {
		query := queryOf(who.ID, f)
		for path, want := range map[string]any{
			"/api/v1/visibility-summary?" + query: naive.WithChange(naive.Summary(readings, f, who, live), readings, f,
				who),
			"/api/v1/visibility-trend?" + query: naive.WithChange(naive.Trend(readings, f, "day", live), readings, f,
				who),
			"/api/v1/visibility-trend?granularity=week&" +
				query: naive.WithChange(naive.Trend(readings, f, "week", live), readings, f, who),
			"/api/v1/entity-trend?granularity=month&" + query: naive.EntityTrend(readings, f, "month", who, live),
			"/api/v1/competitor-comparison?" + query:          naive.Comparison(readings, f, who, live),
			"/api/v1/prompt-performance?limit=100&" +
				query: naive.Prompts(readings, f, who, live, prompts,
				naive.PromptOrder{SortBy: "visibility", Order: "desc", Limit: 100}),
		} {
			written, err := json.Marshal(want)
			s.must(err)
			for _, difference := range differences("", s.generic(naive.WithoutCursor(s.get(path))),
				s.generic(written)) {
				s.t.Errorf("%s %s: %s", snapshot.Brand.Name, path, difference)
			}
			path, _, _ = strings.Cut(path, "brand_id=")
			figures[path] += figuresIn(s.generic(written))
		}
	}
	for path, count := range figures {
		if count == 0 {
			s.t.Errorf("%s %s: no body that was compared has a figure", snapshot.Brand.Name, path)
		}
	}
}

// figuresIn counts the numbers of a body that are not 0.
func figuresIn(body any) (count int) {
	switch value := body.(type) {
	case map[string]any:
		for _, member := range value {
			count += figuresIn(member)
		}
	case []any:
		for _, member := range value {
			count += figuresIn(member)
		}
	case float64:
		if value != 0 {
			count++
		}
	}
	return count
}

// prompts is how a brand's prompts are called, once the warehouse knows it too.
func (s *stack) prompts(brand uuid.UUID) map[uuid.UUID]naive.Prompt {
	s.t.Helper()
	s.waitForMirror()
	rows, err := s.db.Query(s.t.Context(), "SELECT p.id, p.text, t.name FROM public.prompts AS p LEFT JOIN "+
		"public.topics AS t ON t.id = p.topic_id WHERE p.brand_id = $1", brand)
	s.must(err)
	defer rows.Close()
	prompts := map[uuid.UUID]naive.Prompt{}
	for rows.Next() {
		var id uuid.UUID
		var p naive.Prompt
		s.must(rows.Scan(&id, &p.Text, &p.Topic))
		prompts[id] = p
	}
	s.must(rows.Err())
	return prompts
}

// filters are the window as a whole and in parts, by each common parameter and some together.
func filters(answers []event.Answer, from, to string) []naive.Filter {
	models, regions, topics, days := map[string]bool{}, map[string]bool{"nowhere": true}, map[uuid.UUID]bool{{1}: true},
		map[string]bool{}
	for _, a := range answers {
		models[a.Model], regions[a.Region], days[a.AnsweredAt.UTC().Format(time.DateOnly)] = true, true, true
		if a.Prompt.TopicID != nil {
			topics[*a.Prompt.TopicID] = true
		}
	}
	yes, no := true, false
	all := naive.Filter{From: from, To: to}
	list := []naive.Filter{all}
	with := func(change func(*naive.Filter)) {
		f := all
		change(&f)
		list = append(list, f)
	}
	slugs := slices.Sorted(maps.Keys(models))
	for _, model := range slugs {
		with(func(f *naive.Filter) { f.Models = []string{model} })
	}
	with(func(f *naive.Filter) { f.Models = slugs[:min(2, len(slugs))] })
	with(func(f *naive.Filter) { f.Models = []string{"none-such"} })
	for _, region := range some(slices.Sorted(maps.Keys(regions))) {
		with(func(f *naive.Filter) { f.Region = &region })
	}
	for _, topic := range some(slices.SortedFunc(maps.Keys(topics), func(a, b uuid.UUID) int {
		return strings.Compare(a.String(), b.String())
	})) {
		with(func(f *naive.Filter) { f.Topic = &topic })
		with(func(f *naive.Filter) { f.Topic, f.Models, f.Branded = &topic, slugs[:1], &no })
	}
	with(func(f *naive.Filter) { f.Branded = &yes })
	with(func(f *naive.Filter) { f.Branded = &no })
	for _, day := range some(slices.Sorted(maps.Keys(days))) {
		with(func(f *naive.Filter) { f.From, f.To = day, day })
		with(func(f *naive.Filter) { f.From = day })
		with(func(f *naive.Filter) { f.To, f.Models = day, slugs[len(slugs)-1:] })
	}
	with(func(f *naive.Filter) { f.From, f.To = "2024-01-01", "2024-12-31" })
	return list
}

// some are the first, the middle and the last of what there is.
func some[T comparable](all []T) []T {
	return slices.Compact([]T{all[0], all[len(all)/2], all[len(all)-1]})
}

func queryOf(brand uuid.UUID, f naive.Filter) string {
	q := url.Values{"brand_id": {brand.String()}, "date_from": {f.From}, "date_to": {f.To}}
	if len(f.Models) > 0 {
		q.Set("model", strings.Join(f.Models, ","))
	}
	if f.Region != nil {
		q.Set("region", *f.Region)
	}
	if f.Topic != nil {
		q.Set("topic_id", f.Topic.String())
	}
	if f.Branded != nil {
		q.Set("branded", strconv.FormatBool(*f.Branded))
	}
	return q.Encode()
}

// generic is a body as a reader of JSON sees it.
func (s *stack) generic(body []byte) any {
	s.t.Helper()
	var read any
	s.must(json.Unmarshal(body, &read))
	return read
}

// differences names each field that is not the same.
func differences(at string, got, want any) []string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			break
		}
		var all []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			all = append(all, differences(at+"."+key, got[key], want[key])...)
		}
		return all
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			break
		}
		var all []string
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), got[i], want[i])...)
		}
		return all
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
}
