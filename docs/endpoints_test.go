package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEndpointsAreThoseOfTheDescription compares endpoints.md with what openapi.json says; -update rewrites the page.
func TestEndpointsAreThoseOfTheDescription(t *testing.T) {
	text, err := os.ReadFile("../queryapi/metrics/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	page := referencePage{t: t, document: text}
	page.line("# Endpoints of /api/v1\n\nGenerated from the OpenAPI document by `go test ./docs -update`. " +
		"[api.md](api.md) has the\n" +
		"parameters that endpoints share, errors, CSV and definitions.")
	for _, path := range page.members(page.at("paths")) {
		page.endpoint(path.name, path.value)
	}
	got := page.text.String()
	if *update && !t.Failed() {
		if err := os.WriteFile("endpoints.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != read(t, "endpoints.md") {
		t.Error("endpoints.md differs from openapi.json: run go test ./docs -run TestEndpoints -update and review " +
			"the difference")
	}
}

// referencePage is the page in the making.
type referencePage struct {
	t        *testing.T
	document json.RawMessage
	text     strings.Builder
}

// member is a name of a JSON object with its value, in the document's order.
type member struct {
	name  string
	value json.RawMessage
}

// property has the keywords of a schema or parameter that the page shows.
type property struct {
	Ref         string                     `json:"$ref"`
	Name        string                     `json:"name"`
	Summary     string                     `json:"summary"`
	Description string                     `json:"description"`
	Required    any                        `json:"required"`
	Default     any                        `json:"default"`
	Enum        []any                      `json:"enum"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	Schema      json.RawMessage            `json:"schema"`
	Properties  json.RawMessage            `json:"properties"`
	Items       json.RawMessage            `json:"items"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Parameters  []json.RawMessage          `json:"parameters"`
	Responses   map[string]json.RawMessage `json:"responses"`
}

func (p *referencePage) endpoint(path string, methods json.RawMessage) {
	operation := p.property(p.member(methods, "get"))
	response := p.member(p.member(operation.Responses["200"], "content"), "application/json")
	name := strings.TrimPrefix(path, "/api/v1/")
	if name == "openapi.json" {
		return
	}
	p.line("\n## " + name + "\n\n`GET " + path + "`: " + sentence(operation.Summary))
	if operation.Description != "" {
		p.line("\n" + wrap("", operation.Description))
	}
	p.line("")
	parameters := 0
	for _, parameter := range operation.Parameters {
		if text := p.property(parameter); text.Ref == "" && text.Name != "table" {
			p.line(wrap("- ", "`"+text.Name+"`: "+text.Description+p.values(text)))
			parameters++
		}
	}
	if parameters > 0 {
		p.line("")
	}
	p.line("```json\n" + p.pretty(p.member(response, "example"), "") + "\n```\n")
	p.fields(p.member(response, "schema"), "")
}

// fields writes an item for each described property of a schema, the lists and objects below it included.
func (p *referencePage) fields(schema json.RawMessage, prefix string) {
	text := p.resolved(schema)
	if text.Items != nil {
		p.fields(text.Items, prefix)
		return
	}
	if len(text.OneOf) > 0 && text.Properties == nil {
		p.fields(text.OneOf[0], prefix) // the body without groups
		return
	}
	for _, field := range p.members(text.Properties) {
		below := p.resolved(field.value)
		if below.Description != "" {
			p.line(wrap("- ", "`"+prefix+field.name+"`: "+below.Description+p.values(below)))
		}
		if len(below.OneOf) == 0 {
			p.fields(field.value, prefix+field.name+".")
		}
	}
}

// values lists the values and the default that the description leaves out.
func (p *referencePage) values(text property) (values string) {
	schema := text
	if text.Schema != nil {
		schema = p.resolved(text.Schema)
	}
	var listed []string
	unnamed := false
	for _, value := range schema.Enum {
		if value != nil {
			listed = append(listed, fmt.Sprintf("`%v`", value))
			unnamed = unnamed || !strings.Contains(text.Description, fmt.Sprintf("`%v`", value))
		}
	}
	if unnamed {
		values = " One of " + strings.Join(listed, ", ") + "."
	}
	if schema.Minimum != nil && schema.Maximum != nil && text.Schema != nil {
		values += fmt.Sprintf(" %v to %v.", *schema.Minimum, *schema.Maximum)
	}
	if schema.Default != nil {
		values += fmt.Sprintf(" Default `%v`.", schema.Default)
	}
	return values
}

// resolved reads a schema and what it refers to; a description beside the reference wins.
func (p *referencePage) resolved(schema json.RawMessage) property {
	text := p.property(schema)
	for text.Ref != "" {
		referred := p.property(p.at(strings.Split(strings.TrimPrefix(text.Ref, "#/"), "/")...))
		if text.Description != "" {
			referred.Description = text.Description
		}
		text = referred
	}
	return text
}

func (p *referencePage) property(text json.RawMessage) (parsed property) {
	p.t.Helper()
	if err := json.Unmarshal(text, &parsed); err != nil {
		p.t.Fatalf("%v: %s", err, text)
	}
	return parsed
}

func (p *referencePage) at(names ...string) json.RawMessage {
	text := p.document
	for _, name := range names {
		text = p.member(text, name)
	}
	return text
}

func (p *referencePage) member(object json.RawMessage, name string) json.RawMessage {
	p.t.Helper()
	members := p.members(object)
	i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if i < 0 {
		p.t.Fatalf("no member %s in %.200s", name, object)
	}
	return members[i].value
}

// members are those of an object in the order of the document, none of an absent one.
func (p *referencePage) members(object json.RawMessage) (members []member) {
	p.t.Helper()
	if object == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		p.t.Fatal(err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			p.t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			p.t.Fatal(err)
		}
		members = append(members, member{name.(string), value})
	}
	return members
}

// pretty writes a value on one line where it fits, else each member or element on a line of its own.
func (p *referencePage) pretty(value json.RawMessage, indent string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		p.t.Fatal(err)
	}
	text := b.String()
	if len(indent)+len(text) <= 110 || text[0] != '{' && text[0] != '[' {
		return text
	}
	var lines []string
	if text[0] == '{' {
		for _, m := range p.members(value) {
			lines = append(lines, fmt.Sprintf("%q: ", m.name)+p.pretty(m.value, indent+" "))
		}
	} else {
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			p.t.Fatal(err)
		}
		for _, element := range elements {
			lines = append(lines, p.pretty(element, indent+" "))
		}
	}
	return text[:1] + strings.Join(lines, ",\n"+indent+" ") + text[len(text)-1:]
}

func (p *referencePage) line(text string) { p.text.WriteString(text + "\n") }

func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }

// wrap breaks a text into lines of at most 120 columns; those after the first are indented below the prefix's end.
func wrap(prefix, text string) string {
	var lines []string
	indent := strings.Repeat(" ", len(prefix))
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		line := prefix
		for word := range strings.FieldsSeq(paragraph) {
			if len([]rune(line))+len([]rune(word)) >= 120 {
				lines = append(lines, strings.TrimRight(line, " "))
				line = indent
			}
			line += word + " "
		}
		lines = append(lines, strings.TrimRight(line, " "))
		prefix = "\n" + indent
	}
	return strings.Join(lines, "\n")
}
