package clickhouse

import (
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/formula"
)

// BrandsFilter is a Filter of several brands.
type BrandsFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	Brands         []UUID   `ch:"brands"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
	Models         []string `ch:"models"` // requested models
	Regions        []string `ch:"regions"`
	Topics         []UUID   `ch:"topics"`
	Branded        []bool   `ch:"branded"`
}

// ForBrands returns the filter for some brands in place of its own.
func (f Filter) ForBrands(brands ...UUID) BrandsFilter {
	return BrandsFilter{
		f.OrganizationID, brands, f.DateFrom, f.DateTo, f.Platforms, f.Models, f.Regions, f.Topics, f.Branded,
	}
}

// BrandsVisitFilter selects visits of brands in a window, and before it from BeforeFrom on.
type BrandsVisitFilter struct {
	OrganizationID UUID     `ch:"organization_id"`
	Brands         []UUID   `ch:"brands"`
	BeforeFrom     Day      `ch:"before_from"`
	DateFrom       Day      `ch:"date_from"`
	DateTo         Day      `ch:"date_to"`
	Platforms      []string `ch:"platforms"`
}

// Brands selects rows of brands from day DateFrom on.
type Brands struct {
	OrganizationID UUID   `ch:"organization_id"`
	Brands         []UUID `ch:"brands"`
	DateFrom       Day    `ch:"date_from"`
}

// The questions of a list of brands. Brands without data have no rows.
var (
	BrandsStanding = Figures[BrandsFilter, standingSums, BrandStanding]{
		sumsOf[BrandsFilter, standingSums]("brands_standing"), standingRows,
	}
	BrandsTrend = Figures[BrandsFilter, brandDaySums, BrandDay]{ // ascending days of each brand
		sumsOf[BrandsFilter, brandDaySums]("brands_trend"), brandDayRows,
	}
	BrandsVisits = rollup[BrandsVisitFilter, BrandVisits]("brands_visits")
	LastAnswers  = rollup[Brands, LastAnswer]("last_answers")
)

// BrandStanding is the mention rate of a brand beside the competitor that its answers name most often. Intervals are
// nil under 5 prompts.
type BrandStanding struct {
	BrandID        UUID     `ch:"brand_id"`
	Answers        int64    `ch:"answers"`
	MentionAnswers int64    `ch:"mention_answers"`
	Rate           *float64 `ch:"mention_rate_pct"`
	RateLow        *float64 `ch:"mention_rate_low"`
	RateHigh       *float64 `ch:"mention_rate_high"`
	LeaderID       UUID     `ch:"leader_id"` // nil: no competitor is named, then the rest is meaningless
	LeaderName     string   `ch:"leader_name"`
	LeaderRate     *float64 `ch:"leader_rate_pct"`
	RateGap                 // to the leader
}

// BrandDay is the mention rate of a brand on a day.
type BrandDay struct {
	BrandID  UUID      `ch:"brand_id"`
	Day      time.Time `ch:"day"`
	Answers  int64     `ch:"answers"`
	Rate     *float64  `ch:"mention_rate_pct"`
	RateLow  *float64  `ch:"mention_rate_low"`
	RateHigh *float64  `ch:"mention_rate_high"`
}

// standingSums has the sums of a brand, or of a live competitor over the brand's answers. Only the brand's row has
// the sums over all answers.
type standingSums struct {
	BrandID     UUID   `ch:"brand_id"`
	ID          UUID   `ch:"entity_id"`
	Name        string `ch:"name"` // of a competitor
	PromptCount uint64 `ch:"prompt_count"`
	Answers     int64  `ch:"answers"`
	NN          int64  `ch:"nn"`
	MB          int64  `ch:"mb"` // as that of entitySums
	pointSums
}

// standingRows computes the figures of each brand with answers; sums of a brand stand together.
func standingRows(_ BrandsFilter, sums []standingSums) (rows []BrandStanding) {
	for start, end := 0, 0; start < len(sums); start = end {
		var brand, leader standingSums
		for ; end < len(sums) && sums[end].BrandID == sums[start].BrandID; end++ {
			switch s := sums[end]; {
			case s.ID == s.BrandID:
				brand = s
			case s.MentionAnswers > leader.MentionAnswers,
				s.MentionAnswers == leader.MentionAnswers && s.MentionAnswers > 0 && s.Name < leader.Name:
				leader = s
			}
		}
		if brand.Answers > 0 {
			rows = append(rows, newStanding(brand, leader))
		}
	}
	return rows
}

func newStanding(brand, leader standingSums) BrandStanding {
	mean := formula.Mean{Prompts: brand.PromptCount, Answers: brand.Answers, NN: float64(brand.NN)}
	rate := brand.mentionRate(mean)
	row := BrandStanding{
		BrandID: brand.BrandID, Answers: brand.Answers, MentionAnswers: brand.MentionAnswers,
		Rate: formula.Round(rate.Value(), 1), LeaderID: leader.ID, LeaderName: leader.Name,
		LeaderRate: formula.Round(formula.Percent(leader.MentionAnswers, brand.Answers), 1),
		RateGap:    brand.gap(leader.pointSums, leader.MB, mean),
	}
	row.RateLow, row.RateHigh = rate.Interval()
	return row
}

type brandDaySums struct {
	BrandID     UUID      `ch:"brand_id"`
	Day         time.Time `ch:"day"`
	PromptCount uint64    `ch:"prompt_count"`
	Answers     int64     `ch:"answers"`
	NN          int64     `ch:"nn"`
	pointSums
}

func brandDayRows(_ BrandsFilter, sums []brandDaySums) []BrandDay {
	return mapSlice(sums, func(s brandDaySums) BrandDay {
		rate := s.mentionRate(formula.Mean{Prompts: s.PromptCount, Answers: s.Answers, NN: float64(s.NN)})
		row := BrandDay{BrandID: s.BrandID, Day: s.Day, Answers: s.Answers, Rate: formula.Round(rate.Value(), 1)}
		row.RateLow, row.RateHigh = rate.Interval()
		return row
	})
}

// BrandVisits counts the views of a brand's site.
type BrandVisits struct {
	BrandID UUID  `ch:"brand_id"`
	Visits  int64 `ch:"visits"`
	Before  int64 `ch:"visits_before"`
}

// LastAnswer is when a brand was last answered, to the day where raw answers have expired.
type LastAnswer struct {
	BrandID    UUID      `ch:"brand_id"`
	AnsweredAt time.Time `ch:"answered_at"`
}

// NewSourceFilter selects the domains that a brand's answers cite in a window, and not before it from BeforeFrom on.
type NewSourceFilter struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	BeforeFrom     Day    `ch:"before_from"`
	DateFrom       Day    `ch:"date_from"`
	DateTo         Day    `ch:"date_to"`
	Limit          uint32 `ch:"limit"`
}

// NewSources returns domains by citing answers descending, then by name.
var NewSources = query[NewSourceFilter, NewSource]("new_sources")

// NewSource is a domain that was not cited before.
type NewSource struct {
	Domain        string `ch:"domain"`
	CitingAnswers int64  `ch:"citing_answers"`
}
