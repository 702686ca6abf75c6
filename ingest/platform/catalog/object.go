package catalog

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// object is a JSON object. The methods read a path of names, such as "action.url"; a value that is missing or of
// another form is zero.
type object map[string]any

// decode reads the JSON object of an answer.
func decode(text []byte) (object, error) {
	var o object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // amounts are decimal
	if err := decoder.Decode(&o); err != nil {
		return nil, changedShape("the answer is no JSON object: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF || o == nil {
		return nil, changedShape("the answer is not one JSON object")
	}
	return o, nil
}

func (o object) value(path string) any {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return o[name]
	}
	return o.object(name).value(rest)
}

func (o object) object(path string) object {
	inner, _ := o.value(path).(map[string]any)
	return inner
}

func (o object) kind() string { return o.text("type") }

func (o object) text(path string) string {
	text, _ := o.value(path).(string)
	return text
}

// number returns the whole number at a path.
func (o object) number(path string) (int64, bool) {
	number, _ := o.value(path).(json.Number)
	n, err := number.Int64()
	return n, err == nil
}

// decimal returns the number at a path as it is written.
func (o object) decimal(path string) string {
	number, _ := o.value(path).(json.Number)
	return number.String()
}

// list returns the objects of a list; an item of another form is nil.
func (o object) list(path string) (list []object) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		inner, _ := item.(map[string]any)
		list = append(list, inner)
	}
	return list
}

func (o object) texts(path string) (list []string) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// numbers returns the whole numbers of a list.
func (o object) numbers(path string) (list []int64) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		if number, ok := item.(json.Number); ok {
			n, _ := number.Int64()
			list = append(list, n)
		}
	}
	return list
}

// counts returns the whole numbers at paths. ok is false if one is missing or has another form; a missing one is 0 if
// its path ends with ?.
func (o object) counts(paths ...string) (counts []int64, ok bool) {
	for _, path := range paths {
		path, optional := strings.CutSuffix(path, "?")
		n, isNumber := o.number(path)
		if !isNumber && !(optional && o.value(path) == nil) {
			return nil, false
		}
		counts = append(counts, n)
	}
	return counts, true
}
