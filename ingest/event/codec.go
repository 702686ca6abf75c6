package event

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
)

// The codec is github.com/go-json-experiment/json: the package that is encoding/json/v2 of the standard library from
// Go 1.27 on, where this module becomes an alias of it. Thousand records a second of one core's processor time, AMD
// EPYC, Go 1.26, best of twelve runs; ours is json/v2 with validation, and for a visit as we write it scan.go and
// print.go.
//
//	                visit, 389 bytes      answer, 5.8 KB
//	                decode    encode      decode    encode
//	goccy/go-json     1615      1552         120       284
//	segmentio         1682      1039          58       144
//	sonic              859       985         100       165
//	json/v2            910       649          61        84
//	encoding/json      285       693          23       113
//	ours              4400      1521          57        86
//
// It is not the fastest. It is chosen because it refuses a wrong record and names the field, where the others read
// something else: they take keys in any case and of equal keys the last, and read "\xff" as U+FFFD. segmentio also wraps
// integers beyond 64 bits around, and has no limit of depth: eight megabytes of "[" overflow the stack, which no recover
// survives. goccy and sonic use internals of the runtime, which every release of Go may change.

// DecodeAnswer reads an answer's record. b may be used again afterwards.
//
// The error is ErrNewer when v is newer than Version, whatever else the record holds, and a MalformedError when the
// record breaks a rule that holds at any time: UTF-8, required fields, ids, enumerations, ranges. Fields that this
// version does not know are ignored.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	if err := decoded(b, json.Unmarshal(b, a), a.V); err != nil {
		return err
	}
	if len(a.Competitors) == 0 {
		a.Competitors = nil // always written, so that an empty list is read as it was
	}
	var p problems
	a.validate(&p)
	return p.err()
}

// DecodeVisit reads a visit's record; b may be used again afterwards, and errors are those of DecodeAnswer.
func DecodeVisit(b []byte, v *Visit) error { return DecodeVisitInPlace(bytes.Clone(b), v) }

// DecodeVisitInPlace is DecodeVisit without a copy: the texts of v may be those of b, which must not change while they
// are used.
func DecodeVisitInPlace(b []byte, v *Visit) error {
	*v = Visit{}
	if !scanVisit(b, v) {
		*v = Visit{}
		if err := decoded(b, json.Unmarshal(b, v), v.V); err != nil {
			return err
		}
	}
	var p problems
	v.validate(&p)
	return p.err()
}

// DecodeCrawl reads a crawl's record; b may be used again afterwards, and errors are those of DecodeAnswer.
func DecodeCrawl(b []byte, c *Crawl) error {
	*c = Crawl{}
	if err := decoded(b, json.Unmarshal(b, c), c.V); err != nil {
		return err
	}
	var p problems
	c.validate(&p)
	return p.err()
}

// EncodeAnswer appends the record of a to dst, as version Version whatever a.V says. It does not check the answer, but
// never writes what no reader could read: the error is a TooLargeError, or a MalformedError for text that is not UTF-8;
// dst is then returned as it was.
func EncodeAnswer(dst []byte, a *Answer) ([]byte, error) {
	if a.V != Version {
		copied := *a
		copied.V, a = Version, &copied
	}
	return encoded(dst, a)
}

// EncodeVisit appends the record of v to dst, as EncodeAnswer.
func EncodeVisit(dst []byte, v *Visit) ([]byte, error) {
	if text, printed := printVisit(dst, v); printed {
		return text, nil
	}
	if v.V != Version {
		copied := *v
		copied.V, v = Version, &copied
	}
	return encoded(dst, v)
}

// EncodeCrawl appends the record of c to dst, as EncodeAnswer.
func EncodeCrawl(dst []byte, c *Crawl) ([]byte, error) {
	if c.V != Version {
		copied := *c
		copied.V, c = Version, &copied
	}
	return encoded(dst, c)
}

// decoded makes the error of decoding b, of which the library read version v and returned err.
func decoded(b []byte, err error, v int) error {
	if err == nil && 1 <= v && v <= Version {
		return nil
	}
	// A newer version may have changed the very field that was refused.
	var head struct {
		V int64 `json:"v"`
	}
	_ = json.Unmarshal(b, &head, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // what follows v may be anything
	switch {
	case head.V > Version:
		return fmt.Errorf("%w: version %d, this build reads versions up to %d", ErrNewer, head.V, Version)
	case err != nil:
		return JSONError(err)
	}
	return malformed("v", "the version of the record, 1 to %d, got %d", Version, v)
}

// asTagged makes omitempty leave out zeros too, as in encoding/json.
var asTagged = legacy.OmitEmptyWithLegacySemantics(true)

func encoded(dst []byte, record any) ([]byte, error) {
	b, err := json.Marshal(record, asTagged)
	switch {
	case err != nil:
		return dst, JSONError(err)
	case len(b) > MaxRecordBytes:
		return dst, &TooLargeError{Bytes: len(b)}
	case dst == nil:
		return b, nil // nothing to copy it behind
	}
	return append(dst, b...), nil
}
