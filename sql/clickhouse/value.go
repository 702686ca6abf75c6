package clickhouse

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// UUID is the driver's type; any [16]byte converts.
type UUID = uuid.UUID

// OrNil returns *id, or the nil UUID that the tables have for an absent id.
func OrNil[T ~[16]byte](id *T) UUID {
	if id == nil {
		return UUID{}
	}
	return UUID(*id)
}

// Day is a UTC calendar day, written 2026-03-02: a {name:Date} placeholder does not take the driver's form of a
// time.Time.
type Day string

// DayOf returns the UTC day of t.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Month is a calendar month in UTC, a number like the names of partitions: 202603.
type Month int

// MonthOf returns the month of an instant.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*100 + int(t.Month()))
}

// First is the first instant of the month.
func (m Month) First() time.Time {
	return time.Date(int(m)/100, time.Month(int(m)%100), 1, 0, 0, 0, 0, time.UTC)
}

// ParseMonth reads the output of String.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return 0, fmt.Errorf("month %q: want one such as 2026-03", text)
	}
	return MonthOf(t), nil
}

// String writes the month for people: 2026-03.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", int(m)/100, int(m)%100) }

// MarshalText writes String.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Scan reads a number that toYYYYMM made.
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

// numbers is a list that a query returns as text, [1,2].
type numbers[T uint16 | int64 | float64] []T

// Scan reads the text of an array.
func (n *numbers[T]) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("read a list of numbers from %T: want text", value)
	}
	*n = make([]T, 0, strings.Count(text, ",")+1)
	for text = strings.Trim(text, "[]"); text != ""; {
		var number string
		number, text, _ = strings.Cut(text, ",")
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("read a list of numbers: %w", err)
		}
		*n = append(*n, T(x))
	}
	return nil
}
