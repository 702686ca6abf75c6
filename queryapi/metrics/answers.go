package metrics

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// answersBody answers GET /api/v1/answers: the answers behind a figure.
type answersBody struct {
	Total      uint64      `json:"total"` // on all pages
	Answers    []answerRow `json:"answers"`
	NextCursor *string     `json:"next_cursor"` // null at the end
}

// answerRow is an answer and what its current reading says of the brand.
type answerRow struct {
	ID          string  `json:"id"`
	PromptID    string  `json:"prompt_id"`
	PromptText  string  `json:"prompt_text"` // as it was asked
	Platform    string  `json:"platform"`
	Model       string  `json:"model"`
	ServedModel string  `json:"served_model"`
	Region      string  `json:"region"`
	Sample      int64   `json:"sample"`
	AnsweredAt  instant `json:"answered_at"`
	Mentioned   bool    `json:"mentioned"`
	Position    *uint32 `json:"position"` // null: not mentioned
	Sentiment   string  `json:"sentiment"`
	Citations   uint32  `json:"citations_count"` // URLs that it cites, whosever
	Excerpt     string  `json:"excerpt"`
}

func (a *API) answers(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	asked := q.common(a.now())
	filter := q.found(asked.filter(caller.OrganizationID))
	limit := q.limit(50, 200)
	filters := digest("answers", filter.Filter, filter.Prompts, filter.Mentioned, filter.Cited, filter.Competitors, filter.Domains, filter.URLs, filter.Pages, filter.Categories)
	q.cursor(filters, answerPosition, func(b []byte) (ok bool) { filter.AnswerCursor, ok = answerAfter(b); return ok })
	if err := q.err(); err != nil {
		return nil, err
	}
	names, err := a.db.Snapshot(ctx, asked.brandID) // one look-up: between two the brand may be deleted
	if errors.Is(err, postgres.ErrNotFound) || err == nil && names.OrganizationID != caller.OrganizationID {
		return nil, errNoBrand
	}
	if err != nil {
		return nil, err
	}
	body := answersBody{Answers: []answerRow{}}
	if len(filter.Competitors) > 0 && !tracked(names, filter.Competitors[0]) {
		return body, nil // one that was deleted is in no list
	}
	filter.Limit = limit + 1 // one more shows whether there is a next page
	found, err := clickhouse.AnswersFound.All(ctx, a.warehouse, filter)
	if err != nil || len(found) == 0 {
		return body, err
	}
	body.Total = found[0].Total
	var page []clickhouse.AnswerMatch
	page, body.NextCursor = firstPage(after(found), limit, filters, positionOfAnswer)
	rows, err := clickhouse.ListAnswers(ctx, a.warehouse, filter.OrganizationID, filter.BrandID, page)
	for i := range rows {
		body.Answers = append(body.Answers, answerRowOf(&rows[i], names))
	}
	return body, err
}

// found reads the parameters that only this list has.
func (q *query) found(common clickhouse.Filter) clickhouse.AnswerFilter {
	filter := clickhouse.AnswerFilter{Filter: common}
	if id := q.id("prompt_id", "the id of a prompt, a UUID"); id != nil {
		filter.Prompts = []clickhouse.UUID{clickhouse.UUID(*id)}
	}
	if id := q.id("competitor_id", "the id of a competitor, a UUID"); id != nil {
		filter.Competitors = []clickhouse.UUID{clickhouse.UUID(*id)}
	}
	filter.Mentioned, filter.Cited = q.yesOrNo("mentioned"), q.yesOrNo("cited")
	if domain, ok := q.text("domain", "a domain that GET /api/v1/citations lists"); ok {
		filter.Domains = []string{strings.ToLower(domain)}
	}
	if url, ok := q.text("url", "a URL that GET /api/v1/citations lists"); ok {
		filter.URLs = []string{url}
	}
	if page, ok := q.text("page", "a page that GET /api/v1/ai-pages lists"); ok {
		filter.Pages = []string{page}
	}
	if category, ok := q.word("category", clickhouse.SourceTypes...); ok {
		filter.Categories = []string{category}
	}
	return filter
}

// yesOrNo is a filter by a property of answers.
func (q *query) yesOrNo(name string) []bool {
	if word, ok := q.word(name, "true", "false"); ok {
		return []bool{word == "true"}
	}
	return nil
}

func tracked(names postgres.Snapshot, competitor clickhouse.UUID) bool {
	return slices.ContainsFunc(names.Competitors, func(c postgres.Competitor) bool { return clickhouse.UUID(c.ID) == competitor })
}

// after are the answers after the cursor: the first ones.
func after(found []clickhouse.AnswerMatch) []clickhouse.AnswerMatch {
	for i, f := range found {
		if !f.ComesAfter {
			return found[:i]
		}
	}
	return found
}

// answerPosition is how many bytes the position of an answer has.
const answerPosition = 8 + 16

func positionOfAnswer(f clickhouse.AnswerMatch) []byte {
	return append(appendInstant(nil, f.AnsweredAt), f.ID[:]...)
}

func answerAfter(b []byte) (clickhouse.AnswerCursor, bool) {
	at, ok := instantAt(b)
	if !ok {
		return clickhouse.AnswerCursor{}, false
	}
	return clickhouse.AnswerCursorAt(at, clickhouse.UUID(b[8:24])), true
}

func answerRowOf(a *clickhouse.ListedAnswer, names postgres.Snapshot) answerRow {
	row := answerRow{
		ID: a.ID.String(), PromptID: a.PromptID.String(), PromptText: a.PromptText, Platform: a.Platform, Model: a.Model,
		ServedModel: a.ServedModel, Region: a.Region, Sample: a.Sample, AnsweredAt: instant(a.AnsweredAt),
		Mentioned: a.MentionCount > 0, Sentiment: a.Sentiment, Citations: a.Citations,
	}
	if row.Mentioned {
		row.Position = &a.Position
	}
	brand := brandOf(names)
	row.Excerpt = excerpt(a.Text, int(a.ExtractVersion), &brand)
	return row
}

// brandOf is the brand as a reading knows it.
func brandOf(names postgres.Snapshot) extract.Entity {
	return extract.Entity{Name: names.Name, Aliases: names.Aliases, Domains: names.Domains}
}

const (
	excerptLength = 240     // code points
	excerptBefore = 80      // the mention, where its sentence is longer than an excerpt
	excerptWithin = 1 << 16 // of a text, as many as listed_answers reads of each: a text may have megabytes
)

// excerpt is the first sentence of the beginning of a text that names the brand, else the beginning: on one line, of at
// most excerptLength code points, with "…" where a sentence or the text is cut.
func excerpt(text string, version int, brand *extract.Entity) string {
	runes := []rune(text)
	if len(runes) > excerptWithin {
		runes = runes[:excerptWithin]
		text = string(runes)
	}
	from, to, before := 0, len(runes), ""
	if mentions := extract.Locate(version, text, brand, nil); len(mentions) > 0 {
		named := mentions[0].Start
		from, to = extract.SentenceAt(text, named)
		if to-from > excerptLength && named-from > excerptBefore {
			from, before = named-excerptBefore, "…"
		}
	}
	shown := before + strings.Join(strings.Fields(string(runes[from:to])), " ")
	if cut := []rune(shown); len(cut) > excerptLength {
		shown = strings.TrimSpace(string(cut[:excerptLength-1])) + "…"
	}
	return shown
}
