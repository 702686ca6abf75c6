package clickhouse

import (
	"fmt"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// columnar is a table whose rows are sent a column at a time, which spares
// reflection on each field and most of the garbage.
func columnar[R any](name string, columns ...tableColumn[R]) Table[R] {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return Table[R]{name, names, func(batch driver.Batch, rows []R) error {
		for i, c := range columns {
			if err := c.append(batch.Column(i), rows); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		return nil
	}}
}

// A tableColumn appends one column of rows.
type tableColumn[R any] struct {
	name   string
	append func(to driver.BatchColumn, rows []R) error
}

func column[R, V any](name string, value func(R) V) tableColumn[R] {
	pool := sync.Pool{New: func() any { return new([SentAtOnce]V) }} // the driver copies them
	return tableColumn[R]{"`" + name + "`", func(to driver.BatchColumn, rows []R) error {
		all := pool.Get().(*[SentAtOnce]V)
		defer pool.Put(all)
		values := all[:len(rows)]
		defer clear(values)
		for i, row := range rows {
			values[i] = value(row)
		}
		return to.Append(values)
	}}
}
