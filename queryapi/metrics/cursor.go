package metrics

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// cursorVersion changes with the form of cursors.
const cursorVersion = 2

// A cursor is the position of the last row of a page in the order of its list, so that new rows before it do not change
// the next page. Clients get it as base64 of its JSON. With other filters the pages would not be parts of one list, so
// it has a digest of them.
type cursor[P any] struct {
	Version  int    `json:"v"`
	Filters  string `json:"filters"`
	Position P      `json:"after"`
}

func (c cursor[P]) encode() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts, ids and numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// digest returns the digest of a list's name and of all parameters except the page and the days.
func digest(list string, f clickhouse.Filter, more ...any) string {
	text, err := json.Marshal([]any{
		list, f.OrganizationID, f.BrandID, f.Models, f.Regions, f.Topics, f.Branded, f.Platforms, more,
	})
	if err != nil {
		panic(err) // texts, ids and bools
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// firstPage cuts rows, one more of which than limit was read, to a page. next is the cursor of the next page, nil at
// the end.
func firstPage[R, P any](rows []R, limit uint32, filters string, position func(R) P) (page []R, next *string) {
	if len(rows) <= int(limit) {
		return rows, nil
	}
	page = rows[:limit]
	return page, new(cursor[P]{cursorVersion, filters, position(page[limit-1])}.encode())
}

// readCursor reads the position after which a page starts; nil for the first page, or where it is invalid.
func readCursor[P any](q *query, filters string) *P {
	const want = "the next_cursor of a page that was asked with the same brand and filters"
	text, ok := q.text("cursor", want)
	if !ok {
		return nil
	}
	c, err := decodeCursor[P](text)
	if err != nil || c.Filters != filters {
		q.refuse("cursor", want, quoted(text))
		return nil
	}
	return &c.Position
}

// decodeCursor accepts only what encode writes.
func decodeCursor[P any](text string) (c cursor[P], err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(decoded, &c); err != nil {
		return c, err
	}
	if c.Version != cursorVersion || c.encode() != text {
		return c, fmt.Errorf("cursor %s is of another version, or in another form", decoded)
	}
	return c, nil
}

// UnmarshalJSON reads the time of a row in a cursor, and refuses times that no row has.
func (t *instant) UnmarshalJSON(text []byte) error {
	at, err := time.Parse(instantLayout, string(text))
	if err == nil && (at.Before(firstDate) || at.After(lastDate)) {
		err = fmt.Errorf("time %s is out of range", text)
	}
	*t = instant(at)
	return err
}
