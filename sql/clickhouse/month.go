package clickhouse

import (
	"fmt"
	"strconv"
	"time"
)

// Month is a calendar month in UTC, as the partitions of facts are named: 202603.
type Month int

// MonthOf is the month of an instant.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*100 + int(t.Month()))
}

// String is the month as people write it: 2026-03.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", int(m)/100, int(m)%100) }

// MarshalText writes String.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// partition is the id of the month's partitions.
func (m Month) partition() string { return strconv.Itoa(int(m)) }
