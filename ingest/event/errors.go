package event

import (
	"errors"
	"fmt"
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
	Want  string // what would be right, and what was found where that helps
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
