// Package canary finds platforms whose answers to the canary panel have changed.
package canary

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	windowDays = 28 // compared with as many days before
	enough     = 20 // e-value from which a platform has changed
)

// Judge compares the panel's answers of recent days with earlier ones.
type Judge struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	evidence  *prometheus.GaugeVec
	log       *slog.Logger
}

// New returns a judge, which runs as a task of a timetable.
func New(
	db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, registerer prometheus.Registerer,
	log *slog.Logger,
) *Judge {
	return &Judge{db, warehouse, now, promauto.With(registerer).NewGaugeVec(prometheus.GaugeOpts{
		Name: "answerscope_canary_evidence",
		Help: "E-value of a change in a platform's answers to the canary panel, as of last night; " +
			"20 or more is a change.",
	}, []string{"platform"}), log}
}

// Forget clears the gauges on a process that no longer runs the task.
func (j *Judge) Forget() { j.evidence.Reset() }

// Nightly stores the platforms that have changed, by the answers up to yesterday. Without answers there are none.
func (j *Judge) Nightly(ctx context.Context) error {
	last := verdict.DayOf(j.now()) - 1
	w := verdict.Window{From: last - windowDays + 1, To: last, CompareDays: windowDays}
	rows, err := clickhouse.PanelDays.All(ctx, j.warehouse, clickhouse.PanelFilter{
		OrganizationID: clickhouse.UUID(postgres.PanelOrganization), BrandID: clickhouse.UUID(postgres.Panel),
		DateFrom: clickhouse.DayOf(w.Earliest().Time()), DateTo: clickhouse.DayOf(last.Time()),
	})
	if err != nil {
		return err
	}
	j.evidence.Reset()
	for _, change := range judge(w, rows) {
		j.evidence.WithLabelValues(change.Platform).Set(change.EValue)
		if change.EValue < enough {
			continue
		}
		if err := j.db.AddPlatformChange(ctx, change); err != nil {
			return err
		}
		j.log.Info("platform has changed its answers to the canary panel", "platform", change.Platform,
			"since", change.Day.Format(time.DateOnly), "e_value", change.EValue)
	}
	return nil
}

// features are judged as if each was the score of an entity. newBasket has their points in this order.
var features = [...]string{"names", "citations", "length", "cites"}

// judge returns the evidence of a change for each platform: the mean of the e-values of its features, which is an
// e-value, too. The strongest feature decides the day.
func judge(w verdict.Window, rows []clickhouse.PanelDay) (changes []postgres.PlatformChange) {
	basket := newBasket(w, rows)
	for _, platform := range basket.Keys(verdict.ByPlatform) {
		change, largest := postgres.PlatformChange{Platform: platform, JudgedOn: w.To.Time()}, 0.0
		for _, feature := range features {
			v := basket.Judge(w, verdict.Row{Entity: feature, Dimension: verdict.ByPlatform, Key: platform})
			if v.EValue == nil {
				continue
			}
			change.EValue += *v.EValue / float64(len(features))
			if *v.EValue > largest && v.Since != nil {
				largest, change.Day = *v.EValue, v.Since.Day.Time()
			}
		}
		changes = append(changes, change)
	}
	return changes
}

// newBasket has the features as entities. Named changes of a model are left out, as from every verdict.
func newBasket(w verdict.Window, rows []clickhouse.PanelDay) *verdict.Basket {
	var cells []verdict.Cell
	var served []verdict.Served
	for _, row := range rows {
		day := uint16(verdict.DayOf(row.Day))
		if row.ServedModel != "" {
			served = append(served, verdict.Served{
				Platform: row.Platform, Model: row.Model, ServedModel: row.ServedModel, Day: day, Answers: row.Answers,
			})
		}
		cell := verdict.Cell{
			PromptID: row.PromptID.String(), Platform: row.Platform, Model: row.Model, Days: []uint16{day},
			Runs: []int64{row.Runs}, GivenUp: []int64{row.GivenUp}, Answers: []int64{row.Answers},
		}
		for i, points := range [...]float64{row.Names, row.Citations, row.Length, row.Cites} {
			cell.EntityID, cell.Points = features[i], []float64{points}
			cells = append(cells, cell)
			cell.Runs, cell.GivenUp, cell.Answers = nil, nil, nil // counted once
		}
	}
	return verdict.NewBasket(w.Earliest(), w.To, cells, served)
}
