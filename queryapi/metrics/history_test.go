package metrics

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A history is what happens on a stage, and what the naive computation needs to know of it: how each answer that was
// appended is read, and how things are called now.
type history struct {
	*stage
	random *rand.Rand

	owners    map[string]string          // organization of a brand, by slug
	originals []*event.Answer            // as they were first appended
	readings  map[string][]naive.Reading // by the slug of their brand
	place     map[[2]uuid.UUID]int       // of an answer (brand, id) in its brand's readings
	rivals    map[string][]string        // names, as first given, of a brand's competitors
	deleted   map[string]bool            // what the stage calls the things that were deleted, after their kind
	changed   int                        // edits so far
	grouped   int                        // comparisons of groups so far
}

// All brands have competitors, prompts and topics of one name: what mixes them up shows. Few of them make ties and
// halves frequent.
var (
	rivalNames  = []string{"Glow", "Beam", "Dusk", "alpha", "Éclat", "Zeta", "東京"}
	promptTexts = []string{"a", "b", "c", "d", "e", "f", "ist Lumen gut"}
	topicNames  = []string{"price", "use"}
)

func newHistory(t *testing.T, s *stage, random *rand.Rand) *history {
	t.Helper()
	h := &history{
		stage: s, random: random, owners: map[string]string{
			"lumen": "acme", "second": "acme", "lumen-of-rival": "rival",
		},
		readings: map[string][]naive.Reading{}, place: map[[2]uuid.UUID]int{}, rivals: map[string][]string{},
		deleted: map[string]bool{},
	}
	for _, slug := range []string{"lumen", "second", "lumen-of-rival"} {
		h.rivals[slug] = slices.Clone(rivalNames[:2+random.IntN(6)])
		h.addBrandAmong(t,
			brandFact{
				Organization: h.owners[slug], Name: "Lumen", Slug: slug, Domains: []string{"lumen.example"},
			}, h.rivals[slug])
	}
	return h
}

// answers appends some: of several brands, late, in random order, and some twice, in one batch or in another, at times
// with other texts. The first record of an answer counts.
func (h *history) answers(t *testing.T) {
	t.Helper()
	facts := make([]answerFact, 20+h.random.IntN(150))
	for i := range facts {
		facts[i] = randomFact(h.random)
		facts[i].Brand = pick(h.random, "lumen", "lumen", "second", "lumen-of-rival")
		if len(facts[i].Text) > 0 && h.random.IntN(3) == 0 {
			facts[i].Text += ". " + pick(h.random, h.rivals[facts[i].Brand]...) // by the name that it once had
		}
	}
	records := h.records(t, facts...)
	for range h.random.IntN(60) {
		again := *pick(h.random, append(h.originals, records...)...)
		if again.GivenUp == nil && again.Finish != event.FinishNotShown && h.random.IntN(2) == 0 {
			again.Text = "Glow, Beam and Lumen"
		}
		records = append(records, &again)
	}
	h.random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	for len(records) > 0 {
		n := 1 + h.random.IntN(len(records))
		h.append(t, records[:n])
		for _, record := range records[:n] {
			h.read(record)
		}
		records = records[n:]
	}
}

// read keeps the reading of an answer unless it was appended before.
func (h *history) read(record *event.Answer) {
	key := [2]uuid.UUID{record.Brand.ID, record.ID}
	if _, known := h.place[key]; known {
		return
	}
	slug := h.slug(record)
	h.place[key] = len(h.readings[slug])
	h.readings[slug] = append(h.readings[slug], readingOf(record))
	h.originals = append(h.originals, record)
}

func (h *history) slug(record *event.Answer) string {
	for slug := range h.owners {
		if h.id(slug) == record.Brand.ID {
			return slug
		}
	}
	return ""
}

// readingOf is how the plain computation reads a record. Sentiment is a method and no definition: it is extract's.
func readingOf(record *event.Answer) naive.Reading {
	read := extract.Read(record)
	r := naive.Read(*record, string(read.Brand.Sentiment))
	for i, c := range read.Competitors {
		r.Competitors[i].Sentiment = string(c.Sentiment)
	}
	return r
}

// corrections read some of a brand's answers otherwise: other words and citations, judged by the names of now or of
// then.
func (h *history) corrections(t *testing.T) {
	t.Helper()
	slug := pick(h.random, "lumen", "second", "lumen-of-rival")
	present := h.snapshot(t, slug)
	var corrected []*event.Answer
	for i, r := range h.readings[slug] {
		if r.Answer.GivenUp != nil || h.random.IntN(3) > 0 {
			continue // a run ends once
		}
		f := randomFact(h.random)
		record := r.Answer
		record.Citations = nil
		f.NotShown = record.Finish == event.FinishNotShown // as it was recorded
		f.GivenUp, f.Searches = "", record.SearchQueries   // which are of the record
		f.outcome(&record)
		if h.random.IntN(2) == 0 {
			record.Brand = event.Brand{
				Entity: event.Entity{
					ID: present.BrandID, Name: present.Name, Aliases: present.Aliases, Domains: present.Domains,
				}, Revision: present.Revision,
			}
			record.Competitors = nil
			for _, c := range present.Competitors {
				record.Competitors = append(record.Competitors, event.Entity(c))
			}
		}
		corrected = append(corrected, &record)
		h.readings[slug][i] = readingOf(&record)
	}
	if len(corrected) > 0 {
		h.reread(t, slug, corrected)
	}
}

// edits let people add, rename, move and delete.
func (h *history) edits(t *testing.T) {
	t.Helper()
	for _, slug := range h.brands {
		for range 2 + h.random.IntN(6) {
			what := pick(h.random, "competitor", "competitor", "prompt", "topic", "brand")
			live := h.live(what, slug)
			if len(live) == 0 {
				continue
			}
			h.changed++
			e := edit{Do: "rename", What: what, Of: slug, Name: pick(h.random, live...)}
			e.To = fmt.Sprintf("%s %d", pick(h.random, "Лампа", "ランプ", "Nova", "Éclat", `'\"<b>`), h.changed)
			switch do := pick(h.random, "rename", "rename", "add", "delete", "delete", "move"); {
			case do == "add" && what == "competitor":
				e.Do, e.Name, e.To = do, e.To, ""
				h.rivals[slug] = append(h.rivals[slug], e.Name)
			case do == "delete" && what != "brand":
				e.Do = do
				h.deleted[what+e.calledBy(h.stage)] = true
			case do == "move" && what == "prompt":
				e.Do, e.To = do, pick(h.random, append(h.live("topic", slug), "")...)
			}
			h.edit(t, e)
		}
	}
	h.awaitMirror(t)
}

// live are the things of a brand that are there, as the stage calls them.
func (h *history) live(what, slug string) []string {
	there := map[string][]string{
		"competitor": h.rivals[slug], "prompt": promptTexts, "topic": topicNames, "brand": {slug},
	}[what]
	return slices.DeleteFunc(slices.Clone(there), func(name string) bool {
		called := edit{What: what, Of: slug, Name: name}.calledBy(h.stage)
		return h.ids[called] == "" || h.deleted[what+called]
	})
}

// compare asks about every brand under a random filter.
func (h *history) compare(t *testing.T) {
	t.Helper()
	h.compareOverview(t)
	for _, slug := range h.brands {
		now := h.snapshot(t, slug)
		brand := naive.Live{ID: now.BrandID, Name: now.Name}
		slots, err := h.db.CompetitorSlots(t.Context(), now.OrganizationID, now.BrandID)
		if err != nil {
			t.Fatal(err)
		}
		var rivals []naive.Live
		for _, c := range now.Competitors {
			rivals = append(rivals, naive.Live{ID: c.ID, Name: c.Name, Slot: slots[c.ID]})
		}
		filter, query := h.filter(slug)
		query.Set("brand_id", h.ids[slug])
		granularity := pick(h.random, "day", "week", "month")
		order := naive.PromptOrder{SortBy: pick(h.random, "visibility", "mentions", "citations", "appearances", "rate",
			"change"), Order: pick(h.random, "asc", "desc"), Limit: pick(h.random, 1, 2, 4, 10, 100),
			Compared: h.random.IntN(2) == 0, Metric: pick(h.random, "score", "mention_rate")}
		by := pick(h.random, "platform", "model", "region")
		one, queryOfOne := filter, maps.Clone(query)
		if prompts := h.live("prompt", slug); len(prompts) > 0 && h.random.IntN(2) == 0 {
			one.Prompt = new(h.id(h.named(slug, pick(h.random, prompts...))))
			queryOfOne.Set("prompt_id", one.Prompt.String())
		}
		for endpoint, want := range map[string]any{
			"visibility-summary?": naive.WithChange(naive.Summary(h.readings[slug], filter, brand, rivals),
				h.readings[slug], filter, brand),
			"filters?": naive.Filters(h.readings[slug], filter, h.topics),
			fmt.Sprintf("prompt-performance?sort_by=%s&order=%s&limit=%d&compare=%s&metric=%s&", order.SortBy,
				order.Order, order.Limit, map[bool]string{true: "previous", false: "none"}[order.Compared],
				order.Metric): naive.Prompts(h.readings[slug], filter, brand, rivals, h.known(), order),
			fmt.Sprintf("prompt-matrix?by=%s&limit=%d&", by, order.Limit): naive.Matrix(h.readings[slug], filter, brand,
				by, order.Limit, h.known()),
		} {
			h.wantBodyOf(t, h.owners[slug], "/api/v1/"+endpoint+query.Encode(), want)
		}
		for endpoint, want := range map[string]any{
			"visibility-trend?granularity=" + granularity +
				"&": naive.WithChange(naive.Trend(h.readings[slug], one, granularity, rivals),
				h.readings[slug], one, brand),
			"entity-trend?granularity=" + granularity +
				"&": naive.EntityTrend(h.readings[slug], one, granularity, brand, rivals),
			"competitor-comparison?": naive.Comparison(h.readings[slug], one, brand, rivals),
			"sentiment?":             withMethod(naive.Labels(h.readings[slug], one, rivals)),
		} {
			h.wantBodyOf(t, h.owners[slug], "/api/v1/"+endpoint+queryOfOne.Encode(), want)
		}
		h.wantBodyOf(t, h.owners[slug], fmt.Sprintf("/api/v1/fanout?limit=%d&%s", order.Limit, query.Encode()),
			naive.Fanout(h.readings[slug], filter, order.Limit, h.covers(t, slug)))
		for range 2 {
			h.compareAnswers(t, slug, filter, query, rivals)
		}
		h.compareChanges(t, slug, filter, query, brand, rivals)
		h.compareGroups(t, slug, brand, rivals)
	}
}

// filter draws a random filter, three times of four until ten answers of a brand pass it: with few a body says little.
func (h *history) filter(slug string) (f naive.Filter, query url.Values) {
	least := pick(h.random, 0, 10, 10, 10)
	for range 100 {
		f, query = h.randomFilter(h.random, slug)
		if len(naive.Answers(h.readings[slug], naive.AnswerFilter{Filter: f}, nil)) >= least {
			break
		}
	}
	return f, query
}

func withMethod(b naive.Body) naive.Body {
	b["method"], b["themes"] = extract.SentimentMethod, []naive.Body{}
	return b
}

// covers says whether a prompt that is tracked now asks for what a search asks for: package need has the rule.
func (h *history) covers(t *testing.T, slug string) func(string) bool {
	t.Helper()
	tracked, err := h.db.Prompts(t.Context(), h.id(slug))
	if err != nil {
		t.Fatal(err)
	}
	return func(query string) bool {
		words := need.Words(query)
		return slices.ContainsFunc(tracked, func(p postgres.TrackedPrompt) bool {
			tracked := need.Words(p.Text)
			return need.Alike(words, tracked) || need.InBoth(words, tracked) == len(words)
		})
	}
}

// compareOverview asks for the list of acme's brands under a random filter.
func (h *history) compareOverview(t *testing.T) {
	t.Helper()
	filter, query := h.filter("lumen")
	filter.Topic = nil // topics are a brand's
	query.Del("topic_id")
	f := naive.ChangeFilter{Filter: filter, Metric: pick(h.random, "score", "mention_rate", "citation_rate")}
	query.Set("metric", f.Metric)
	var brands []naive.Tracked
	for slug, owner := range h.owners {
		if owner != "acme" {
			continue
		}
		now := h.snapshot(t, slug)
		b := naive.Tracked{
			Live: naive.Live{ID: now.BrandID, Name: now.Name}, Slug: now.Slug, Readings: h.readings[slug],
		}
		for _, c := range now.Competitors {
			b.Competitors = append(b.Competitors, naive.Live{ID: c.ID, Name: c.Name})
		}
		brands = append(brands, b)
	}
	h.wantBodyOf(t, "acme", "/api/v1/brands-overview?"+query.Encode(), naive.Overview(brands, f, dayText(today)[:7]))
}

// compareChanges asks for verdicts with random parameters of their own.
func (h *history) compareChanges(t *testing.T, slug string, filter naive.Filter, query url.Values, brand naive.Live,
	rivals []naive.Live) {
	t.Helper()
	f := naive.ChangeFilter{
		Filter: filter, Metric: pick(h.random, "score", "mention_rate", "citation_rate"),
		CompareDays: pick(h.random, 7, 14, 28),
		GroupBy: pick(h.random, nil, []string{"topic"}, []string{"platform", "prompt"},
			[]string{"competitor", "platform", "prompt", "topic"}),
	}
	want := naive.Changes(h.readings[slug], f, brand, rivals, naive.ChangeNames{Prompts: h.known(), Topics: h.topics})
	guarantee := "per_look"
	if f.To == dayText(today) || f.To == dayText(today.AddDate(0, 0, -1)) {
		guarantee = "daily_looks"
	}
	want["false_alarms"] = naive.Body{"guarantee": guarantee, "brand": nil, "prompts": nil}
	own := url.Values{"metric": {f.Metric}, "compare_days": {fmt.Sprint(f.CompareDays)}}
	if f.GroupBy != nil {
		own.Set("group_by", strings.Join(f.GroupBy, ","))
	}
	h.wantBodyOf(t, h.owners[slug], "/api/v1/visibility-changes?"+query.Encode()+"&"+own.Encode(), want)
}

// known is how all prompts are called, those that were deleted too.
func (h *history) known() map[uuid.UUID]naive.Prompt {
	known := map[uuid.UUID]naive.Prompt{}
	for _, p := range h.prompts {
		known[p.ID] = naive.Prompt{Text: p.Text}
		if p.TopicID == nil {
			continue
		}
		if name, live := h.topics[*p.TopicID]; live {
			known[p.ID] = naive.Prompt{Text: p.Text, Topic: &name, TopicID: p.TopicID}
		}
	}
	return known
}
