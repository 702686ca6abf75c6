package metrics

import (
	"context"
	"slices"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// citationsBody answers GET /api/v1/citations.
type citationsBody struct {
	Totals     citationTotals   `json:"totals"`
	Breakdown  []sourceTypeBody `json:"source_type_breakdown"` // all seven, in their order
	TopDomains []citedDomain    `json:"top_domains"`
	TopURLs    []citedURL       `json:"top_urls"`
	Buckets    []citationBucket `json:"buckets"` // empty without granularity
}

type citationTotals struct {
	Domains               uint64   `json:"domains"`
	URLs                  uint64   `json:"urls"`
	Citations             int64    `json:"citations"`
	ResultsWithCitations  int64    `json:"results_with_citations"`
	AvgCitationsPerResult *float64 `json:"avg_citations_per_result"` // over all answers of the window
}

type sourceTypeBody struct {
	Category string   `json:"category"`
	Count    uint64   `json:"count"` // domains
	Pct      *float64 `json:"pct"`

	Citations    int64    `json:"citations"`
	CitationsPct *float64 `json:"citations_pct"`
}

type citedDomain struct {
	Domain         string   `json:"domain"`
	Category       string   `json:"category"`
	TotalCitations int64    `json:"total_citations"`
	ResultsCiting  int64    `json:"results_citing"`
	UsagePct       *float64 `json:"usage_pct"` // over all answers of the window
	Models         []string `json:"models"`
}

type citedURL struct {
	URL            string   `json:"url"`
	Domain         string   `json:"domain"`
	Category       string   `json:"category"`
	Title          string   `json:"title"` // "" where unknown
	TotalCitations int64    `json:"total_citations"`
	ResultsCiting  int64    `json:"results_citing"`
	UsagePct       *float64 `json:"usage_pct"`
}

// citationBucket counts the citations of one source type in a day, week or month; those without any are left out.
type citationBucket struct {
	Date          string   `json:"date"`
	Category      string   `json:"category"`
	Citations     int64    `json:"citations"`
	CitationsPct  *float64 `json:"citations_pct"`  // of the bucket's
	CitingAnswers *int64   `json:"citing_answers"` // null where not all of them are kept
}

func (a *API) citations(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	source := q.oneOf("source_filter", string(clickhouse.AllSources), string(clickhouse.OwnedSources),
		string(clickhouse.CompetitorSources), string(clickhouse.ExternalSources))
	limit, mentioned, prompts := q.number("limit", 50, 1, 200), q.boolean("mentioned"), q.prompts()
	consulted := slices.Contains(q.boolean("cited"), false)
	granularity := q.optionalGranularity()
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter := clickhouse.CitationFilter{
		Filter: p.filter(caller.OrganizationID), Prompts: prompts, Mentioned: mentioned,
		Source: clickhouse.SourceFilter(source), Consulted: consulted,
	}
	var rows []clickhouse.CitationSource
	var buckets []clickhouse.CitationBucket
	queries := []queryFunc{fetch(&rows, clickhouse.CitationSources, clickhouse.CitationSourceFilter{
		Filter: filter.Filter, Mentioned: mentioned, Source: filter.Source, Limit: limit,
	})}
	if consulted || len(prompts) > 0 {
		queries[0] = fetch(&rows, clickhouse.AnswerCitations,
			clickhouse.CitationListFilter{CitationFilter: filter, Limit: limit})
	}
	if granularity != "" {
		queries = append(queries, fetch(&buckets, clickhouse.CitationBuckets, clickhouse.CitationBucketFilter{
			CitationFilter: filter, Granularity: granularity,
		}))
	}
	if err := a.runAll(ctx, queries...); err != nil {
		return nil, err
	}
	body := newCitationsBody(rows)
	for _, b := range buckets {
		body.Buckets = append(body.Buckets, citationBucket{
			dayText(b.Bucket), b.SourceType, b.Citations, b.CitationsPct, b.CitingAnswers,
		})
	}
	return body, nil
}

func newCitationsBody(rows []clickhouse.CitationSource) citationsBody {
	body := citationsBody{
		Breakdown: []sourceTypeBody{}, TopDomains: []citedDomain{}, TopURLs: []citedURL{}, Buckets: []citationBucket{},
	}
	for _, r := range rows {
		switch r.Facet {
		case clickhouse.AllCitations:
			body.Totals = citationTotals{r.Domains, r.URLs, r.Citations, r.CitingAnswers, r.CitationsPerAnswer}
			for i, category := range r.SourceTypes {
				body.Breakdown = append(body.Breakdown, sourceTypeBody{
					category, r.DomainsByType[i], r.PctByType[i], r.CitationsByType[i], r.CitationsPctByType[i],
				})
			}
		case clickhouse.CitationDomain:
			body.TopDomains = append(body.TopDomains, citedDomain{
				r.Domain, r.SourceType, r.Citations, r.CitingAnswers, r.UsagePct, r.Models,
			})
		case clickhouse.CitationURL:
			body.TopURLs = append(body.TopURLs, citedURL{
				r.URL, r.Domain, r.SourceType, r.Title, r.Citations, r.CitingAnswers, r.UsagePct,
			})
		}
	}
	return body
}
