package metrics

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/nearest"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A query is the query string of a request. Each method reads one parameter and collects what is wrong with it for err,
// so that a caller sees every mistake at once. A parameter that none has read is a mistake, too: a misspelt filter must
// not give unfiltered figures.
type query struct {
	given map[string][]string // values still encoded
	known []string            // names that were read, in that order
	wrong []string
}

func parseQuery(raw string) *query {
	q := &query{given: map[string][]string{}}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err == nil { // else it has a "%" and is the name of no parameter
			name = decoded
		}
		q.given[name] = append(q.given[name], value)
	}
	return q
}

// err is nil or an Invalid problem that says of each wrong parameter what would be right. All parameters of the
// endpoint are read before it is called.
func (q *query) err() error {
	wrong := slices.Concat(q.wrong, q.unknown())
	if len(wrong) == 0 {
		return nil
	}
	return problem.New(problem.Invalid, "%s", strings.Join(wrong, "; "))
}

// unknown says of the first parameters that the endpoint does not have which one is nearest.
func (q *query) unknown() (wrong []string) {
	const most = 3
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(q.given)), func(name string) bool { return slices.Contains(q.known, name) })
	for _, name := range names[:min(len(names), most)] {
		want := "no parameter, as this endpoint has none"
		if len(q.known) > 0 {
			shown := strings.ToLower(name[:min(len(name), 2*longestShown)])
			want = "a parameter of this endpoint, the nearest is " + nearest.Names(shown, q.known, math.MaxInt)[0]
		}
		wrong = append(wrong, fmt.Sprintf("%s: want %s", quoted(name), want))
	}
	return wrong
}

// refuse records that a parameter is wrong. got is cut by quoted.
func (q *query) refuse(name, want, got string) {
	q.wrong = append(q.wrong, fmt.Sprintf("%s: want %s, got %s", name, want, got))
}

// longestShown is how many bytes of a value a message shows.
const longestShown = 60

func quoted(value string) string {
	if len(value) > longestShown {
		return fmt.Sprintf("%q… (%d bytes)", value[:longestShown], len(value))
	}
	return fmt.Sprintf("%q", value)
}

// text reads a parameter that is given at most once and is never empty; ok is false where it is absent or wrong.
// want says what would be right.
func (q *query) text(name, want string) (value string, ok bool) {
	q.known = append(q.known, name)
	values := q.given[name]
	if len(values) == 0 {
		return "", false
	}
	if len(values) > 1 {
		q.refuse(name, want+", once", fmt.Sprintf("it %d times", len(values)))
		return "", false
	}
	value, err := url.QueryUnescape(values[0])
	switch {
	case err != nil:
		q.refuse(name, want+`, with "%" written as "%25"`, quoted(values[0]))
	case value == "":
		q.refuse(name, want, "an empty value")
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		q.refuse(name, want+", as UTF-8 without NUL", quoted(value))
	default:
		return value, true
	}
	return "", false
}

// id reads a UUID in its canonical form; nil where it is absent or wrong.
func (q *query) id(name, want string) *uuid.UUID {
	text, ok := q.text(name, want)
	if !ok {
		return nil
	}
	id, err := uuid.FromString(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") { // the library reads braces and URNs too
		q.refuse(name, want, quoted(text))
		return nil
	}
	return &id
}

// requiredID is id for a parameter that must be there.
func (q *query) requiredID(name, want string) uuid.UUID {
	if len(q.given[name]) == 0 {
		q.refuse(name, want, "nothing")
	}
	if id := q.id(name, want); id != nil {
		return *id
	}
	return uuid.Nil
}

// list reads comma-separated values; nil where there are none or something is wrong. White space around a comma is
// how people write lists and part of no value.
func (q *query) list(name, want string) []string {
	text, ok := q.text(name, want)
	if !ok {
		return nil
	}
	values := strings.Split(text, ",")
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	if slices.Contains(values, "") {
		q.refuse(name, want+", none of them empty", quoted(text))
		return nil
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// oneOf reads one of a few words; the first is the default.
func (q *query) oneOf(name string, words ...string) string {
	if word, ok := q.word(name, words...); ok {
		return word
	}
	return words[0]
}

// word reads one of a few words; ok is false where it is absent or wrong.
func (q *query) word(name string, words ...string) (word string, ok bool) {
	want := "one of " + strings.Join(words, ", ")
	text, ok := q.text(name, want)
	if ok && !slices.Contains(words, text) {
		q.refuse(name, want, quoted(text))
		return "", false
	}
	return text, ok
}

// limit reads how many rows of a list are wanted, from 1 to most.
func (q *query) limit(usual, most uint32) uint32 {
	want := fmt.Sprintf("a whole number from 1 to %d", most)
	text, ok := q.text("limit", want)
	if !ok {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > uint64(most) {
		q.refuse("limit", want, quoted(text))
		return usual
	}
	return uint32(n)
}

// common are the parameters of every metrics endpoint. An empty list lets everything pass.
type common struct {
	brandID   uuid.UUID
	window    window
	platforms []string
	models    []string
	regions   []string
	topics    []clickhouse.UUID
	branded   []bool
}

// common reads the common parameters; now decides which days are meant where none are given.
func (q *query) common(now time.Time) common {
	c := common{
		brandID:   q.requiredID("brand_id", "the id of a brand that GET /api/v1/brands lists, a UUID"),
		window:    q.window(now),
		platforms: q.list("platform", "platform slugs separated by commas"),
		models:    q.list("model", "model slugs separated by commas"),
	}
	if region, ok := q.text("region", "a region, or no such parameter for all"); ok {
		c.regions = []string{region}
	}
	if topic := q.id("topic_id", "the id of a topic, a UUID"); topic != nil {
		c.topics = []clickhouse.UUID{clickhouse.UUID(*topic)}
	}
	switch q.oneOf("branded", "all", "true", "false") {
	case "true":
		c.branded = []bool{true}
	case "false":
		c.branded = []bool{false}
	}
	return c
}

// filter is what c asks the warehouse for. The organization is the caller's, whatever the query string says.
func (c common) filter(organization uuid.UUID) clickhouse.Filter {
	return clickhouse.Filter{
		OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(c.brandID),
		DateFrom: dateOf(c.window.from), DateTo: dateOf(c.window.to), Platforms: c.platforms, Models: c.models,
		Regions: c.regions, Topics: c.topics, Branded: c.branded,
	}
}

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
