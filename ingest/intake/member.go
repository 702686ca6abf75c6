package intake

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose fields are taken one by one, so that a fault
// names the field and what would be right. encoding/json alone would match
// names in any case, keep the last of two and speak of Go types.
type object struct {
	at     string // where it is, for example "citations[2].", "" at the top
	fields map[string]json.RawMessage
	twice  map[string]bool
	faults *[]string
}

// open splits a valid JSON object into its fields.
func open(at string, raw json.RawMessage, faults *[]string) object {
	o := object{at: at, fields: map[string]json.RawMessage{}, faults: faults}
	rest := raw[1:]
	for {
		name, after := value(rest)
		if name == nil {
			return o
		}
		var key string
		if err := json.Unmarshal(name, &key); err != nil {
			o.fault("%s: %v", clip(name), err)
		}
		field, after := value(after)
		rest = after
		if _, there := o.fields[key]; there {
			if o.twice == nil {
				o.twice = map[string]bool{}
			}
			o.twice[key] = true
		}
		o.fields[key] = field
	}
}

// value cuts the next value off JSON that is known to be valid; nil at the end
// of an object or array.
func value(raw []byte) (value, rest []byte) {
	start := 0
	for start < len(raw) && strings.IndexByte(" \t\r\n,:", raw[start]) >= 0 {
		start++
	}
	depth, quoted := 0, false
	for i := start; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && strings.IndexByte("]},: \t\r\n", c) >= 0:
			if i == start {
				return nil, nil
			}
			return raw[start:i], raw[i:]
		}
	}
	return nil, nil
}

func (o object) fault(format string, args ...any) {
	*o.faults = append(*o.faults, o.at+fmt.Sprintf(format, args...))
}

// take returns the field, or nil when it is absent or null.
func (o object) take(name string) json.RawMessage {
	if o.twice[name] {
		o.fault("%s is there twice: want it once", name)
		return nil
	}
	if raw := o.fields[name]; string(raw) != "null" {
		return raw
	}
	return nil
}

// text takes a string of at most limit bytes; "" when it is absent.
func (o object) text(name string, limit int) string {
	raw := o.take(name)
	if raw == nil {
		return ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		o.fault("%s %s: want a string", name, clip(raw))
	} else if len(s) > limit {
		o.fault("%s of %d bytes: want at most %d", name, len(s), limit)
	}
	return s
}

// given is text of a field that has to be there, though it may be empty.
func (o object) given(name string, limit int) string {
	if raw, there := o.fields[name]; !there || string(raw) == "null" {
		o.fault("%s is missing: want a string", name)
		return ""
	}
	return o.text(name, limit)
}

// must is text of a field that has to be there and to hold more than white space.
func (o object) must(name string, limit int) string {
	before := len(*o.faults)
	s := o.given(name, limit)
	if len(*o.faults) == before && strings.TrimSpace(s) == "" {
		o.fault("%s is empty: want a string that is not", name)
	}
	return s
}

// integer takes a whole number from least to most; absent gives otherwise.
func (o object) integer(name string, least, most, otherwise int64) int64 {
	raw := o.take(name)
	if raw == nil {
		return otherwise
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, floatErr := strconv.ParseFloat(string(raw), 64)
		if floatErr == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			n, err = int64(f), nil
		}
	}
	if err != nil || n < least || n > most {
		bound := fmt.Sprintf("of %d or more", least)
		if err == nil && n > most {
			bound = fmt.Sprintf("of at most %d", most)
		}
		o.fault("%s %s: want an integer %s", name, clip(raw), bound)
	}
	return n
}

// number takes a number from 0 to most; 0 when it is absent.
func (o object) number(name string, most float64) float64 {
	raw := o.take(name)
	if raw == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < 0 || f > most {
		o.fault("%s %s: want a number from 0 to %.0f", name, clip(raw), most)
	}
	return f
}

// truth takes true or false.
func (o object) truth(name string, otherwise bool) bool {
	raw := o.take(name)
	if raw == nil {
		return otherwise
	}
	if s := string(raw); s != "true" && s != "false" {
		o.fault("%s %s: want true or false", name, clip(raw))
	}
	return string(raw) == "true"
}

// list takes an array of at most so many objects.
func (o object) list(name string, most int) []object {
	raw := o.take(name)
	if raw == nil {
		return nil
	}
	if raw[0] != '[' {
		o.fault("%s %s: want a list of objects", name, clip(raw))
		return nil
	}
	var objects []object
	rest := []byte(raw[1:])
	for {
		item, after := value(rest)
		if item == nil {
			return objects
		}
		rest = after
		if len(objects) == most {
			o.fault("%s of over %d: want at most so many", name, most)
			return nil
		}
		at := fmt.Sprintf("%s%s[%d]", o.at, name, len(objects))
		if item[0] != '{' {
			*o.faults = append(*o.faults, fmt.Sprintf("%s %s: want an object", at, clip(item)))
			return nil
		}
		objects = append(objects, open(at+".", item, o.faults))
	}
}

// clip shows the beginning of a value in a message.
func clip(raw []byte) string {
	const most = 60
	if len(raw) <= most {
		return string(raw)
	}
	cut := raw[:most]
	for len(cut) > 0 && !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return string(cut) + "…"
}
