package clickhouse

import (
	"cmp"
	"maps"
	"slices"

	"github.com/answerscope/answerscope/sql/clickhouse/formula"
)

// SourceMatrix returns, for each of at most Limit domains, the brand's row, then a row for each live competitor.
var SourceMatrix = EntityFigures[ListFilter, citedSums, CitedEntity]{
	sumsOf[ListFilter, citedSums]("source_matrix"), citedRows,
}

// CitedEntity is the brand or a live competitor in the answers that cite a domain. The brand's row has no name, and its
// gap is 0. Ends of intervals are nil under 5 prompts.
type CitedEntity struct {
	Domain          string   `ch:"domain"`
	SourceType      string   `ch:"source_type"`
	Answers         int64    `ch:"answers"` // all of the window
	CitingAnswers   int64    `ch:"citing_answers"`
	UsagePct        *float64 `ch:"usage_pct"`    // citing answers, of Answers
	PromptCount     uint64   `ch:"prompt_count"` // of the citing answers, as all that follows
	ID              UUID     `ch:"entity_id"`
	IsBrand         bool     `ch:"is_brand"`
	Name            string   `ch:"name"`
	MentionAnswers  int64    `ch:"mention_answers"`
	MentionRatePct  *float64 `ch:"mention_rate_pct"`
	MentionRateLow  *float64 `ch:"mention_rate_low"`
	MentionRateHigh *float64 `ch:"mention_rate_high"`
	RateGap
}

// citedSums has the sums of an entity over the answers that cite a domain. Only the brand's row counts all.
type citedSums struct {
	Domain        string `ch:"domain"`
	NthType       uint64 `ch:"nth_type"` // of SourceTypes, from 1
	Answers       int64  `ch:"answers"`
	ID            UUID   `ch:"entity_id"`
	PromptCount   uint64 `ch:"prompt_count"`
	CitingAnswers int64  `ch:"citing_answers"`
	NN            int64  `ch:"nn"`
	MB            int64  `ch:"mb"` // with the brand's mentioning answers
	pointSums
}

// citedRows computes the figures of each domain; an entity without a row has zeros. Domains are sorted by citing
// answers, competitors by the answers that name them.
func citedRows(filter ListFilter, sums []citedSums, entities []entity) (rows []CitedEntity) {
	domains := byEntity(sums, func(s citedSums) (string, UUID) { return s.Domain, s.ID })
	named := map[UUID]int64{}
	for _, s := range sums {
		named[s.ID] += s.MentionAnswers
	}
	slices.SortStableFunc(entities[1:], func(a, b entity) int { return cmp.Compare(named[b.ID], named[a.ID]) })
	names := slices.SortedFunc(maps.Keys(domains), func(a, b string) int {
		citing := func(domain string) int64 { return domains[domain][filter.BrandID].CitingAnswers }
		return cmp.Or(cmp.Compare(citing(b), citing(a)), cmp.Compare(a, b))
	})
	for _, name := range names {
		brand := domains[name][filter.BrandID]
		for _, entity := range entities {
			row := newCitedEntity(brand, domains[name][entity.ID])
			row.ID, row.IsBrand, row.Name = entity.ID, entity.ID == filter.BrandID, entity.Name
			rows = append(rows, row)
		}
	}
	return rows
}

func newCitedEntity(brand, s citedSums) CitedEntity {
	mean := formula.Mean{Prompts: brand.PromptCount, Answers: brand.CitingAnswers, NN: float64(brand.NN)}
	rate := s.mentionRate(mean)
	row := CitedEntity{
		Domain: brand.Domain, SourceType: SourceTypes[brand.NthType-1], Answers: brand.Answers,
		CitingAnswers: brand.CitingAnswers, PromptCount: brand.PromptCount, MentionAnswers: s.MentionAnswers,
		UsagePct:       formula.Round(formula.Percent(brand.CitingAnswers, brand.Answers), 1),
		MentionRatePct: formula.Round(rate.Value(), 1), RateGap: brand.gap(s.pointSums, s.MB, mean),
	}
	row.MentionRateLow, row.MentionRateHigh = rate.Interval()
	return row
}
