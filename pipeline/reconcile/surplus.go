package reconcile

import (
	"context"
	"slices"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A landingMonth is a month of a landing table.
type landingMonth struct {
	table string
	month clickhouse.Month
}

// surplus finds rows that stand twice in the landing tables of cells, each month once, and deletes them if the scope
// says so. The rollups that have counted them then have too much, and are repaired whatever else the scope says.
func (r *run) surplus(ctx context.Context, cells []*cell) error {
	if r.scope.Owner != (rollup.Owner{}) {
		return nil
	}
	var done []landingMonth
	for _, c := range cells {
		of := landingMonth{c.topic, c.month}
		if slices.Contains(done, of) {
			continue
		}
		done = append(done, of)
		rows, err := clickhouse.SurplusRows(ctx, r.conn, of.table, of.month)
		if err == nil && rows == 0 {
			continue
		}
		f := &Finding{RollupMonth: RollupMonth{Table: of.table, Month: of.month}, State: Differs, Surplus: rows}
		if err == nil && r.scope.Repair != RepairNothing {
			if f.Surplus, err = clickhouse.DeleteSurplusRows(ctx, r.conn, of.table, of.month); err == nil {
				f.State = Repaired
				r.cleaned = append(r.cleaned, of)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(f, err)
	}
	return nil
}
