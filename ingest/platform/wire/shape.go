package wire

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object whose type decides which fields it has.
type Object = jsontext.Value

// Decode reads JSON into a value. A field of a struct whose tag says `need:"true"` is a pointer or a slice and has to
// be there; `need:"null"` is one that may be null. Unknown fields are passed over; names match by case. Its errors are
// of class changed_shape and name the field; at is where the JSON stands in the answer.
func Decode(text []byte, into any, at string) error {
	if err := json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Changed("%s is no JSON of the known form: %w", where(at), err)
	}
	var present map[string]jsontext.Value // read only where null has to be distinguished from missing
	return needed(reflect.ValueOf(into).Elem(), at, func(name string) bool {
		if present == nil {
			_ = json.Unmarshal(text, &present, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // it was read before
		}
		_, has := present[name]
		return has
	})
}

// needed returns an error for the first field that is needed and is not there, in v and in structs below it.
func needed(v reflect.Value, at string, has func(name string) bool) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return needed(v.Elem(), at, nil)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := needed(v.Index(i), at+"["+strconv.Itoa(i)+"]", nil); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			need := field.Tag.Get("need")
			if need != "" && v.Field(i).IsNil() && (need == "true" || has == nil || !has(name)) {
				return Changed("%s has no field %s", where(at), name)
			}
			if err := needed(v.Field(i), strings.TrimPrefix(at+"."+name, "."), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func where(at string) string {
	if at == "" {
		return "the answer"
	}
	return at
}

// Items reads each object of a list by its type, which every object has to have.
func Items(items []Object, at string, read func(kind string, item Object, at string) error) error {
	for i, item := range items {
		var of struct {
			Type *string `json:"type" need:"true"`
		}
		place := at + "[" + strconv.Itoa(i) + "]"
		if err := Decode(item, &of, place); err != nil {
			return err
		}
		if *of.Type == "" {
			return Changed("%s has an empty type", place)
		}
		if err := read(*of.Type, item, place); err != nil {
			return err
		}
	}
	return nil
}

// Lenient reads what an answer can do without, such as its usage; false if it is not there, has another form, or has
// not what it needs.
func Lenient(text Object, into any) bool {
	return len(text) > 0 && string(text) != "null" && Decode(text, into, "") == nil
}

// Tally counts the names of fields anywhere in JSON, and, as "type:…", the types of objects. What a reader saw fewer of
// than there are stands in a field that is not read: its list was renamed.
func Tally(text []byte) map[string]int {
	counts := map[string]int{}
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name := ""
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return counts
		}
		kind, length := decoder.StackIndex(decoder.StackDepth())
		switch isName := kind == '{' && length%2 == 1 && token.Kind() == '"'; {
		case isName:
			name = token.String()
			counts[name]++
		case name == "type" && token.Kind() == '"':
			counts["type:"+token.String()]++
			name = ""
		default:
			name = ""
		}
	}
}
