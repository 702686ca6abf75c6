package rollup

import (
	"context"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Staging takes rows that a landing table has lost, in a shadow schema, and attaches them to it. So no view counts
// them once more, and all of them come or none.
type Staging struct {
	shadow *shadow
	table  string // quoted
}

// Stage begins with no rows, at one shard.
func Stage(ctx context.Context, conn *clickhouse.Conn, landing string) (*Staging, error) {
	table := conn.Local(landing)
	s, err := newShadow(ctx, conn, table)
	return &Staging{s, clickhouse.QuoteName(table)}, err
}

// Close drops it.
func (s *Staging) Close(ctx context.Context) error { return s.shadow.drop(ctx) }

// Database is where rows are inserted into a table of the landing table's name.
func (s *Staging) Database() string { return s.shadow.database }

// Clear makes it empty.
func (s *Staging) Clear(ctx context.Context) error {
	if err := s.shadow.conn.Exec(ctx, "TRUNCATE TABLE "+s.shadow.table); err != nil {
		return fmt.Errorf("clear %s: %w", s.shadow.table, err)
	}
	return nil
}

// Attach adds its rows, of a month, to the landing table, and returns when the server is done with it.
func (s *Staging) Attach(ctx context.Context, month clickhouse.Month) error {
	attach := fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION ID %s FROM %s SETTINGS alter_sync = 1", s.table, clickhouse.QuoteText(month.Partition()), s.shadow.table)
	if err := finished(ctx, s.shadow.conn, attach); err != nil {
		return fmt.Errorf("attach rows of %s to %s: %w", month, s.table, err)
	}
	return nil
}
