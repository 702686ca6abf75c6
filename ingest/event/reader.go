package event

import (
	"io"
	"strconv"
	"time"

	"github.com/go-faster/jx"
	"github.com/gofrs/uuid/v5"
)

// reader reads the values of one record. A null is read as if the field were
// absent. Errors are MalformedErrors without their path, which object and list
// put before them.
type reader struct {
	jx.Decoder
	raw []byte
	all string // raw again: strings are cut from it, so that a record costs one allocation and not one a string
}

func (r *reader) reset(b []byte) {
	r.raw, r.all = b, string(b)
	r.ResetBytes(b)
}

// object calls field for each key of an object; field must consume the value.
func (r *reader) object(field func(key []byte) error) error {
	if r.null() {
		return nil
	}
	it, err := r.ObjIter()
	if err != nil {
		return malformed("an object")
	}
	for it.Next() {
		if err := field(it.Key()); err != nil {
			return within(string(it.Key()), err)
		}
	}
	if err := it.Err(); err != nil {
		return malformed("valid JSON: %v", err)
	}
	return nil
}

// list reads an array; an empty one is nil, as an absent one.
func list[T any](r *reader, to *[]T, item func(*T) error) error {
	*to = nil
	if r.null() {
		return nil
	}
	it, err := r.ArrIter()
	if err != nil {
		return malformed("a list")
	}
	for i := 0; it.Next(); i++ {
		*to = append(*to, *new(T))
		if err := item(&(*to)[i]); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	if err := it.Err(); err != nil {
		return malformed("valid JSON: %v", err)
	}
	return nil
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

// ended reports whether nothing but white space is left.
func (r *reader) ended() bool { return r.Skip() == io.EOF }

func (r *reader) null() bool {
	return r.Next() == jx.Null && r.Null() == nil
}

// word reads a string without keeping it: valid until the next read.
func (r *reader) word() ([]byte, error) {
	if r.null() {
		return nil, nil
	}
	b, err := r.StrBytes()
	if err != nil {
		return nil, malformed("a string")
	}
	return b, nil
}

func (r *reader) text(to *string) error {
	b, err := r.word()
	if err != nil {
		return err
	}
	// A string without escapes is a part of raw, and its capacity says which.
	// Comparing the bytes makes this right whatever the library hands out.
	if at := cap(r.raw) - cap(b); at >= 0 && at+len(b) <= len(r.all) && r.all[at:at+len(b)] == string(b) {
		*to = r.all[at : at+len(b)]
		return nil
	}
	*to = string(b)
	return nil
}

func (r *reader) texts(to *[]string) error { return list(r, to, r.text) }

func (r *reader) flag(to *bool) error {
	if r.null() {
		*to = false
		return nil
	}
	v, err := r.Bool()
	if err != nil {
		return malformed("true or false")
	}
	*to = v
	return nil
}

// digits reads a number as it is written. jx's own integers wrap around beyond
// 64 bits (22000000000000000000 is read as 3553255926290448384), strconv's do not.
func (r *reader) digits() (string, error) {
	if r.null() {
		return "0", nil
	}
	if r.Next() != jx.Number {
		return "", malformed("a number")
	}
	b, err := r.Raw()
	if err != nil {
		return "", malformed("a number")
	}
	return string(b), nil
}

func (r *reader) number(to *int64) error {
	s, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseInt(s, 10, 64); err != nil {
		return malformed("an integer of 64 bits")
	}
	return nil
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

func (r *reader) small(to *int) error {
	var v int64
	err := r.number(&v)
	*to = int(v)
	return err
}

func (r *reader) id(to *uuid.UUID) error {
	b, err := r.word()
	if err != nil {
		return err
	}
	*to = uuid.Nil
	if b == nil {
		return nil
	}
	if len(b) != len("00000000-0000-0000-0000-000000000000") || to.UnmarshalText(b) != nil {
		return malformed("a UUID such as 0195a2b4-6c00-7c1e-9d3f-2b1a4c5d6e7f")
	}
	return nil
}

func (r *reader) instant(to *Time) error {
	var s string
	if err := r.text(&s); err != nil {
		return err
	}
	*to = Time{}
	if s == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return malformed("an RFC 3339 time such as %s", timeLayout)
	}
	*to = At(t)
	return nil
}

// skip passes over the value of a field that this version does not know.
func (r *reader) skip() error {
	if err := r.Skip(); err != nil {
		return malformed("valid JSON: %v", err)
	}
	return nil
}
