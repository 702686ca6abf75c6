package cli

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// recoverCmd is the command recover.
type recoverCmd struct {
	Table string `arg:"" enum:"${topic_names}" help:"The table that has lost rows: ${topics}."`
	Month string `arg:"" placeholder:"MONTH" help:"The month that it has lost them of, as 2026-11."`
}

func (c *recoverCmd) Run(ctx context.Context, p *process) error {
	month, err := clickhouse.ParseMonth(c.Month)
	if err != nil {
		return usageError{err}
	}
	return p.with(ctx, service.Everything, func(ctx context.Context, on *engines) error {
		var shown *meter // once their number is known
		result, err := pipeline.Recover(ctx, pipelineDeps(on.Engines, prometheus.NewRegistry()), c.Table, month, func(done, total int64) {
			if shown == nil {
				shown = p.newMeter("recover: records read", total)
			}
			shown.reach(done)
		})
		if shown != nil {
			shown.end()
		}
		if err != nil {
			return err
		}
		if !result.LogBegins.IsZero() {
			p.say("records that were appended before %s may have left the log: their rows, if they were lost, are not back", result.LogBegins.Format(time.DateTime))
		}
		p.say("next: answerscope reconcile --from %s --to %[1]s; see AnswerscopeBrokenParts in docs/operations.md", month)
		return p.printJSON(result)
	})
}
