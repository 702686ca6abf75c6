package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/postgres"
)

type verdictsCmd struct {
	Check verdictsCheck `cmd:"" help:"Measure how often verdicts are false, as every night."`
}

type verdictsCheck struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *verdictsCheck) Run(ctx context.Context, p *process) error {
	on, err := p.connect(ctx, service.Databases)
	if err != nil {
		return err
	}
	progress := p.newMeter("verdicts check: brands", 0)
	counts, err := upkeep.NewVerdicts(on.DB, on.Warehouse, time.Now, on.Log).Check(ctx,
		func(done, total int) { progress.reachOf(int64(done), int64(total)) })
	progress.end()
	if err != nil {
		return err
	}
	return printList(p, c.JSON, counts, checkLine, "RELABELLING", "REACH", "ROWS", "LOOKS", "ALARMED", "QUARTERS",
		"ALARMED", "RATE", "HELD")
}

// checkLine is a count in a table.
func checkLine(c postgres.VerdictCheck) string {
	rate, held := "-", "-"
	if c.RowQuarters > 0 {
		k := min(float64(c.AlarmedRowQuarters), c.RowQuarters)
		bounds := verdict.Wilson(k, c.RowQuarters)
		rate = fmt.Sprintf("%.1f%% (%.1f-%.1f)", 100*k/c.RowQuarters, 100*bounds.Low, 100*bounds.High)
	}
	if c.Relabelling == verdict.NotRelabelled {
		held = fmt.Sprintf("%d of %d", c.HeldMoves, c.Moves)
	}
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%.1f\t%d\t%s\t%s", c.Relabelling, c.Reach, c.Rows, c.Looks, c.AlarmedLooks,
		c.RowQuarters, c.AlarmedRowQuarters, rate, held)
}
