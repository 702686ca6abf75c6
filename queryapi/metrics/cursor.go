package metrics

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A cursor is the position of the last row of a page in the order of its list, as an opaque text, so that new rows
// before it do not change what comes after it. It has a digest of the question it was made for: with another question
// the pages would not be parts of one list.
const cursorVersion = 1

// A question is the digest of the filters of a list.
type question [8]byte

// digest is of the list's name and of all parameters except the page and the days.
func digest(list string, f clickhouse.Filter, more ...any) (q question) {
	text, err := json.Marshal([]any{list, f.OrganizationID, f.BrandID, f.Models, f.Regions, f.Topics, f.Branded, f.Platforms, more})
	if err != nil {
		panic(err) // texts, ids and bools
	}
	sum := sha256.Sum256(text)
	copy(q[:], sum[:])
	return q
}

// firstPage cuts rows, one more of which than limit was asked for, to a page. next is the cursor of the page after it,
// nil at the end.
func firstPage[R any](rows []R, limit uint32, filters question, position func(R) []byte) (page []R, next *string) {
	if len(rows) <= int(limit) {
		return rows, nil
	}
	return rows[:limit], new(cursorAt(position(rows[limit-1]), filters))
}

// cursorAt is the cursor of what comes after a position.
func cursorAt(position []byte, filters question) string {
	b := append([]byte{cursorVersion}, position...)
	return base64.RawURLEncoding.EncodeToString(append(b, filters[:]...))
}

// cursor reads the position of so many bytes after which a page starts, which read understands; without the parameter
// it is not called.
func (q *query) cursor(filters question, length int, read func(position []byte) (ok bool)) {
	const want = "the next_cursor of a page that was asked with the same brand and filters"
	text, ok := q.text("cursor", want)
	if !ok {
		return
	}
	position, ok := positionOf(text, filters, length)
	if !ok || !read(position) {
		q.refuse("cursor", want, quoted(text))
	}
}

func positionOf(text string, filters question, length int) (position []byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	whole := 1 + length + len(filters)
	if err != nil || len(b) != whole || len(text) != base64.RawURLEncoding.EncodedLen(whole) { // the decoder skips line ends
		return nil, false
	}
	return b[1 : 1+length], b[0] == cursorVersion && question(b[1+length:]) == filters
}

// appendInstant and instantAt write and read the time of a row; ok is false of one that no row has.
func appendInstant(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMilli()))
}

func instantAt(b []byte) (at time.Time, ok bool) {
	at = time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC()
	return at, !at.Before(firstDate) && !at.After(lastDate)
}
