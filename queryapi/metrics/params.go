package metrics

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// commonParams are the parameters of every endpoint about a brand. An empty list selects everything.
type commonParams struct {
	brandID   uuid.UUID
	window    window
	platforms []string
	models    []string
	regions   []string
	topics    []clickhouse.UUID
	branded   []bool
}

// common reads the common parameters; now decides the days where none are given.
func (q *query) common(now time.Time) commonParams {
	brand := q.requiredID("brand_id", "the id of a brand that GET /api/v1/brands lists, a UUID")
	p := q.commonOfBrands(now, maxDays)
	p.brandID, p.topics = brand, q.ids("topic_id", "the id of a topic, a UUID")
	return p
}

// commonOrAllTime reads the common parameters; without days it is all time.
func (q *query) commonOrAllTime(now time.Time) commonParams {
	p := q.common(now)
	if len(q.values["date_from"])+len(q.values["date_to"]) == 0 {
		p.window = allTime
	}
	return p
}

// CheckFilters returns a problem that names every mistake in filters of answers: the common parameters but the brand.
func CheckFilters(filters url.Values, now time.Time) error {
	q := parseQuery(filters.Encode())
	q.commonOfBrands(now, maxDays)
	q.ids("topic_id", "the id of a topic, a UUID")
	return q.check()
}

// commonOfBrands reads the common parameters of a list of brands, which share no topics.
func (q *query) commonOfBrands(now time.Time, dayLimit int64) commonParams {
	return commonParams{
		window:    q.window(now, dayLimit),
		platforms: q.list("platform", "platform slugs separated by commas"),
		models:    q.list("model", "model slugs separated by commas"),
		regions:   q.regions(),
		branded:   q.boolean("branded", "all"),
	}
}

// withoutEffect refuses common parameters that change nothing of an endpoint, which reads the others afterwards.
func (q *query) withoutEffect(reason string, names ...string) {
	for _, name := range names {
		if len(q.values[name]) > 0 {
			q.mistakes = append(q.mistakes, name+": want no such parameter here: "+reason)
			delete(q.values, name)
		}
	}
}

// OfAnswers are the common parameters that endpoints of visits and crawls refuse.
var OfAnswers = []string{"model", "region", "topic_id", "branded"}

// commonOfVisits reads the common parameters of visits and crawls.
func (q *query) commonOfVisits(now time.Time) commonParams {
	q.withoutEffect("no visit or crawl has one", OfAnswers...)
	return q.common(now)
}

// regions reads a region as a filter; "none" selects answers without one.
func (q *query) regions() []string {
	regions := q.texts("region", "a region, none, or no such parameter for all")
	if len(regions) > 0 && strings.EqualFold(regions[0], "none") {
		regions[0] = ""
	}
	return regions
}

// filter returns the warehouse's filter. The organization is always the caller's.
func (p commonParams) filter(organization uuid.UUID) clickhouse.Filter {
	return clickhouse.Filter{
		OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(p.brandID),
		DateFrom: dateOf(p.window.from), DateTo: dateOf(p.window.to), Platforms: p.platforms, Models: p.models,
		Regions: p.regions, Topics: p.topics, Branded: p.branded,
	}
}

// prompts reads the prompt whose answers alone count.
func (q *query) prompts() []clickhouse.UUID { return q.ids("prompt_id", "the id of a prompt, a UUID") }

const (
	defaultDays = 30
	maxDays     = 731 // two years, one of them a leap year
)

// The days that ClickHouse's Date holds, and the days that four digits of a year can name. Every answer is from 2020 to
// 2099, so cutting a window to these days changes no figure.
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

// days returns the number of days. (A time.Duration would end after 292 years.)
func (w window) days() int64 { return (w.to.Unix()-w.from.Unix())/(24*60*60) + 1 }

// window reads date_from and date_to. Without date_to it ends with now's day; without date_from it has 30 days.
func (q *query) window(now time.Time, dayLimit int64) window {
	from, hasFrom := q.day("date_from")
	to, hasTo := q.day("date_to")
	last := "date_to"
	if !hasTo {
		to, last = now.UTC().Truncate(24*time.Hour), "today (date_to is missing)"
	}
	if !hasFrom || !hasTo && len(q.values["date_to"]) > 0 { // else the days are what is meant
		return window{clamp(to.AddDate(0, 0, 1-defaultDays), firstYear, lastYear), to}
	}
	switch w := (window{from, to}); {
	case from.After(to):
		q.refuse("date_from", "a day up to "+last+", "+dayText(to), dayText(from))
	case w.days() > dayLimit:
		first := dayText(to.AddDate(0, 0, 1-int(dayLimit)))
		want := fmt.Sprintf("at most %d days up to %s, both counted: %s or later", dayLimit, last, first)
		q.refuse("date_from", want, fmt.Sprintf("%d days", w.days()))
	}
	return window{from, to}
}

// day reads one day; ok is false where it is missing or invalid.
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

// dateOf returns a day that ClickHouse can hold.
func dateOf(day time.Time) clickhouse.Day { return clickhouse.DayOf(clamp(day, firstDate, lastDate)) }

// clamp returns day, or the nearer end of the range that it is outside of.
func clamp(day, first, last time.Time) time.Time {
	switch {
	case day.Before(first):
		return first
	case day.After(last):
		return last
	}
	return day
}

// A query holds the parameters of a request. Each method reads one of them and records a mistake for check, so that a
// client sees every mistake at once. A parameter that no method reads is a mistake too: a misspelt filter must not give
// unfiltered figures.
type query struct {
	values   map[string][]string // still encoded
	names    []string            // of the parameters that were read, in that order
	mistakes []string
}

func parseQuery(raw string) *query {
	q := &query{values: map[string][]string{}}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err == nil { // else it has a "%" and names no parameter
			name = decoded
		}
		q.values[name] = append(q.values[name], value)
	}
	return q
}

// check returns nil or an Invalid problem that names all mistakes and the valid values. The endpoint has read all of
// its parameters before.
func (q *query) check() error {
	mistakes := slices.Concat(q.mistakes, q.unknown())
	if len(mistakes) == 0 {
		return nil
	}
	return problem.New(problem.Invalid, "%s", strings.Join(mistakes, "; "))
}

// unknown names the first parameters that the endpoint does not have, and the nearest ones that it has.
func (q *query) unknown() (mistakes []string) {
	const maxNames = 3
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(q.values)), func(name string) bool {
		return slices.Contains(q.names, name)
	})
	for _, name := range names[:min(len(names), maxNames)] {
		mistakes = append(mistakes, fmt.Sprintf("%s: want %s", quoted(name), httpd.InsteadOf(name, q.names)))
	}
	return mistakes
}

// refuse records an invalid parameter.
func (q *query) refuse(name, want, got string) {
	q.mistakes = append(q.mistakes, fmt.Sprintf("%s: want %s, got %s", name, want, got))
}

// longestShown bounds the bytes of a value in a message.
const longestShown = 60

func quoted(value string) string {
	if len(value) > longestShown {
		return fmt.Sprintf("%q… (%d bytes)", value[:longestShown], len(value))
	}
	return fmt.Sprintf("%q", value)
}

// text reads a parameter that is given at most once and is never empty; ok is false where it is missing or invalid.
func (q *query) text(name, want string) (value string, ok bool) {
	q.names = append(q.names, name)
	values := q.values[name]
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

// texts is text as a filter: empty where the parameter is missing or invalid.
func (q *query) texts(name, want string) []string {
	if text, ok := q.text(name, want); ok {
		return []string{text}
	}
	return nil
}

// lines is texts with a value a line.
func (q *query) lines(name, want string) []string {
	if text, ok := q.text(name, want); ok {
		return strings.Split(text, "\n")
	}
	return nil
}

// ids reads a UUID in its canonical form as a filter: empty where it is missing or invalid.
func (q *query) ids(name, want string) []clickhouse.UUID {
	text, ok := q.text(name, want)
	if !ok {
		return nil
	}
	id, err := uuid.FromString(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") { // the library reads braces and URNs too
		q.refuse(name, want, quoted(text))
		return nil
	}
	return []clickhouse.UUID{clickhouse.UUID(id)}
}

// requiredID reads a UUID that must be there.
func (q *query) requiredID(name, want string) uuid.UUID {
	if len(q.values[name]) == 0 {
		q.refuse(name, want, "nothing")
	}
	if ids := q.ids(name, want); len(ids) > 0 {
		return uuid.UUID(ids[0])
	}
	return uuid.Nil
}

// list reads comma-separated values; nil where there are none or one is invalid. White space around a comma is how
// people write lists, and part of no value.
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

// word reads one of a few words; ok is false where it is missing or invalid.
func (q *query) word(name string, words ...string) (word string, ok bool) {
	want := "one of " + strings.Join(words, ", ")
	text, ok := q.text(name, want)
	if ok && !slices.Contains(words, text) {
		q.refuse(name, want, quoted(text))
		return "", false
	}
	return text, ok
}

// someOf reads some of a few words, separated by commas; none where they are missing or invalid.
func (q *query) someOf(name string, words ...string) []string {
	want := "some of " + strings.Join(words, ", ") + ", separated by commas"
	list := q.list(name, want)
	for _, word := range list {
		if !slices.Contains(words, word) {
			q.refuse(name, want, quoted(word))
			return nil
		}
	}
	return list
}

// words reads one of a few words as a filter: empty where it is missing or invalid.
func (q *query) words(name string, words ...string) []string {
	if word, ok := q.word(name, words...); ok {
		return []string{word}
	}
	return nil
}

// boolean reads true or false as a filter: empty where it is missing, invalid, or one of the other words.
func (q *query) boolean(name string, others ...string) []bool {
	if word, ok := q.word(name, append(others, "true", "false")...); ok && !slices.Contains(others, word) {
		return []bool{word == "true"}
	}
	return nil
}

// number reads a whole number.
func (q *query) number(name string, usual, minimum, maximum uint32) uint32 {
	want := fmt.Sprintf("a whole number from %d to %d", minimum, maximum)
	text, ok := q.text(name, want)
	if !ok {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < uint64(minimum) || n > uint64(maximum) {
		q.refuse(name, want, quoted(text))
		return usual
	}
	return uint32(n)
}
