package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Object is a JSON object. The methods read a path of names, such as "action.url"; a value that is missing or of
// another form is zero.
type Object map[string]any

// Decode reads the JSON object of an answer.
func Decode(text []byte) (Object, error) {
	var o Object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // amounts are decimal
	if err := decoder.Decode(&o); err != nil {
		return nil, ChangedShape("the answer is no JSON object: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF || o == nil {
		return nil, ChangedShape("the answer is not one JSON object")
	}
	return o, nil
}

// Value returns the value at a path.
func (o Object) Value(path string) any {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return o[name]
	}
	return o.Object(name).Value(rest)
}

// Object returns the object at a path.
func (o Object) Object(path string) Object {
	inner, _ := o.Value(path).(map[string]any)
	return inner
}

// Kind returns the type that an item names.
func (o Object) Kind() string { return o.Text("type") }

// Text returns the text at a path.
func (o Object) Text(path string) string {
	text, _ := o.Value(path).(string)
	return text
}

// Number returns the whole number at a path.
func (o Object) Number(path string) (int64, bool) {
	number, _ := o.Value(path).(json.Number)
	n, err := number.Int64()
	return n, err == nil
}

// Decimal returns the number at a path as it is written.
func (o Object) Decimal(path string) string {
	number, _ := o.Value(path).(json.Number)
	return number.String()
}

// List returns the objects of a list; an item of another form is nil.
func (o Object) List(path string) (list []Object) {
	items, _ := o.Value(path).([]any)
	for _, item := range items {
		inner, _ := item.(map[string]any)
		list = append(list, inner)
	}
	return list
}

// Texts returns the texts of a list.
func (o Object) Texts(path string) (list []string) {
	items, _ := o.Value(path).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// Numbers returns the whole numbers of a list.
func (o Object) Numbers(path string) (list []int64) {
	items, _ := o.Value(path).([]any)
	for _, item := range items {
		if number, ok := item.(json.Number); ok {
			n, _ := number.Int64()
			list = append(list, n)
		}
	}
	return list
}

// Counts returns the whole numbers at paths. ok is false if one is missing or has another form; a missing one is 0 if
// its path ends with ?.
func (o Object) Counts(paths ...string) (counts []int64, ok bool) {
	for _, path := range paths {
		path, optional := strings.CutSuffix(path, "?")
		n, isNumber := o.Number(path)
		if !isNumber && !(optional && o.Value(path) == nil) {
			return nil, false
		}
		counts = append(counts, n)
	}
	return counts, true
}
