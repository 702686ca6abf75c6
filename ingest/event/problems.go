package event

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"
)

// The kinds of refused records, for errors.Is.
var (
	ErrNewer     = errors.New("record of a newer version")
	ErrMalformed = errors.New("malformed record")
	ErrTooLarge  = errors.New("record too large")
)

// MalformedError refuses a record because of one field. It is ErrMalformed.
type MalformedError struct {
	Field string // path from the record, for example "competitors[2].id"; "" is the record itself
	Want  string // the right form, and the value that it has where that helps
}

func (e *MalformedError) Error() string {
	if e.Field == "" {
		return "record: want " + e.Want
	}
	return e.Field + ": want " + e.Want
}

// Is reports whether target is ErrMalformed.
func (e *MalformedError) Is(target error) bool { return target == ErrMalformed }

func malformed(field, want string, args ...any) error {
	return &MalformedError{Field: field, Want: fmt.Sprintf(want, args...)}
}

// TooLargeError refuses a record that does not fit on the log. It is ErrTooLarge.
type TooLargeError struct{ Bytes, Most int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("record of %d bytes: want at most %d", e.Bytes, e.Most)
}

// Is reports whether target is ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// maxProblems is how many problems of a record are listed: a record can have millions.
const maxProblems = 10

// problems collects the problems of a record. A record without a problem costs no allocation.
type problems struct {
	errs  []error
	more  int    // beyond errs
	list  string // the list, and the number of the item, that fields belong to; "" is the record itself
	index int
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.errs...)
}

// in makes the next fields belong to an item of a list.
func (p *problems) in(list string, index int) *problems {
	p.list, p.index = list, index
	return p
}

// add lists a field with its right form; "" is the item or the record itself.
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

func (p *problems) atLeast(field string, n, bound int64) {
	if n < bound {
		p.add(field, "%d or more, got %d", bound, n)
	}
}

func (p *problems) atMost(field string, n, bound int) {
	if n > bound {
		p.add(field, "at most %d, got %d", bound, n)
	}
}

func (p *problems) era(field string, t Time) {
	if t.Before(earliest) || !t.Before(latest) {
		p.add(field, "a time from %d to %d, got %s", earliest.Year(), latest.Year()-1, t)
	}
}

// notInFuture refuses times that no clock has reached: another machine's may be a day ahead of this one.
func (p *problems) notInFuture(field string, t Time, now time.Time) {
	if bound := now.Add(24 * time.Hour); t.After(bound) {
		p.add(field, "a time up to a day from now, %s, got %s", At(bound), t)
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

func (p *problems) text(field, s string, maxBytes int) {
	switch {
	case len(s) > maxBytes:
		p.add(field, "at most %d bytes, got %d", maxBytes, len(s))
	case !utf8.ValidString(s):
		p.add(field, "valid UTF-8")
	}
}

// texts checks a list of texts. It formats the path of an item only where that is wrong.
func (p *problems) texts(field string, list []string, maxItems, maxBytes int) {
	p.atMost(field, len(list), maxItems)
	for i, s := range list {
		if len(s) > maxBytes || !utf8.ValidString(s) {
			p.text(fmt.Sprintf("%s[%d]", field, i), s, maxBytes)
		}
	}
}

// HasControls reports whether a text has a control character, or one that changes the direction of the text after it
// (Unicode's Bidi_Control): a path with one could be shown as another.
func HasControls(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Bidi_Control, r)
	})
}

// JSONError makes a MalformedError, with the field and its right form, of an error of the JSON library. A type that
// reads itself returns a MalformedError. Quotes of the record are cut, as they may be large.
func JSONError(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return malformed(path(e.JSONPointer), "valid JSON in UTF-8: %.120s", e.Err)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return malformed("", "valid JSON: %.120s", err)
	}
	if typed, ok := errors.AsType[*MalformedError](e.Err); ok {
		return malformed(path(e.JSONPointer), "%s", typed.Want)
	}
	want := jsonForm(e.GoType)
	switch {
	case len(e.JSONValue) > 0:
		want += fmt.Sprintf(", got %.40s", e.JSONValue)
	case e.JSONKind > 0:
		want += ", got " + jsonKinds[e.JSONKind]
	}
	return malformed(path(e.JSONPointer), "%s", want)
}

var jsonKinds = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// jsonForm names the JSON that t is read from.
func jsonForm(t reflect.Type) string {
	switch {
	case t == nil:
		return "another value"
	case t.Kind() == reflect.Pointer:
		return jsonForm(t.Elem())
	case t == reflect.TypeFor[uuid.UUID]():
		return "a UUID such as 0195a2b4-6c00-7c1e-9d3f-2b1a4c5d6e7f"
	case t == reflect.TypeFor[Time]():
		return "an RFC 3339 time such as " + timeLayout
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer of 64 bits"
	case reflect.Uint64:
		return "an unsigned integer of 64 bits"
	case reflect.Float64:
		return "a number that a float of 64 bits can hold"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// path writes /competitors/2/id as competitors[2].id; of a deep record or long keys only the first bytes.
func path(p jsontext.Pointer) string {
	const maxBytes = 200
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case digits(token, 10):
			token = "[" + token + "]"
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(token)
		if b.Len() > maxBytes {
			return strings.ToValidUTF8(b.String()[:maxBytes], "") + "…"
		}
	}
	return b.String()
}
