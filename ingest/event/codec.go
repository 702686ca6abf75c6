package event

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
)

// The codec is github.com/go-json-experiment/json, encoding/json/v2 of the standard library from Go 1.27 on. Others are
// faster (goccy/go-json reads a visit in half the time), but read something else of a wrong record instead of naming
// the field: keys in any case, of equal keys the last, "\xff" as U+FFFD; segmentio overflows the stack on eight
// megabytes of "[". Nearly all visits are read and written by visit_text.go: read in a
// fifth and written in half of the time.

// DecodeAnswer reads an answer's record. b may be used again afterwards.
//
// The error is ErrNewer when v is newer than Version, even in a broken record, and a MalformedError when the record
// breaks a rule that holds at any time: UTF-8, required fields, ids, enumerations, ranges. Fields that this version
// does not know are ignored.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	err := decodeRecord(b, a, &a.V)
	if len(a.Competitors) == 0 {
		a.Competitors = nil // always written, so that an empty list is read as it was
	}
	return err
}

// DecodeVisit reads a visit's record as DecodeAnswer does. The texts of v may be parts of b, which must not change
// while they are used.
func DecodeVisit(b []byte, v *Visit) error {
	*v = Visit{}
	if scanVisit(b, v) {
		var p problems
		v.validate(&p)
		return p.err()
	}
	*v = Visit{}
	return decodeRecord(b, v, &v.V)
}

// DecodeCrawl reads a crawl's record as DecodeAnswer does.
func DecodeCrawl(b []byte, c *Crawl) error {
	*c = Crawl{}
	return decodeRecord(b, c, &c.V)
}

// EncodeAnswer appends the record of a to dst, always as version Version. It does not check the answer, but never
// writes a record that no reader could read: the error is a TooLargeError, or a MalformedError for text that is not
// UTF-8; dst is then returned as it was.
func EncodeAnswer(dst []byte, a *Answer) ([]byte, error) {
	versioned := *a
	versioned.V = Version
	return encodeRecord(dst, &versioned)
}

// EncodeVisit appends the record of v to dst as EncodeAnswer does.
func EncodeVisit(dst []byte, v *Visit) ([]byte, error) {
	if text, printed := printVisit(dst, v); printed {
		return text, nil
	}
	versioned := *v
	versioned.V = Version
	return encodeRecord(dst, &versioned)
}

// EncodeCrawl appends the record of c to dst as EncodeAnswer does.
func EncodeCrawl(dst []byte, c *Crawl) ([]byte, error) {
	versioned := *c
	versioned.V = Version
	return encodeRecord(dst, &versioned)
}

// decodeRecord reads a record, whose version is v, and validates it.
func decodeRecord(b []byte, record interface{ validate(*problems) }, v *int) error {
	err := json.Unmarshal(b, record)
	if err == nil && 1 <= *v && *v <= Version {
		var p problems
		record.validate(&p)
		return p.err()
	}
	// A newer version may have changed the very field that was refused.
	var head struct {
		V int64 `json:"v"`
	}
	// Anything may follow v.
	_ = json.Unmarshal(b, &head, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	switch {
	case head.V > Version:
		return fmt.Errorf("%w: version %d, this build reads versions up to %d", ErrNewer, head.V, Version)
	case err != nil:
		return JSONError(err)
	}
	return malformed("v", "the version of the record, 1 to %d, got %d", Version, *v)
}

// asTagged makes omitempty leave out zeros too, as in encoding/json.
var asTagged = legacy.OmitEmptyWithLegacySemantics(true)

func encodeRecord(dst []byte, record any) ([]byte, error) {
	b, err := json.Marshal(record, asTagged)
	switch {
	case err != nil:
		return dst, JSONError(err)
	case len(b) > MaxValueBytes:
		return dst, &TooLargeError{Bytes: len(b), Most: MaxValueBytes}
	case dst == nil:
		return b, nil
	}
	return append(dst, b...), nil
}
