package event

import (
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// The JSON library is jx, one switch per object. On real-sized records, one core
// of an AMD EPYC, go test -bench Library ./ingest/event (the ratios matter, the
// machine is small):
//
//	see library_test.go
//
// The others were refused for more than speed: they name neither the field nor
// what would be right, read "\xff" as U+FFFD without a word, take keys in any
// case, and sonic rests on assembly that follows each Go release.

// DecodeAnswer reads an answer's record. b may be used again afterwards.
//
// The error is a NewerError when v is newer than Version, whatever else the
// record holds, and a MalformedError when the record breaks a law that holds at
// any time: UTF-8, required fields, ids, enumerations, ranges. Fields that this
// version does not know are passed over.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	var r reader
	r.reset(b)
	if err := r.whole(r.answer(a), a.V); err != nil {
		return err
	}
	return a.law()
}

// DecodeVisit reads a visit's record; errors as DecodeAnswer.
func DecodeVisit(b []byte, v *Visit) error {
	*v = Visit{}
	var r reader
	r.reset(b)
	if err := r.whole(r.visit(v), v.V); err != nil {
		return err
	}
	return v.law()
}

// EncodeAnswer appends the record of a to dst, as version Version whatever a.V
// says. It does not judge the answer (Check does), but never writes what no
// reader could read: the error is a TooLargeError, or a MalformedError for text
// that is no UTF-8; dst is then returned as it was.
func EncodeAnswer(dst []byte, a *Answer) ([]byte, error) {
	w := writer{jx.Writer{Buf: dst}}
	w.answer(a)
	return w.end(dst)
}

// EncodeVisit appends the record of v to dst, as EncodeAnswer.
func EncodeVisit(dst []byte, v *Visit) ([]byte, error) {
	w := writer{jx.Writer{Buf: dst}}
	w.visit(v)
	return w.end(dst)
}

// whole judges the record at its end: err is what its fields said.
func (r *reader) whole(err error, v int) error {
	if err == nil && !r.ended() {
		err = malformed("nothing after the object")
	}
	if err == nil && !utf8.ValidString(r.all) {
		err = malformed("valid UTF-8")
	}
	if err != nil {
		// A newer version may have changed the very field that was refused.
		if v := r.version(); v > Version {
			return &NewerError{V: v}
		}
		return err
	}
	switch {
	case v > Version:
		return &NewerError{V: int64(v)}
	case v < 1:
		return within("v", malformed("the version of the record, 1 to %d, got %d", Version, v))
	}
	return nil
}

// version looks for v alone: 0 when there is none to be found.
func (r *reader) version() int64 {
	var v int64
	r.ResetBytes(r.raw)
	_ = r.object(func(key []byte) error { // what follows v may be anything
		if string(key) == "v" {
			return r.number(&v)
		}
		return r.skip()
	})
	return v
}

func (w *writer) end(dst []byte) ([]byte, error) {
	value := w.Buf[len(dst):]
	switch {
	case len(value) > MaxRecordBytes:
		return dst, &TooLargeError{Bytes: len(value)}
	case !utf8.Valid(value):
		return dst, malformed("valid UTF-8")
	}
	return w.Buf, nil
}
