package event

import (
	"slices"
	"unicode/utf8"
)

// JSON is read and written by this package itself: scan.go walks the text, a
// switch per object names the fields. No library was kept, by these figures:
// thousand records a second on one core of an AMD EPYC, best of twelve runs of
// go test -run '^$' -bench Library -cpu 1 -count 12 ./ingest/event. Ours include
// the laws of Decode and one check of UTF-8, the others only read and write.
//
//	                visit, 389 bytes      answer, 5.8 KB
//	                decode    encode      decode    encode
//	ours              1410      1800         104       166
//	goccy/go-json     1660      1450          97       239
//	segmentio         1070      1130          55       129
//	sonic              840       980          87       164
//	encoding/json      280       750          23       106
//	(json.Valid)       880                    63
//
// goccy is as fast, but no library names the field that is wrong and what would
// be right, all of them read "\xff" as U+FFFD without a word and take keys in
// any case, one (segmentio) and go-faster/jx wrap integers beyond 64 bits around,
// and goccy and sonic rest on the runtime's internals, which every release of Go
// may move. encoding/json/v2 needs GOEXPERIMENT in Go 1.26. What ours accepts is
// held against encoding/json by the fuzz tests, and against the tags of the
// types by TestCodecAgreesWithTags.

// DecodeAnswer reads an answer's record. b may be used again afterwards.
//
// The error is a NewerError when v is newer than Version, whatever else the
// record holds, and a MalformedError when the record breaks a law that holds at
// any time: UTF-8, required fields, ids, enumerations, ranges. Fields that this
// version does not know are passed over.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	r := reader{scan{s: string(b)}}
	if err := r.whole(r.answer(a), a.V); err != nil {
		return err
	}
	return a.law()
}

// DecodeVisit reads a visit's record; errors as DecodeAnswer.
func DecodeVisit(b []byte, v *Visit) error {
	*v = Visit{}
	r := reader{scan{s: string(b)}}
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
	w := writer{slices.Grow(dst, 2048+len(a.Text)+len(a.Text)/8+256*(len(a.Citations)+len(a.Competitors)+2*len(a.Products)))}
	w.answer(a)
	return w.end(dst)
}

// EncodeVisit appends the record of v to dst, as EncodeAnswer.
func EncodeVisit(dst []byte, v *Visit) ([]byte, error) {
	w := writer{slices.Grow(dst, 640)}
	w.visit(v)
	return w.end(dst)
}

// whole judges the record at its end: err is what its fields said.
func (r *reader) whole(err error, v int) error {
	if err == nil && !r.ended() {
		err = malformed("nothing after the object")
	}
	if err == nil && !utf8.ValidString(r.s) {
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
	r.i = 0
	_ = r.object(func(key string) error { // what follows v may be anything
		if key == "v" {
			return r.integer(&v)
		}
		return r.skip()
	})
	return v
}

func (w *writer) end(dst []byte) ([]byte, error) {
	value := w.b[len(dst):]
	switch {
	case len(value) > MaxRecordBytes:
		return dst, &TooLargeError{Bytes: len(value)}
	case !utf8.Valid(value):
		return dst, malformed("valid UTF-8")
	}
	return w.b, nil
}
