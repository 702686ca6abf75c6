package collector

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/answerscope/answerscope/ingest/event"
)

// scan reads a single beacon as t.js sends it: the fields of a view, nothing between them, every text plain ASCII.
// It reads nothing else, and what it reads parse would read just so (FuzzDecode); that is nearly every beacon, in a
// fraction of the library's time and without an allocation. The texts of b are those of body.
func scan(body []byte, b *beacon) bool {
	rest, found := strings.CutPrefix(unsafe.String(unsafe.SliceData(body), len(body)), "{")
	if !found {
		return false
	}
	var seen [1 << 7]bool
	for {
		if len(rest) < 5 || rest[0] != '"' || rest[2] != '"' || rest[3] != ':' || rest[1] >= utf8.RuneSelf || seen[rest[1]] {
			return false
		}
		name := rest[1]
		seen[name], rest = true, rest[4:]
		if name == 'n' {
			if rest[0] != '0' && rest[0] != '1' {
				return false
			}
			b.New, rest = rest[0] == '1', rest[1:]
		} else {
			text := b.text(name)
			if text == nil || rest[0] != '"' {
				return false
			}
			if *text, rest, found = event.PlainText(rest[1:]); !found {
				return false
			}
		}
		switch {
		case rest == "}":
			return true
		case rest == "" || rest[0] != ',':
			return false
		}
		rest = rest[1:]
	}
}

// text is where the field of a name goes; nil for what is no text, or unknown.
func (b *beacon) text(name byte) *string {
	switch name {
	case 'u':
		return &b.URL
	case 'r':
		return &b.Referrer
	case 's':
		return &b.Platform
	case 'l':
		return &b.Language
	case 'd':
		return &b.Screen
	case 'z':
		return &b.TimeZone
	case 'e':
		return &b.Event
	case 'b':
		return &b.Brand
	case 'i':
		return &b.Session
	}
	return nil
}
