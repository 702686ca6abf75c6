package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Shape lists the kinds of items that the answers of a platform hold, each with its fields. The kind "" is the answer
// itself. A kind without fields is known to hold neither text nor citations.
//
// A field is a path and a form, such as "results[].url text". In the path, [] follows the name of a list whose objects
// all have the rest of the path, and ? a name that may be missing or null. The forms are text, texts, number, numbers
// (whole numbers), flag, null, and, for items:
//
//   - items is a list of objects, each of the kind that its field type names; item is one such object,
//   - union is a list of objects, each of the kind of the field that it has.
//
// "items:url" and "union:web" name a kind that the list holds. Where the list is missing, that kind must not stand
// elsewhere in the object: then the list was renamed. "text|items" is either.
type Shape map[string][]string

// check is the check of one answer.
type check struct {
	shape   Shape
	unknown []string // kinds of items that the shape does not list
}

// Check returns an error of class changed_shape, which names the field, if a known item of the answer lacks a field or
// has one of another form. An item of an unknown kind is counted and passed over: it may be new, and the answer without
// it is still an answer.
func (d *Draft) Check(answer Object, shape Shape) error {
	c := check{shape: shape}
	err := c.item(answer, "", "")
	d.unknown = append(d.unknown, c.unknown...)
	return err
}

func (c *check) item(item Object, kind, at string) error {
	for _, field := range c.shape[kind] {
		path, form, _ := strings.Cut(field, " ")
		if err := c.field(item, at, path, form); err != nil {
			return err
		}
	}
	return nil
}

// field checks the field at a path below an object, or below each object of a list.
func (c *check) field(object Object, at, path, form string) error {
	segment, rest, nested := strings.Cut(path, ".")
	segment, isList := strings.CutSuffix(segment, "[]")
	name, optional := strings.CutSuffix(segment, "?")
	value, has := object[name]
	below := strings.TrimPrefix(at+"."+name, ".")
	switch {
	case value == nil && optional:
		return c.renamed(object, at, path, form)
	case !has, value == nil && !strings.HasSuffix(form, "|null"):
		return Changed("%s has no field %s", where(at), name)
	case !nested:
		return c.value(value, below, form)
	}
	objects := []any{value}
	if isList {
		list, ok := value.([]any)
		if !ok {
			return Changed("%s is no list", below)
		}
		objects = list
	}
	for i, v := range objects {
		place := below
		if isList {
			place += "[" + strconv.Itoa(i) + "]"
		}
		object, ok := v.(map[string]any)
		if !ok {
			return Changed("%s is no object", place)
		}
		if err := c.field(object, place, rest, form); err != nil {
			return err
		}
	}
	return nil
}

// renamed returns an error if the object lacks a list, and what the list would hold stands elsewhere in it.
func (c *check) renamed(object Object, at, path, form string) error {
	form, kind, _ := strings.Cut(form, ":")
	isIt := func(o Object) bool { return o.Kind() == kind }
	if form != "items" {
		if strings.Contains(path, "[]") {
			kind = path[strings.LastIndex(path, ".")+1:]
		}
		isIt = func(o Object) bool { return o[kind] != nil }
	}
	if kind != "" && holds(map[string]any(object), isIt) {
		return Changed("%s has no field %s, but %s in another field", where(at), path, kind)
	}
	return nil
}

// holds reports whether an object with that property stands anywhere in v.
func holds(v any, property func(Object) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if property(v) {
			return true
		}
		for _, value := range v {
			if holds(value, property) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holds(item, property) })
	}
	return false
}

// value checks that a value has one of the forms.
func (c *check) value(value any, at, forms string) error {
	for form := range strings.SplitSeq(forms, "|") {
		form, _, _ = strings.Cut(form, ":")
		list, isList := value.([]any)
		_, isObject := value.(map[string]any)
		switch {
		case form == "items" && isList, form == "union" && isList:
			return c.items(list, at, form)
		case form == "item" && isObject:
			return c.items([]any{value}, at, "items")
		case form == "texts" && isList && !slices.ContainsFunc(list, func(v any) bool { return !is(v, "text") }),
			form == "numbers" && isList && !slices.ContainsFunc(list, func(v any) bool { return !is(v, "number") }),
			is(value, form):
			return nil
		}
	}
	return Changed("%s has not the form %s", at, forms)
}

func is(value any, form string) bool {
	switch v := value.(type) {
	case nil:
		return form == "null"
	case string:
		return form == "text"
	case bool:
		return form == "flag"
	case json.Number:
		_, err := v.Int64()
		return form == "number" && err == nil
	}
	return false
}

// items checks every item of a known kind, and counts the others.
func (c *check) items(list []any, at, form string) error {
	unknown := 0
	for i, v := range list {
		place := at + "[" + strconv.Itoa(i) + "]"
		object, ok := v.(map[string]any)
		if !ok {
			return Changed("%s is no object", place)
		}
		kind := Object(object).Kind()
		if form == "union" {
			kind = c.fieldKind(object)
		} else if kind == "" {
			return Changed("%s has no type", place)
		}
		if _, known := c.shape[kind]; !known || kind == "" {
			unknown++
			c.unknown = append(c.unknown, kind)
			continue
		}
		if err := c.item(object, kind, place); err != nil {
			return err
		}
	}
	if form == "union" && unknown > 0 && unknown == len(list) {
		return Changed("%s has no item of a known kind", at)
	}
	return nil
}

// fieldKind returns the known kind that a field of the object names, one that holds text or citations before others;
// else the names of the fields.
func (c *check) fieldKind(object Object) string {
	var kinds, names []string
	for name, value := range object {
		if _, known := c.shape[name]; known && value != nil {
			kinds = append(kinds, name)
		}
		names = append(names, name)
	}
	if len(kinds) > 0 {
		return slices.MaxFunc(kinds, func(a, b string) int { return len(c.shape[a]) - len(c.shape[b]) })
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}

func where(at string) string {
	if at == "" {
		return "the answer"
	}
	return at
}

// Object is a JSON object. The methods read a path of names, such as "action.url"; a value that is missing or of
// another form is zero.
type Object map[string]any

// Decode reads the JSON object of an answer.
func Decode(text []byte) (Object, error) {
	var object Object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // amounts are decimal
	if err := decoder.Decode(&object); err != nil {
		return nil, Changed("the answer is no JSON object: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF || object == nil {
		return nil, Changed("the answer is not one JSON object")
	}
	return object, nil
}

func (o Object) value(path string) any {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return o[name]
	}
	return o.Object(name).value(rest)
}

// Object returns the object at a path.
func (o Object) Object(path string) Object {
	object, _ := o.value(path).(map[string]any)
	return object
}

// Kind returns the field type.
func (o Object) Kind() string { return o.Text("type") }

// Text returns the text at a path.
func (o Object) Text(path string) string {
	text, _ := o.value(path).(string)
	return text
}

// Number returns the whole number at a path.
func (o Object) Number(path string) (int64, bool) {
	number, _ := o.value(path).(json.Number)
	n, err := number.Int64()
	return n, err == nil
}

// Decimal returns the number at a path as it is written.
func (o Object) Decimal(path string) string {
	number, _ := o.value(path).(json.Number)
	return number.String()
}

// List returns the objects of the list at a path.
func (o Object) List(path string) (list []Object) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		list = append(list, object)
	}
	return list
}

// Texts returns the texts of the list at a path.
func (o Object) Texts(path string) (list []string) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// Numbers returns the whole numbers of the list at a path.
func (o Object) Numbers(path string) (list []int64) {
	items, _ := o.value(path).([]any)
	for _, item := range items {
		if number, ok := item.(json.Number); ok {
			n, _ := number.Int64()
			list = append(list, n)
		}
	}
	return list
}

// Counts returns the whole numbers at paths. ok is false if one is missing or has another form; a missing one is
// 0 if its path ends with ?.
func (o Object) Counts(paths ...string) (counts []int64, ok bool) {
	for _, path := range paths {
		path, optional := strings.CutSuffix(path, "?")
		n, isNumber := o.Number(path)
		if !isNumber && !(optional && o.value(path) == nil) {
			return nil, false
		}
		counts = append(counts, n)
	}
	return counts, true
}
