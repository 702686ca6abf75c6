package metrics

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
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
			want = "a parameter of this endpoint, the nearest is " + nearest(name, q.known)
		}
		wrong = append(wrong, fmt.Sprintf("%s: want %s", quoted(name), want))
	}
	return wrong
}

// nearest is the known name that takes the fewest edits to reach.
func nearest(name string, known []string) string {
	name = strings.ToLower(name[:min(len(name), 2*longestShown)])
	return slices.MinFunc(known, func(a, b string) int {
		return levenshtein.ComputeDistance(name, a) - levenshtein.ComputeDistance(name, b)
	})
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
