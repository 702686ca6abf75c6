package metrics

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

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

// answerRow is an answer and the brand's part of its current reading.
type answerRow struct {
	ID          string  `json:"id"`
	PromptID    string  `json:"prompt_id"`
	PromptText  string  `json:"prompt_text"` // when the answer was given
	Platform    string  `json:"platform"`
	Model       string  `json:"model"`
	ServedModel string  `json:"served_model"`
	Provider    string  `json:"provider"`
	Region      string  `json:"region"`
	Sample      int64   `json:"sample"`
	AnsweredAt  instant `json:"answered_at"`
	Shown       bool    `json:"shown"` // false: the surface had no answer
	Mentioned   bool    `json:"mentioned"`
	Position    *uint32 `json:"position"` // null: not mentioned
	Cited       bool    `json:"cited"`    // one of the brand's pages is
	Sentiment   string  `json:"sentiment"`
	Citations   uint32  `json:"citations_count"` // cited URLs, the brand's or not
	Excerpt     string  `json:"excerpt"`
}

func (a *API) answers(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	filter := clickhouse.AnswerFilter{
		Filter:      p.filter(caller.OrganizationID),
		Sort:        clickhouse.AnswerSort(q.oneOf("sort", string(clickhouse.Newest), string(clickhouse.ByPrompt))),
		Prompts:     q.prompts(),
		Competitors: q.ids("competitor_id", "the id of a competitor, a UUID"),
		Sentiments:  q.words("sentiment", "positive", "neutral", "negative", "unknown"),
		Mentioned:   q.boolean("mentioned"),
		Cited:       q.boolean("cited"),
		Domains:     q.texts("domain", "a domain that GET /api/v1/citations lists"),
		URLs:        q.texts("url", "a URL that GET /api/v1/citations lists"),
		Pages:       q.texts("page", "a page that GET /api/v1/ai-pages lists"),
		Categories:  q.words("category", clickhouse.SourceTypes...),
		Names:       q.texts("name", "a name as an answer writes it"),
		Searches:    q.lines("search", "searches as platforms issued them, one a line"),
	}
	for i, domain := range filter.Domains {
		filter.Domains[i] = strings.ToLower(domain)
	}
	if sample := q.number("sample", 0, 1, math.MaxUint32); sample > 0 {
		filter.Samples = []int64{int64(sample)}
	}
	if choice := q.oneOf("shown", "true", "false", "all"); choice != "all" {
		filter.Shown = []bool{choice == "true"}
	}
	limit := q.number("limit", 50, 1, 200)
	filters := digest("answers", filter.Filter, filter.Sort, filter.Prompts, filter.Samples, filter.Shown,
		filter.Sentiments, filter.Mentioned, filter.Cited, filter.Competitors, filter.Domains, filter.URLs,
		filter.Pages, filter.Categories, filter.Names, filter.Searches)
	if after := readCursor[answerPosition](q, filters); after != nil {
		filter.AnswerCursor = clickhouse.AnswerCursorAt(time.Time(after.AnsweredAt), after.Prompt, after.ID)
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	names, err := a.findNames(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	body := answersBody{Answers: []answerRow{}}
	if len(filter.Competitors) > 0 && !hasCompetitor(names, filter.Competitors[0]) {
		return body, nil // a deleted one is in no list
	}
	filter.Limit = limit + 1 // one more shows whether there is a next page
	matches, err := clickhouse.AnswersFound.All(ctx, a.warehouse, filter)
	if err != nil || len(matches) == 0 {
		return body, err
	}
	body.Total = matches[0].Total
	var page []clickhouse.AnswerMatch
	page, body.NextCursor = firstPage(afterCursor(matches), limit, filters, positionOfAnswer)
	rows, err := clickhouse.ListAnswers(ctx, a.warehouse, filter.OrganizationID, filter.BrandID, page)
	for i := range rows {
		body.Answers = append(body.Answers, newAnswerRow(&rows[i], names))
	}
	return body, err
}

func hasCompetitor(names postgres.Snapshot, id clickhouse.UUID) bool {
	return slices.ContainsFunc(names.Competitors, func(c postgres.Competitor) bool {
		return clickhouse.UUID(c.ID) == id
	})
}

// afterCursor returns the matches after the cursor, which come first.
func afterCursor(matches []clickhouse.AnswerMatch) []clickhouse.AnswerMatch {
	if i := slices.IndexFunc(matches, func(m clickhouse.AnswerMatch) bool { return !m.ComesAfter }); i >= 0 {
		return matches[:i]
	}
	return matches
}

// An answerPosition is the position of an answer in the list.
type answerPosition struct {
	AnsweredAt instant         `json:"answered_at"`
	Prompt     string          `json:"prompt,omitempty"`
	ID         clickhouse.UUID `json:"id"`
}

func positionOfAnswer(m clickhouse.AnswerMatch) answerPosition {
	return answerPosition{instant(m.AnsweredAt), m.Prompt, m.ID}
}

func newAnswerRow(a *clickhouse.ListedAnswer, names postgres.Snapshot) answerRow {
	row := answerRow{
		ID: a.ID.String(), PromptID: a.PromptID.String(), PromptText: a.PromptText,
		Platform: a.Platform, Model: a.Model, ServedModel: a.ServedModel, Provider: a.Provider, Region: a.Region,
		Sample: a.Sample, AnsweredAt: instant(a.AnsweredAt), Shown: a.Answered,
		Mentioned: a.MentionCount > 0, Cited: a.OwnCitations > 0, Sentiment: a.Sentiment, Citations: a.Citations,
	}
	if row.Mentioned {
		row.Position = &a.Position
	}
	brand := brandEntity(names)
	row.Excerpt = excerpt(a.Text, int(a.ExtractVersion), &brand)
	return row
}

// brandEntity returns the brand for a reading.
func brandEntity(names postgres.Snapshot) extract.Entity {
	return extract.Entity{Name: names.Name, Aliases: names.Aliases, Domains: names.Domains}
}

const (
	excerptLength = 240     // code points
	excerptBefore = 80      // the mention, where its sentence is longer than an excerpt
	excerptWithin = 1 << 16 // of a text, as many as listed_answers reads of each: a text may have megabytes
)

// excerpt returns the first sentence that names the brand in the beginning of a text, else the beginning: on one line,
// of at most excerptLength code points, with "…" where a sentence or the text is cut.
func excerpt(text string, version int, brand *extract.Entity) string {
	runes := []rune(text)
	if len(runes) > excerptWithin {
		runes = runes[:excerptWithin]
		text = string(runes)
	}
	from, to, before := 0, len(runes), ""
	if mentions := extract.Locate(version, text, brand, nil); len(mentions) > 0 {
		mention := mentions[0].Start
		from, to = extract.SentenceAt(text, mention)
		if to-from > excerptLength && mention-from > excerptBefore {
			from, before = mention-excerptBefore, "…"
		}
	}
	line := before + strings.Join(strings.Fields(string(runes[from:to])), " ")
	if cut := []rune(line); len(cut) > excerptLength {
		line = strings.TrimSpace(string(cut[:excerptLength-1])) + "…"
	}
	return line
}
