package event

import (
	"strconv"
	"time"

	"github.com/gofrs/uuid/v5"
)

// reader reads the values of one record. A null is read as if the field were
// absent. Errors are MalformedErrors whose path object and list put together.
type reader struct {
	scan // of a copy of the record: the strings read are parts of it, one allocation for all of them
}

// object calls field for each key of an object; field must consume the value.
func (r *reader) object(field func(key string) error) error {
	if r.null() {
		return nil
	}
	if !r.take('{') {
		return malformed("an object")
	}
	if r.take('}') {
		return nil
	}
	for {
		key, ok := r.str()
		if !ok || !r.take(':') {
			return malformed("valid JSON: the name of a field and a colon, at byte %d", r.i)
		}
		if err := field(key); err != nil {
			return within(key, err)
		}
		if r.take('}') {
			return nil
		}
		if !r.take(',') {
			return malformed("valid JSON: a comma or the end of the object, at byte %d", r.i)
		}
	}
}

// list reads an array; an empty one is nil, as an absent one.
func list[T any](r *reader, to *[]T, item func(*T) error) error {
	*to = nil
	if r.null() {
		return nil
	}
	if !r.take('[') {
		return malformed("a list")
	}
	if r.take(']') {
		return nil
	}
	*to = make([]T, 0, 4)
	for i := 0; ; i++ {
		*to = append(*to, *new(T))
		if err := item(&(*to)[i]); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
		if r.take(']') {
			return nil
		}
		if !r.take(',') {
			return malformed("valid JSON: a comma or the end of the list, at byte %d", r.i)
		}
	}
}

// optional reads a value that may be absent: nil is absent.
func optional[T any](r *reader, to **T, value func(*T) error) error {
	*to = nil
	if r.null() {
		return nil
	}
	*to = new(T)
	return value(*to)
}

func (r *reader) null() bool { return r.next() == 'n' && r.word("null") }

// skip passes over the value of a field that this version does not know.
func (r *reader) skip() error {
	if !r.pass(maxDepth) {
		return malformed("valid JSON of at most %d levels, at byte %d", maxDepth, r.i)
	}
	return nil
}

// ended reports whether nothing but white space is left.
func (r *reader) ended() bool { return r.next() == 0 && r.i == len(r.s) }

func (r *reader) text(to *string) error {
	*to = ""
	if r.null() {
		return nil
	}
	s, ok := r.str()
	if !ok {
		return malformed("a string")
	}
	*to = s
	return nil
}

func (r *reader) texts(to *[]string) error { return list(r, to, r.text) }

func (r *reader) flag(to *bool) error {
	switch c := r.next(); {
	case c == 't' && r.word("true"):
		*to = true
	case c == 'f' && r.word("false"), c == 'n' && r.word("null"):
		*to = false
	default:
		return malformed("true or false")
	}
	return nil
}

func (r *reader) digits() (string, error) {
	if r.null() {
		return "0", nil
	}
	s, ok := r.number()
	if !ok {
		return "", malformed("a number")
	}
	return s, nil
}

func (r *reader) integer(to *int64) error {
	s, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseInt(s, 10, 64); err != nil {
		return malformed("an integer of 64 bits")
	}
	return nil
}

func (r *reader) small(to *int) error {
	var v int64
	err := r.integer(&v)
	*to = int(v)
	return err
}

func (r *reader) hash(to *uint64) error {
	s, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseUint(s, 10, 64); err != nil {
		return malformed("an unsigned integer of 64 bits")
	}
	return nil
}

func (r *reader) real(to *float64) error {
	s, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseFloat(s, 64); err != nil {
		return malformed("a number that a float of 64 bits can hold")
	}
	return nil
}

func (r *reader) id(to *uuid.UUID) error {
	*to = uuid.Nil
	if r.null() {
		return nil
	}
	s, ok := r.str()
	if !ok {
		return malformed("a string")
	}
	if !parseID(s, to) {
		return malformed("a UUID such as 0195a2b4-6c00-7c1e-9d3f-2b1a4c5d6e7f, got %.40q", s)
	}
	return nil
}

// parseID takes the one form of a UUID that is written, a quarter of the time
// that the uuid package needs to tell six forms apart.
func parseID(s string, to *uuid.UUID) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	wrong := byte(0)
	for i, at := range [16]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		high, low := hexDigits[s[at]], hexDigits[s[at+1]]
		wrong |= high | low
		to[i] = high<<4 | low&0x0f
	}
	return wrong&0xf0 == 0
}

func (r *reader) instant(to *Time) error {
	*to = Time{}
	if r.null() {
		return nil
	}
	s, ok := r.str()
	if !ok {
		return malformed("a string")
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return malformed("an RFC 3339 time such as %s, got %.40q", timeLayout, s)
	}
	*to = At(t)
	return nil
}
