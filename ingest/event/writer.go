package event

import (
	"encoding/hex"

	"github.com/go-faster/jx"
	"github.com/gofrs/uuid/v5"
)

// writer appends JSON. Field names come with their punctuation, so that a field
// is one copy of a constant and one of its value.
type writer struct{ jx.Writer }

func (w *writer) text(name, s string) {
	w.RawStr(name)
	w.Str(s)
}

// someText leaves out what is empty, as omitempty says.
func (w *writer) someText(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) flag(name string, set bool) {
	w.RawStr(name)
	w.Bool(set)
}

func (w *writer) someFlag(nameAndTrue string, set bool) {
	if set {
		w.RawStr(nameAndTrue)
	}
}

func (w *writer) number(name string, n int64) {
	w.RawStr(name)
	w.Int64(n)
}

func (w *writer) someNumber(name string, n int64) {
	if n != 0 {
		w.number(name, n)
	}
}

func (w *writer) id(name string, id uuid.UUID) {
	w.RawStr(name)
	var s [38]byte
	s[0], s[9], s[14], s[19], s[24], s[37] = '"', '-', '-', '-', '-', '"'
	hex.Encode(s[1:9], id[:4])
	hex.Encode(s[10:14], id[4:6])
	hex.Encode(s[15:19], id[6:8])
	hex.Encode(s[20:24], id[8:10])
	hex.Encode(s[25:37], id[10:])
	w.Raw(s[:])
}

func (w *writer) someID(name string, id *uuid.UUID) {
	if id != nil {
		w.id(name, *id)
	}
}

func (w *writer) instant(name string, t Time) {
	w.RawStr(name)
	w.Buf = t.append(w.Buf)
}

func (w *writer) texts(name string, all []string) {
	for i, s := range all {
		if i == 0 {
			w.RawStr(name)
			w.RawStr(`[`)
		} else {
			w.RawStr(`,`)
		}
		w.Str(s)
	}
	if len(all) > 0 {
		w.RawStr(`]`)
	}
}
