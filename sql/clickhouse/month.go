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

// First is the first instant of the month.
func (m Month) First() time.Time {
	return time.Date(int(m)/100, time.Month(int(m)%100), 1, 0, 0, 0, 0, time.UTC)
}

// ParseMonth reads what String writes.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return 0, fmt.Errorf("month %q: want one such as 2026-03", text)
	}
	return MonthOf(t), nil
}

// String is the month as people write it: 2026-03.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", int(m)/100, int(m)%100) }

// MarshalText writes String.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Scan reads a number as toYYYYMM makes it.
func (m *Month) Scan(number any) error {
	n, ok := number.(uint32)
	if !ok {
		return fmt.Errorf("read a month: %T, want UInt32", number)
	}
	*m = Month(n)
	return nil
}

// Partition is the id of the month's partitions.
func (m Month) Partition() string { return strconv.Itoa(int(m)) }
