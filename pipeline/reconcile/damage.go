package reconcile

import (
	"context"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A landingMonth is a month of a landing table.
type landingMonth struct {
	table string
	month clickhouse.Month
}

// surplus finds duplicate rows in the landing tables of cells, each month once, and deletes them if the scope repairs
// anything. The rollups that have counted them then have too much, and are repaired in any scope that repairs.
func (r *shardRun) surplus(ctx context.Context, cells []*cell) error {
	if r.scope.Owner != (rollup.Owner{}) {
		return nil
	}
	var done []landingMonth
	for _, c := range cells {
		landing := landingMonth{c.topic, c.month}
		if slices.Contains(done, landing) {
			continue
		}
		done = append(done, landing)
		rows, err := clickhouse.SurplusRows(ctx, r.conn, landing.table, landing.month)
		if err == nil && rows == 0 {
			continue
		}
		month := RollupMonth{Table: landing.table, Month: landing.month}
		f := &Finding{RollupMonth: month, State: Differs, Surplus: rows}
		if err == nil && r.scope.Repair != RepairNothing {
			if f.Surplus, err = clickhouse.DeleteSurplusRows(ctx, r.conn, landing.table, landing.month); err == nil {
				f.State = Repaired
				r.cleaned = append(r.cleaned, landing)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(f, err)
	}
	return nil
}

// BrokenParts counts the parts that the server has set aside, and logs each once in this process.
func (c *Reconciler) BrokenParts(ctx context.Context) error {
	parts, err := clickhouse.BrokenParts(ctx, c.warehouse)
	if err != nil {
		return err
	}
	c.metrics.broken.Reset()
	for _, part := range parts {
		c.metrics.broken.WithLabelValues(part.Table).Inc()
		if _, logged := c.broken.LoadOrStore(part, true); !logged {
			c.log.Error("a part is broken, and its table lacks its rows",
				"table", part.Table, "month", part.Month, "part", part.Name, "reason", part.Reason,
				"next", "of answers, visits or crawls: answerscope recover TABLE MONTH; "+
					"then see AnswerscopeBrokenParts in docs/operations.md")
		}
	}
	return nil
}

// ForgetBrokenParts clears the metric in a process that no longer runs tasks: the leader reports broken parts.
func (c *Reconciler) ForgetBrokenParts() { c.metrics.broken.Reset() }

// hasLost reports whether a landing table may have lost rows of a month with a part that the server has set aside.
func hasLost(ctx context.Context, conn *clickhouse.Conn, landing landingMonth) (bool, error) {
	parts, err := clickhouse.BrokenParts(ctx, conn)
	return slices.ContainsFunc(parts, func(p clickhouse.BrokenPart) bool {
		return !p.Merged && strings.TrimSuffix(p.Table, clickhouse.LocalSuffix) == landing.table &&
			(p.Month == "" || p.Month == landing.month.String())
	}), err
}
