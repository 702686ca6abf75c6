package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Shape lists the kinds of items that the answers of a platform hold, each with its fields. The kind "" is the answer
// itself. A kind without fields is known to hold neither text nor citations.
//
// A field is a path and a form, such as "results[].url text". In the path, [] follows the name of a list whose objects
// all have the rest of the path, and ? a name that may be missing or null. The forms are text, texts, number, numbers,
// which are whole, flag, null, and, for items:
//
//   - items is a list of objects, each of the kind that its field type names; item is one such object,
//   - union is a list of objects, each of the kind of the field that it has.
//
// "items:url" and "union:web" name a kind that the list holds. Where the list is missing, that kind must not stand
// elsewhere in the object: then the list was renamed. "text|items" is either.
type Shape map[string][]string

// checker checks one answer.
type checker struct {
	shape   Shape
	unknown []string // kinds of items that the shape does not list
}

// Check returns an error of class changed_shape, which names the field, if a known item of the answer lacks a field or
// has one of another form. An item of an unknown kind is counted and passed over: it may be new, and the answer without
// it is still an answer.
func (d *Draft) Check(answer Object, s Shape) error {
	c := checker{shape: s}
	err := c.item(answer, "", "")
	d.unknown = append(d.unknown, c.unknown...)
	return err
}

func (c *checker) item(item Object, kind, place string) error {
	for _, field := range c.shape[kind] {
		path, form, _ := strings.Cut(field, " ")
		if err := c.field(item, place, path, form); err != nil {
			return err
		}
	}
	return nil
}

// field checks the field at a path below an object, or below each object of a list.
func (c *checker) field(o Object, place, path, form string) error {
	segment, rest, nested := strings.Cut(path, ".")
	segment, isList := strings.CutSuffix(segment, "[]")
	name, optional := strings.CutSuffix(segment, "?")
	value, has := o[name]
	below := strings.TrimPrefix(place+"."+name, ".")
	switch {
	case value == nil && optional:
		return c.renamed(o, place, path, form)
	case !has, value == nil && !strings.HasSuffix(form, "|null"):
		return ChangedShape("%s has no field %s", orAnswer(place), name)
	case !nested:
		return c.value(value, below, form)
	case !isList:
		return c.nested(value, below, rest, form)
	}
	list, ok := value.([]any)
	if !ok {
		return ChangedShape("%s is no list", below)
	}
	for i, item := range list {
		if err := c.nested(item, index(below, i), rest, form); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) nested(value any, place, path, form string) error {
	o, ok := value.(map[string]any)
	if !ok {
		return ChangedShape("%s is no object", place)
	}
	return c.field(o, place, path, form)
}

// renamed returns an error if the object lacks a list, and what the list would hold stands elsewhere in it.
func (c *checker) renamed(o Object, place, path, form string) error {
	form, kind, _ := strings.Cut(form, ":")
	hasKind := func(o Object) bool { return o.Kind() == kind }
	if form != "items" {
		if strings.Contains(path, "[]") {
			kind = path[strings.LastIndex(path, ".")+1:]
		}
		hasKind = func(o Object) bool { return o[kind] != nil }
	}
	if kind != "" && contains(map[string]any(o), hasKind) {
		return ChangedShape("%s has no field %s, but %s in another field", orAnswer(place), path, kind)
	}
	return nil
}

// contains reports whether an object with the property stands anywhere in v.
func contains(v any, property func(Object) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if property(v) {
			return true
		}
		for _, value := range v {
			if contains(value, property) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return contains(item, property) })
	}
	return false
}

// value checks that a value has one of the forms.
func (c *checker) value(value any, place, forms string) error {
	list, isList := value.([]any)
	_, isObject := value.(map[string]any)
	for form := range strings.SplitSeq(forms, "|") {
		form, _, _ = strings.Cut(form, ":")
		element, isPlural := strings.CutSuffix(form, "s")
		switch {
		case (form == "items" || form == "union") && isList:
			return c.items(list, place, form)
		case form == "item" && isObject:
			return c.items([]any{value}, place, "items")
		case isPlural && isList && !slices.ContainsFunc(list, func(v any) bool { return !hasForm(v, element) }),
			hasForm(value, form):
			return nil
		}
	}
	return ChangedShape("%s has not the form %s", place, forms)
}

func hasForm(value any, form string) bool {
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
func (c *checker) items(list []any, place, form string) error {
	unknown := 0
	for i, value := range list {
		o, ok := value.(map[string]any)
		if !ok {
			return ChangedShape("%s is no object", index(place, i))
		}
		kind := Object(o).Kind()
		if form == "union" {
			kind = c.kindOfUnion(o)
		} else if kind == "" {
			return ChangedShape("%s has no type", index(place, i))
		}
		if _, ok := c.shape[kind]; !ok || kind == "" {
			unknown++
			c.unknown = append(c.unknown, kind)
			continue
		}
		if err := c.item(o, kind, index(place, i)); err != nil {
			return err
		}
	}
	if form == "union" && unknown > 0 && unknown == len(list) {
		return ChangedShape("%s has no item of a known kind", place)
	}
	return nil
}

// kindOfUnion returns the known kind that a field of the object names, one that holds text or citations before others;
// else the names of the fields.
func (c *checker) kindOfUnion(o Object) string {
	var kinds, names []string
	for name, value := range o {
		if _, ok := c.shape[name]; ok && value != nil {
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

func index(place string, i int) string { return place + "[" + strconv.Itoa(i) + "]" }

func orAnswer(place string) string {
	if place == "" {
		return "the answer"
	}
	return place
}
