package reconcile

import (
	"context"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// BrokenParts counts the parts that the server has set aside, and names each once in the log of this process.
func (c *Reconciler) BrokenParts(ctx context.Context) error {
	parts, err := clickhouse.BrokenParts(ctx, c.warehouse)
	if err != nil {
		return err
	}
	c.metrics.broken.Reset()
	for _, part := range parts {
		c.metrics.broken.WithLabelValues(part.Table).Inc()
		if _, known := c.broken.LoadOrStore(part, true); !known {
			c.log.Error("a part is broken, and its table lacks its rows", "table", part.Table, "month", part.Month, "part", part.Name, "reason", part.Reason,
				"next", "of answers, visits or crawls: answerscope recover TABLE MONTH; then see AnswerscopeBrokenParts in docs/operations.md")
		}
	}
	return nil
}

// ForgetBrokenParts is for a process that no longer runs tasks: the one that does reports broken parts.
func (c *Reconciler) ForgetBrokenParts() { c.metrics.broken.Reset() }

// hasLost says whether a landing table may have lost rows of a month with a part that the server has set aside.
func hasLost(ctx context.Context, conn *clickhouse.Conn, of landingMonth) (bool, error) {
	parts, err := clickhouse.BrokenParts(ctx, conn)
	return slices.ContainsFunc(parts, func(p clickhouse.BrokenPart) bool {
		return !p.Merged && strings.TrimSuffix(p.Table, clickhouse.LocalSuffix) == of.table && (p.Month == "" || p.Month == of.month.String())
	}), err
}
