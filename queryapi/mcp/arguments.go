package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/problem"
)

// A property is the schema of an argument.
type property struct {
	Type        string    `json:"type"`
	Items       *property `json:"items,omitempty"`
	Enum        []string  `json:"enum,omitempty"`
	Minimum     *float64  `json:"minimum,omitempty"` // of every number
	Maximum     *float64  `json:"maximum,omitempty"`
	Default     any       `json:"default,omitempty"`
	Description string    `json:"description,omitempty"`
}

// arguments are the texts of a call's arguments by name, with the defaults of those that are left out. Lists stay JSON.
type arguments map[string]string

// readArguments returns a problem that names every mistake.
func (t tool) readArguments(text json.RawMessage) (arguments, error) {
	var sent map[string]json.RawMessage
	if len(text) > 0 && json.Unmarshal(text, &sent) != nil {
		return nil, problem.New(problem.Invalid, "arguments: want a JSON object")
	}
	args, mistakes := arguments{}, []string{}
	for name, p := range t.schema.Properties {
		if p.Default != nil {
			args[name] = fmt.Sprint(p.Default)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		p, ok := t.schema.Properties[name]
		if !ok {
			mistakes = append(mistakes, fmt.Sprintf("no argument %.60q: want some of %s", name,
				strings.Join(slices.Sorted(maps.Keys(t.schema.Properties)), ", ")))
			continue
		}
		if string(sent[name]) == "null" {
			continue
		}
		if args[name], ok = p.read(sent[name]); !ok {
			mistakes = append(mistakes, fmt.Sprintf("%s: want %s, got %.60s", name, p.want(), sent[name]))
		}
	}
	for _, name := range t.schema.Required {
		if _, ok := args[name]; !ok {
			mistakes = append(mistakes, fmt.Sprintf("%s: want %s, got nothing", name, t.schema.Properties[name].want()))
		}
	}
	if len(mistakes) > 0 {
		return nil, problem.New(problem.Invalid, "%s", strings.Join(mistakes, "; "))
	}
	return args, nil
}

// read returns the text of a value. Numbers and booleans may come as texts.
func (p property) read(value json.RawMessage) (text string, ok bool) {
	isText := json.Unmarshal(value, &text) == nil
	if !isText {
		text = string(value)
	}
	number, err := strconv.ParseFloat(text, 64)
	switch p.Type {
	case "array":
		return text, json.Unmarshal(value, &[]string{}) == nil
	case "boolean":
		return text, text == "true" || text == "false"
	case "integer":
		var n int
		n, err = strconv.Atoi(text)
		text = strconv.Itoa(n) // +3 and 03 are no JSON
		fallthrough
	case "number":
		return text, err == nil && number >= *p.Minimum && (p.Maximum == nil || number <= *p.Maximum)
	}
	if p.Enum != nil { // true and false are words of one
		return text, slices.Contains(p.Enum, text)
	}
	return text, isText
}

// want describes the values of an argument.
func (p property) want() string {
	switch {
	case p.Enum != nil:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Maximum != nil:
		return fmt.Sprintf("a whole number from %g to %g", *p.Minimum, *p.Maximum)
	}
	return map[string]string{"number": "a number from 0", "boolean": "true or false", "array": "a list of texts",
		"string": "a text"}[p.Type]
}

// number returns a whole number; 0 without one.
func (a arguments) number(name string) int {
	n, _ := strconv.Atoi(a[name])
	return n
}

// match reports whether all conditions hold, which blanks separate: an argument is given, or has one of some values
// (what=visits|pages); with ! in front it is not so.
func (a arguments) match(conditions string) bool {
	for condition := range strings.FieldsSeq(conditions) {
		condition, negated := strings.CutPrefix(condition, "!")
		name, values, _ := strings.Cut(condition, "=")
		value, ok := a[name]
		if ok = ok && (values == "" || slices.Contains(strings.Split(values, "|"), value)); ok == negated {
			return false
		}
	}
	return true
}

// taken returns the arguments that are parameters of a question, beside the common ones.
func (a ask) taken(args arguments) (names []string) {
	for condition := range strings.FieldsSeq(a.Takes) {
		if name, _, _ := strings.Cut(condition, "="); args.match(condition) {
			names = append(names, name)
		}
	}
	return names
}

var (
	days    = []string{"date_from", "date_to"}
	filters = []string{"platform", "model", "region", "topic", "branded"}

	// parameters are the names of arguments that /api/v1 calls otherwise.
	parameters = map[string]string{
		"brand": "brand_id", "topic": "topic_id", "competitor": "competitor_id", "source": "source_filter",
	}
)

// query returns these arguments as parameters.
func (a arguments) query(names ...string) url.Values {
	query := url.Values{}
	for _, name := range names {
		if value, ok := a[name]; ok {
			if parameter, renamed := parameters[name]; renamed {
				name = parameter
			}
			query.Set(name, value)
		}
	}
	return query
}
