package event

import (
	"errors"
	"fmt"
)

// The kinds of refusal, for errors.Is.
var (
	ErrNewer     = errors.New("record of a newer version")
	ErrMalformed = errors.New("malformed record")
	ErrTooLarge  = errors.New("record too large")
)

// NewerError refuses a record that a newer build wrote: nothing else of it was
// believed. It is ErrNewer.
type NewerError struct {
	V int64 // what the record says of itself
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("record of version %d: this build reads versions up to %d", e.V, Version)
}

// Is reports whether target is ErrNewer.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// MalformedError refuses a record for one of its fields. It is ErrMalformed.
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

// TooLargeError refuses a record whose encoded value exceeds MaxRecordBytes. It
// is ErrTooLarge.
type TooLargeError struct {
	Bytes int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("record of %d bytes: at most %d fit on the log", e.Bytes, MaxRecordBytes)
}

// Is reports whether target is ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// malformed makes a MalformedError about the value at field.
func malformed(field, want string, args ...any) error {
	return &MalformedError{Field: field, Want: fmt.Sprintf(want, args...)}
}
