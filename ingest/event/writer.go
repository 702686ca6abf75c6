package event

import (
	"encoding/hex"
	"strconv"

	"github.com/gofrs/uuid/v5"
)

// writer appends JSON. Names of fields come with their punctuation, so that a
// field is one copy of a constant and one of its value. Those called some leave
// out what is empty, as omitempty says.
type writer struct{ b []byte }

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

func (w *writer) text(name, s string) {
	w.b = append(w.b, name...)
	w.str(s)
}

func (w *writer) someText(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) texts(name string, all []string) {
	for i, s := range all {
		if i == 0 {
			w.raw(name)
			w.raw(`[`)
		} else {
			w.raw(`,`)
		}
		w.str(s)
	}
	if len(all) > 0 {
		w.raw(`]`)
	}
}

// str escapes only what JSON demands.
func (w *writer) str(s string) {
	b := append(w.b, '"')
	start := 0
	for end := plain(s, 0); end < len(s); end = plain(s, start) {
		b = append(b, s[start:end]...)
		switch c := s[end]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&0xf])
		}
		start = end + 1
	}
	b = append(b, s[start:]...)
	w.b = append(b, '"')
}

func (w *writer) flag(name string, set bool) {
	w.b = strconv.AppendBool(append(w.b, name...), set)
}

func (w *writer) someFlag(nameAndTrue string, set bool) {
	if set {
		w.raw(nameAndTrue)
	}
}

func (w *writer) integer(name string, n int64) {
	w.b = strconv.AppendInt(append(w.b, name...), n, 10)
}

func (w *writer) someInteger(name string, n int64) {
	if n != 0 {
		w.integer(name, n)
	}
}

func (w *writer) id(name string, id uuid.UUID) {
	var s [38]byte
	s[0], s[9], s[14], s[19], s[24], s[37] = '"', '-', '-', '-', '-', '"'
	hex.Encode(s[1:9], id[:4])
	hex.Encode(s[10:14], id[4:6])
	hex.Encode(s[15:19], id[6:8])
	hex.Encode(s[20:24], id[8:10])
	hex.Encode(s[25:37], id[10:])
	w.b = append(append(w.b, name...), s[:]...)
}

func (w *writer) someID(name string, id *uuid.UUID) {
	if id != nil {
		w.id(name, *id)
	}
}

func (w *writer) instant(name string, t Time) {
	w.b = t.append(append(w.b, name...))
}
