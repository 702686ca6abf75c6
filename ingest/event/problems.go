package event

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

// maxProblems is how many problems of a record are listed: a record can have millions.
const maxProblems = 10

// problems collects what is wrong with a record. A record without a problem costs no allocation.
type problems struct {
	errs  []error
	more  int    // beyond those listed
	list  string // the list, and the number of the item, that fields belong to; "" is the record itself
	index int
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.errs...)
}

// in makes the next fields those of an item of a list.
func (p *problems) in(list string, index int) *problems {
	p.list, p.index = list, index
	return p
}

// add lists a field with what would be right; "" is the item or the record itself.
func (p *problems) add(field, want string, args ...any) {
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	if p.list != "" {
		field = strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", p.list, p.index, field), ".")
	}
	p.errs = append(p.errs, malformed(field, want, args...))
}

func (p *problems) id(field string, id uuid.UUID) {
	if id.IsNil() {
		p.add(field, "a UUID that is not nil")
	}
}

func (p *problems) optionalID(field string, id *uuid.UUID) {
	if id != nil {
		p.id(field, *id)
	}
}

func (p *problems) filled(field, s string) {
	if s == "" {
		p.add(field, "text that is not empty")
	}
}

func (p *problems) path(s string) {
	if !strings.HasPrefix(s, "/") {
		p.add("path", "a path that begins with /, got %.40q", s)
	}
}

func (p *problems) least(field string, n, least int64) {
	if n < least {
		p.add(field, "%d or more, got %d", least, n)
	}
}

func (p *problems) most(field string, n, most int) {
	if n > most {
		p.add(field, "at most %d, got %d", most, n)
	}
}

func (p *problems) era(field string, t Time) {
	if t.Before(earliest) || !t.Before(latest) {
		p.add(field, "a time from %d to %d, got %s", earliest.Year(), latest.Year()-1, t)
	}
}

// present refuses times that no clock has reached: another machine's may be a day ahead of this one.
func (p *problems) present(field string, t Time, now time.Time) {
	if t.After(now.Add(24 * time.Hour)) {
		p.add(field, "a time up to a day from now, %s, got %s", At(now.Add(24*time.Hour)), t)
	}
}

func (p *problems) decimal(field, s string) {
	if !isDecimal(s) {
		p.add(field, "%s, got %.40q", decimalForm, s)
	}
}

func (p *problems) currency(field, s string) {
	if !upper(s, 3) {
		p.add(field, "three capital letters (ISO 4217) or nothing, got %.40q", s)
	}
}

func (p *problems) slug(field, s string) {
	if len(s) > MaxLabel || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		p.add(field, "a slug: up to %d lower-case letters, digits, - _ and ., got %.80q", MaxLabel, s)
	}
}

func (p *problems) text(field, s string, most int) {
	switch {
	case len(s) > most:
		p.add(field, "at most %d bytes, got %d", most, len(s))
	case !utf8.ValidString(s):
		p.add(field, "valid UTF-8")
	}
}

// texts checks a list of texts; an item's path is put together only where it is wrong.
func (p *problems) texts(field string, list []string, most, mostBytes int) {
	p.most(field, len(list), most)
	for i, s := range list {
		if len(s) > mostBytes || !utf8.ValidString(s) {
			p.text(fmt.Sprintf("%s[%d]", field, i), s, mostBytes)
		}
	}
}

// HasControls reports whether a text has a control character, or one that changes the direction of what is shown after
// it (Unicode's Bidi_Control): a path with one could be shown as another.
func HasControls(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Bidi_Control, r)
	})
}
