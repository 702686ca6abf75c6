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
)

// CellFilter is a Filter of daily sums of a metric.
type CellFilter struct {
	Filter
	Metric      Metric `ch:"metric"`
	Competitors bool   `ch:"with_competitors"` // false: the brand alone
}

// CellDays returns the daily sums of the brand and, with Competitors, of each live competitor. There may be several
// rows of a cell.
var CellDays = rollup[CellFilter, cellDay]("cell_days")

type cellDay struct {
	EntityID string           `ch:"entity_id"`
	PromptID string           `ch:"prompt_id"`
	TopicID  string           `ch:"topic_id"`
	Platform string           `ch:"platform"`
	Model    string           `ch:"model"`
	Region   string           `ch:"region"`
	Days     numbers[uint16]  `ch:"days"`
	Runs     numbers[int64]   `ch:"runs"`
	GivenUp  numbers[int64]   `ch:"given_up"`
	Answers  numbers[int64]   `ch:"answers"`
	Points   numbers[float64] `ch:"points"`
}

// ServedModels returns the answers that name the model that served them, by day.
var ServedModels = rollup[Filter, servedModel]("served_models")

type servedModel struct {
	Platform    string `ch:"platform"`
	Model       string `ch:"model"`
	ServedModel string `ch:"served_model"`
	Day         uint16 `ch:"day"`
	Answers     int64  `ch:"answers"`
}

// Basket returns the answers of a brand by which its verdicts are reached. The filter's days are first to last.
func Basket(ctx context.Context, conn *Conn, filter CellFilter, first, last verdict.Day) (*verdict.Basket, error) {
	var rows []cellDay
	var models []servedModel
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = CellDays.All(ctx, conn, filter)
		return err
	})
	group.Go(func() (err error) {
		models, err = ServedModels.All(ctx, conn, filter.Filter)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	cells, served := make([]verdict.Cell, len(rows)), make([]verdict.Served, len(models))
	for i, r := range rows {
		cells[i] = verdict.Cell{
			EntityID: r.EntityID, PromptID: r.PromptID, TopicID: r.TopicID, Platform: r.Platform, Model: r.Model,
			Region: r.Region, Days: r.Days, Runs: r.Runs, GivenUp: r.GivenUp, Answers: r.Answers, Points: r.Points,
		}
	}
	for i, m := range models {
		served[i] = verdict.Served(m)
	}
	return verdict.NewBasket(first, last, cells, served), nil
}
