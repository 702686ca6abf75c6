package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// fanoutBody answers GET /api/v1/fanout: what platforms searched for before they answered.
type fanoutBody struct {
	Totals     fanoutTotals       `json:"totals"`
	Queries    []searchQuery      `json:"queries"` // by answers descending, then by query
	Words      searchWords        `json:"words"`
	ByPlatform []platformSearches `json:"by_platform"`
}

type fanoutTotals struct {
	Answers          int64  `json:"answers"`
	SearchingAnswers int64  `json:"searching_answers"` // that issued a query
	Searches         int64  `json:"searches"`
	Queries          uint64 `json:"queries"` // different ones
}

type searchQuery struct {
	Query          string   `json:"query"`
	Answers        int64    `json:"answers"` // that issued it
	Prompts        uint64   `json:"prompts"` // of these answers
	Platforms      []string `json:"platforms"`
	Covered        bool     `json:"covered"`          // a prompt asks the same
	MentionRatePct *float64 `json:"mention_rate_pct"` // of the answers that issued it
	CitesOwnPct    *float64 `json:"cites_own_pct"`    // likewise
}

// searchWords are the words by which searches differ from the prompt that was asked.
type searchWords struct {
	Added   []searchWord `json:"added"`
	Dropped []searchWord `json:"dropped"`
}

type searchWord struct {
	Word     string   `json:"word"`
	Searches int64    `json:"searches"`
	Pct      *float64 `json:"pct"` // of the searches that differ
}

type platformSearches struct {
	Platform          string   `json:"platform"`
	Answers           int64    `json:"answers"`
	SearchingAnswers  int64    `json:"searching_answers"`
	SearchesPerAnswer *float64 `json:"searches_per_answer"`
}

func (a *API) fanout(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, limit := q.common(a.now()), q.number("limit", 50, 1, 200)
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	var totals []clickhouse.PlatformSearches
	var queries []clickhouse.SearchQuery
	var words []clickhouse.SearchWord
	filter := p.filter(caller.OrganizationID)
	list := clickhouse.ListFilter{Filter: filter, Limit: limit}
	err := a.runAll(ctx, fetch(&totals, clickhouse.FanoutTotals, filter),
		fetch(&queries, clickhouse.FanoutQueries, list), fetch(&words, clickhouse.FanoutWords, list))
	if err != nil {
		return nil, err
	}
	tracked, err := a.db.Prompts(ctx, p.brandID)
	if err != nil {
		return nil, err
	}
	var prompts need.Prompts
	for _, prompt := range tracked {
		prompts.Add(need.Words(prompt.Text))
	}
	body := fanoutBody{
		Queries: make([]searchQuery, len(queries)), ByPlatform: []platformSearches{},
		Words: searchWords{[]searchWord{}, []searchWord{}},
	}
	for _, t := range totals {
		if t.AllPlatforms {
			body.Totals = fanoutTotals{t.Answers, t.SearchingAnswers, t.Searches, t.Queries}
			continue
		}
		body.ByPlatform = append(body.ByPlatform,
			platformSearches{t.Platform, t.Answers, t.SearchingAnswers, t.SearchesPerAnswer})
	}
	for i, s := range queries {
		body.Queries[i] = searchQuery{
			Query: s.Query, Answers: s.Answers, Prompts: s.PromptCount, Platforms: s.Platforms,
			Covered:        prompts.Cover(need.Words(s.Query)),
			MentionRatePct: s.MentionRatePct, CitesOwnPct: s.CitesOwnPct,
		}
	}
	for _, w := range words {
		list := &body.Words.Dropped
		if w.Added {
			list = &body.Words.Added
		}
		*list = append(*list, searchWord{w.Word, w.Searches, w.Pct})
	}
	return body, nil
}
