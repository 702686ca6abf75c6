package event

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"
)

// JSONError makes a MalformedError of an error of the JSON library: which field it is about, and what would be right
// there. A type that reads itself returns a MalformedError. What is quoted of the record is cut, as it may be large.
func JSONError(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return malformed(path(e.JSONPointer), "valid JSON in UTF-8: %.120s", e.Err)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return malformed("", "valid JSON: %.120s", err)
	}
	if own, ok := errors.AsType[*MalformedError](e.Err); ok {
		return malformed(path(e.JSONPointer), "%s", own.Want)
	}
	want := wanted(e.GoType)
	switch {
	case len(e.JSONValue) > 0:
		want += fmt.Sprintf(", got %.40s", e.JSONValue)
	case e.JSONKind > 0:
		want += ", got " + jsonKinds[e.JSONKind]
	}
	return malformed(path(e.JSONPointer), "%s", want)
}

var jsonKinds = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// wanted names the JSON that t is read from.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return "another value"
	case t.Kind() == reflect.Pointer:
		return wanted(t.Elem())
	case t == reflect.TypeFor[uuid.UUID]():
		return "a UUID such as 0195a2b4-6c00-7c1e-9d3f-2b1a4c5d6e7f"
	case t == reflect.TypeFor[Time]():
		return "an RFC 3339 time such as " + timeLayout
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer of 64 bits"
	case reflect.Uint64:
		return "an unsigned integer of 64 bits"
	case reflect.Float64:
		return "a number that a float of 64 bits can hold"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// path writes /competitors/2/id as competitors[2].id; of a deep record or long keys only the first bytes.
func path(p jsontext.Pointer) string {
	const most = 200
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case digits(token, 10):
			token = "[" + token + "]"
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(token)
		if b.Len() > most {
			return strings.ToValidUTF8(b.String()[:most], "") + "…"
		}
	}
	return b.String()
}
