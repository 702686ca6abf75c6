//go:build all

package metrics

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// Extract version 2 also finds ä ö ü ß written as ae oe ue ss. Answers that the release with version 1 read, counted
// and wrote to prompt_results are read again by this release, without an edit: the rows of version 1 stay, corrected,
// and every figure becomes that of version 2.
func TestAnUpgradeFromExtractVersion1CountsUmlautsInKeptAnswers(t *testing.T) {
	t.Parallel()
	upgrade(t, 1, `"totalMentions":1,`, `"totalMentions":4,`)
}

// Version 3 is of builds that know surfaces without an answer: what they read before as version 2 stays as it was.
func TestAnUpgradeFromExtractVersion2KeepsEveryFigure(t *testing.T) {
	t.Parallel()
	upgrade(t, 2, `"totalMentions":4,`, `"totalMentions":4,`)
}

// Version 4 reads as readers do: a soft hyphen within a name is not seen.
func TestAnUpgradeFromExtractVersion3CountsUnseenCharactersInKeptAnswers(t *testing.T) {
	t.Parallel()
	upgrade(t, 3, `"totalMentions":4,`, `"totalMentions":5,`, "Löwen\u00adbräu® ist gut.")
}

// upgrade has answers read by a version, those with more texts among them, and then by this one.
func upgrade(t *testing.T, from int, before, after string, more ...string) {
	t.Helper()
	l := newHarness(t, newService(t).stage(t), rand.New(rand.NewPCG(1, 2)))
	const slug = "loewenbraeu"
	l.owners[slug], l.rivals[slug] = "acme", []string{"Weißbier Müller"}
	l.addBrandAmong(t, brandFact{Name: "Löwenbräu", Slug: slug}, l.rivals[slug])
	l.asked = l.records(t,
		answerFact{Brand: slug, On: "2026-03-02", Prompt: "ist Löwenbräu gut", Text: "Löwenbräu ist gut."},
		answerFact{
			Brand: slug, On: "2026-03-02", Prompt: "ist Loewenbraeu gut",
			Text: "Loewenbraeu und LOEWENBRAEU, dann Weissbier Mueller.",
		},
		answerFact{Brand: slug, On: "2026-03-03", Prompt: "welches Bier", Text: "Weißbier Müller vor Loewenbraeu."},
		answerFact{Brand: slug, On: "2026-03-03", Prompt: "welches Bier", Text: "Wasser."},
		answerFact{Brand: slug, On: "2026-03-03", Prompt: "welches Bier", GivenUp: "timeout"},
		answerFact{Brand: slug, On: "2026-03-03", Prompt: "welches Bier", NotShown: true, Provider: "serpapi"},
	)
	for _, text := range more {
		l.asked = append(l.asked, l.records(t,
			answerFact{Brand: slug, On: "2026-03-04", Prompt: "welches Bier", Text: text})...)
	}
	answers := uint64(len(l.asked))
	l.version = from
	p := l.start(t, 1000, forever, forever)
	l.appendSome(t, len(l.asked))
	wait.For(t, "the earlier version to land and write all", func() bool {
		return l.committedAll(t, "sink") && l.committedAll(t, "results")
	})
	p.stop()
	l.wantCounted(t, slug, before)
	l.wantRead(t, slug, from, answers)

	l.version = extract.Version
	l.awaitIdle(t)
	l.wantCounted(t, slug, after)
	l.wantCounted(t, slug, `"notShown":1,`)
	l.wantRead(t, slug, extract.Version, answers)
	l.brands = []string{slug} // the others have no answers
	l.compareWithFresh(t)
	for _, a := range l.final(t) {
		l.readings[slug] = append(l.readings[slug], readingOf(a))
	}
	l.compare(t)
}

// wantCounted holds what the API says of March to a part of it.
func (l *harness) wantCounted(t *testing.T, slug, part string) {
	t.Helper()
	target := "/api/v1/visibility-summary?date_from=2026-03-01&date_to=2026-03-31&brand_id=" + l.ids[slug]
	if r := l.service.ask(t, http.MethodGet, target, l.bearer(l.owners[slug])); !strings.Contains(r.body, part) {
		t.Errorf("the summary is %s, want %s", r.body, part)
	}
}

// wantRead wants so many current answers of a brand, each with the reading of a version, in both stores.
func (l *harness) wantRead(t *testing.T, slug string, version int, answers uint64) {
	t.Helper()
	var counted, read, written uint64
	err := l.warehouse.QueryRow(t.Context(), "SELECT toUInt64(sum(sign)), toUInt64(sumIf(sign, extract_version = "+
		"?)) FROM answers WHERE toString(brand_id) = ?", version, l.ids[slug]).Scan(&counted, &read)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.db.QueryRow(t.Context(),
		"SELECT count(*) FROM public.prompt_results WHERE brand_id = $1 AND extract_version = $2", l.id(slug),
		version).Scan(&written); err != nil {
		t.Fatal(err)
	}
	if counted != answers || read != answers || written == 0 {
		t.Errorf("%d answers, %d read by version %d, %d written to prompt_results; want %d of each", counted, read,
			version, written, answers)
	}
}
