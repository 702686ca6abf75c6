package event

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
)

// The codec is github.com/go-json-experiment/json: the package that is
// encoding/json/v2 of the standard library from Go 1.27 on, where this module
// becomes an alias of it. Thousand records a second of one core's processor
// time, AMD EPYC, Go 1.26, best of twelve runs of
// go test -run '^$' -bench Library -cpu 1 -count 12 ./ingest/event; ours is
// json/v2 with the laws of Decode, and for a visit as we write it scan.go and
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
// It is not the fastest, and is chosen because a wrong record is refused by it,
// with the field's place, where the others read something else: they take keys
// in any case and of equal keys the last, and "\xff" as U+FFFD without a word
// (TestLibrariesOnHostileRecords). segmentio, next in line, also wraps integers
// beyond 64 bits around, so that no bound of law.go could see them, and has no
// limit of depth: eight megabytes of "[" overflow the stack, which no recover
// survives. goccy and sonic rest on the runtime's internals, which every release
// of Go may move. encoding/json is too slow.

// DecodeAnswer reads an answer's record. b may be used again afterwards.
//
// The error is a NewerError when v is newer than Version, whatever else the
// record holds, and a MalformedError when the record breaks a law that holds at
// any time: UTF-8, required fields, ids, enumerations, ranges. Fields that this
// version does not know are passed over.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	if err := decoded(b, json.Unmarshal(b, a), a.V); err != nil {
		return err
	}
	if len(a.Competitors) == 0 {
		a.Competitors = nil // always written, so a list of none must be read as it was
	}
	var p problems
	a.law(&p)
	return p.err()
}

// DecodeVisit reads a visit's record; b may be used again afterwards, and errors are
// those of DecodeAnswer.
func DecodeVisit(b []byte, v *Visit) error { return DecodeVisitInPlace(bytes.Clone(b), v) }

// DecodeVisitInPlace is DecodeVisit for a reader that keeps nothing of v, or b as long:
// the texts of v may be those of b, which must not change while they are used.
func DecodeVisitInPlace(b []byte, v *Visit) error {
	*v = Visit{}
	if !scanVisit(b, v) {
		*v = Visit{}
		if err := decoded(b, json.Unmarshal(b, v), v.V); err != nil {
			return err
		}
	}
	var p problems
	v.law(&p)
	return p.err()
}

// EncodeAnswer appends the record of a to dst, as version Version whatever a.V
// says. It does not judge the answer (Check does), but never writes what no
// reader could read: the error is a TooLargeError, or a MalformedError for text
// that is no UTF-8; dst is then returned as it was.
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

// decoded judges the record b, of which version v was read until err.
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
		return &NewerError{V: head.V}
	case err != nil:
		return refusal(err)
	}
	return malformed("v", "the version of the record, 1 to %d, got %d", Version, v)
}

// asTagged lets omitempty out zeros too, as in encoding/json.
var asTagged = legacy.OmitEmptyWithLegacySemantics(true)

func encoded(dst []byte, record any) ([]byte, error) {
	b, err := json.Marshal(record, asTagged)
	switch {
	case err != nil:
		return dst, refusal(err)
	case len(b) > MaxRecordBytes:
		return dst, &TooLargeError{Bytes: len(b)}
	case dst == nil:
		return b, nil // nothing to copy it behind
	}
	return append(dst, b...), nil
}
