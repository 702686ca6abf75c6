package metrics

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A cursor is the position of the last card of a page, as an opaque text, so that new cards before it do not change
// what comes after it. It has a digest of the question it was made for: with another question the pages would not be
// parts of one list.
const (
	cursorVersion = 1
	cursorLength  = 1 + 8 + 16 + 4 + 16 + len(question{})
)

// A question is the digest of the filters of a list of cards.
type question [8]byte

// digest is of all parameters except the page and the days.
func digest(f clickhouse.CardFilter) (q question) {
	text, err := json.Marshal([]any{f.OrganizationID, f.BrandID, f.Models, f.Regions, f.Topics, f.Branded, f.Platforms, f.Roles})
	if err != nil {
		panic(err) // texts, ids and bools
	}
	sum := sha256.Sum256(text)
	copy(q[:], sum[:])
	return q
}

// cursorAfter is the cursor of the cards after c.
func cursorAfter(c clickhouse.Card, about question) string {
	b := append(make([]byte, 0, cursorLength), cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(c.AnsweredAt.UnixMilli()))
	b = append(b, c.AnswerID[:]...)
	b = binary.BigEndian.AppendUint32(b, c.Position)
	b = append(b, c.ID[:]...)
	b = append(b, about[:]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// cursor reads where a page starts; without the parameter, before all cards.
func (q *query) cursor(about question) clickhouse.CardCursor {
	const want = "the next_cursor of a page that was asked with the same brand and filters"
	text, ok := q.text("cursor", want)
	if !ok {
		return clickhouse.CardCursor{}
	}
	cursor, ok := parseCursor(text, about)
	if !ok {
		q.refuse("cursor", want, quoted(text))
	}
	return cursor
}

func parseCursor(text string, about question) (cursor clickhouse.CardCursor, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	known := err == nil && len(b) == cursorLength && b[0] == cursorVersion && question(b[45:]) == about
	if !known || len(text) != base64.RawURLEncoding.EncodedLen(cursorLength) { // the decoder skips line ends
		return cursor, false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:9]))).UTC()
	if at.Before(firstDate) || at.After(lastDate) {
		return cursor, false
	}
	return clickhouse.CardCursorAt(at, clickhouse.UUID(b[9:25]), binary.BigEndian.Uint32(b[25:29]), clickhouse.UUID(b[29:45])), true
}
