package clickhouse

import (
	"cmp"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/formula"
)

// BrandVisibility returns, for each group, a row for each bucket with runs, ascending.
var BrandVisibility = Figures[BucketFilter, bucketSums, Bucket]{
	sumsOf[BucketFilter, bucketSums]("brand_visibility"), bucketRows,
}

// Bucket is the brand over the answers of one bucket.
type Bucket struct {
	Group              string    `ch:"group_key"`
	Bucket             time.Time `ch:"bucket"`
	GivenUp            int64     `ch:"given_up"`             // runs
	AvgCompetitorScore *float64  `ch:"avg_competitor_score"` // over pairs of an answer and a live competitor in it
	Visibility
}

// bucketSums has the sums of a group and bucket; rivals are the live competitors.
type bucketSums struct {
	Group            string    `ch:"group_key"`
	Bucket           time.Time `ch:"bucket"`
	PromptCount      uint64    `ch:"prompt_count"`
	Answers          int64     `ch:"answers"`
	GivenUp          int64     `ch:"given_up"`
	NotShown         int64     `ch:"not_shown"`
	NN               int64     `ch:"nn"`
	RivalsNamed      int64     `ch:"rivals_named"`
	RivalsVisibility int64     `ch:"rivals_visibility"`
	pointSums
}

func bucketRows(filter BucketFilter, sums []bucketSums) []Bucket {
	slices.SortFunc(sums, func(a, b bucketSums) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), a.Bucket.Compare(b.Bucket))
	})
	return mapSlice(sums, func(s bucketSums) Bucket {
		mean := formula.Mean{Prompts: s.PromptCount, Answers: s.Answers, NN: float64(s.NN)}
		b := Bucket{Group: s.Group, Bucket: s.Bucket, GivenUp: s.GivenUp}
		b.Visibility = s.figures(mean, len(filter.Prompts) > 0)
		b.NotShown = s.NotShown
		b.AvgCompetitorScore = formula.Round(formula.Ratio(float64(s.RivalsVisibility), float64(s.RivalsNamed)), 1)
		return b
	})
}
