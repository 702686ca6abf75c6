package metrics

import (
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

const (
	defaultDays = 30
	maxDays     = 731 // two years, one of them a leap year
)

// The days that ClickHouse's Date holds, and the days that four digits of a year can name. No answer lies outside
// either (they are of 2020 to 2099), so a window may be cut to them without a figure changing.
var (
	firstDate = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(2149, 6, 6, 0, 0, 0, 0, time.UTC)
	firstYear = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastYear  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// A window is the UTC days from from to to, both included; each is held as its midnight.
type window struct{ from, to time.Time }

// allTime is every day that can have answers.
var allTime = window{firstDate, lastDate}

// days is how many days a window has. (A time.Duration would end after 292 years.)
func (w window) days() int64 { return (w.to.Unix()-w.from.Unix())/(24*60*60) + 1 }

// window reads date_from and date_to. Without both it is the 30 days that end with now's; with one of them, the 30
// days that it begins or ends.
func (q *query) window(now time.Time) window {
	from, hasFrom := q.day("date_from")
	to, hasTo := q.day("date_to")
	today := now.UTC().Truncate(24 * time.Hour)
	switch w := (window{from, to}); {
	case hasFrom && hasTo:
		q.checkOrder(w)
		return w
	case hasFrom:
		return window{from, within(from.AddDate(0, 0, defaultDays-1), firstYear, lastYear)}
	case hasTo:
		return window{within(to.AddDate(0, 0, 1-defaultDays), firstYear, lastYear), to}
	default:
		return window{today.AddDate(0, 0, 1-defaultDays), today}
	}
}

func (q *query) checkOrder(w window) {
	switch {
	case w.from.After(w.to):
		q.refuse("date_from", "a day up to date_to, "+dayText(w.to), dayText(w.from))
	case w.days() > maxDays:
		q.refuse("date_from", fmt.Sprintf("at most %d days up to date_to, both counted", maxDays), fmt.Sprintf("%d days", w.days()))
	}
}

// day reads one day; ok is false where it is absent or wrong.
func (q *query) day(name string) (day time.Time, ok bool) {
	const want = "a day of the calendar as YYYY-MM-DD"
	text, ok := q.text(name, want)
	if !ok {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		q.refuse(name, want, quoted(text))
		return time.Time{}, false
	}
	return day, true
}

func dayText(day time.Time) string { return day.Format(time.DateOnly) }

// dateOf is a day as ClickHouse can hold it.
func dateOf(day time.Time) clickhouse.Day {
	return clickhouse.DayOf(within(day, firstDate, lastDate))
}

// within is a day, or the nearer end of a range that it is outside of.
func within(day, first, last time.Time) time.Time {
	return slices.MinFunc([]time.Time{slices.MaxFunc([]time.Time{day, first}, time.Time.Compare), last}, time.Time.Compare)
}
