package clickhouse

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/verdict"
)

// Metric is a figure of an answer, 0 to 100.
type Metric string

// The metrics.
const (
	Score        Metric = "score"
	MentionRate  Metric = "mention_rate"
	CitationRate Metric = "citation_rate"

	// Watched is the metric whose moves alarm.
	Watched = MentionRate
)

// BrandCellFilter is a BrandsFilter of daily sums of a metric.
type BrandCellFilter struct {
	BrandsFilter
	Metric Metric `ch:"metric"`
}

// CellDays returns the daily sums of brands. There may be several rows of a cell.
var CellDays = rollup[BrandCellFilter, cellDay]("cell_days")

type cellDay struct {
	BrandID     UUID             `ch:"brand_id"`
	PromptID    string           `ch:"prompt_id"`
	TopicID     string           `ch:"topic_id"`
	Platform    string           `ch:"platform"`
	Model       string           `ch:"model"`
	Region      string           `ch:"region"`
	ServedModel string           `ch:"served_model"` // with its provider; "": unknown
	Days        numbers[uint16]  `ch:"days"`
	Runs        numbers[int64]   `ch:"runs"`
	GivenUp     numbers[int64]   `ch:"given_up"`
	Answers     numbers[int64]   `ch:"answers"`
	Points      numbers[float64] `ch:"points"`
}

// CellFilter is a Filter of daily sums of a metric.
type CellFilter struct {
	Filter
	Metric      Metric `ch:"metric"`
	Competitors bool   // false: the brand alone
}

// RivalDays returns the daily points of each live competitor of a brand. There may be several rows of a cell.
var RivalDays = rollup[CellFilter, rivalDay]("rival_days")

type rivalDay struct {
	EntityID string           `ch:"entity_id"`
	PromptID string           `ch:"prompt_id"`
	TopicID  string           `ch:"topic_id"`
	Platform string           `ch:"platform"`
	Model    string           `ch:"model"`
	Region   string           `ch:"region"`
	Days     numbers[uint16]  `ch:"days"`
	Points   numbers[float64] `ch:"points"`
}

// Basket returns the answers of a brand by which its verdicts are reached. The filter's days are first to last.
func Basket(ctx context.Context, conn *Conn, filter CellFilter, first, last verdict.Day) (*verdict.Basket, error) {
	var rows []cellDay
	var rivals []rivalDay
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = CellDays.All(ctx, conn, BrandCellFilter{filter.ForBrands(filter.BrandID), filter.Metric})
		return err
	})
	if filter.Competitors {
		group.Go(func() (err error) {
			rivals, err = RivalDays.All(ctx, conn, filter)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	cells, served := cellsOf(rows)
	for _, r := range rivals {
		cells = append(cells, verdict.Cell{
			EntityID: r.EntityID, PromptID: r.PromptID, TopicID: r.TopicID, Platform: r.Platform, Model: r.Model,
			Region: r.Region, Days: r.Days, Points: r.Points,
		})
	}
	return verdict.NewBasket(first, last, cells, served), nil
}

// Baskets returns the answers by which the verdicts of some brands are reached, by brand. The filter's days are first
// to last. A brand without answers has none.
func Baskets(
	ctx context.Context, conn *Conn, filter BrandCellFilter, first, last verdict.Day,
) (map[UUID]*verdict.Basket, error) {
	rows, err := CellDays.All(ctx, conn, filter)
	baskets := map[UUID]*verdict.Basket{}
	for start, end := 0, 0; start < len(rows); start = end { // rows of a brand stand together
		for end < len(rows) && rows[end].BrandID == rows[start].BrandID {
			end++
		}
		cells, served := cellsOf(rows[start:end])
		baskets[rows[start].BrandID] = verdict.NewBasket(first, last, cells, served)
	}
	return baskets, err
}

func cellsOf(rows []cellDay) (cells []verdict.Cell, served []verdict.Served) {
	for _, r := range rows {
		cells = append(cells, verdict.Cell{
			EntityID: r.BrandID.String(), PromptID: r.PromptID, TopicID: r.TopicID, Platform: r.Platform,
			Model: r.Model, Region: r.Region, Days: r.Days, Runs: r.Runs, GivenUp: r.GivenUp, Answers: r.Answers,
			Points: r.Points,
		})
		if r.ServedModel == "" {
			continue
		}
		for i, day := range r.Days {
			served = append(served, verdict.Served{
				Platform: r.Platform, Model: r.Model, ServedModel: r.ServedModel, Day: day, Answers: r.Answers[i],
			})
		}
	}
	return cells, served
}
