package metrics

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The official schema leaves open which dialect schemas are written in; here it is that of JSON Schema 2020-12.
const openapiOfSchemas = `{
	"$id": "https://answerscope.example/openapi",
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$ref": "https://spec.openapis.org/oas/3.1/schema/2022-10-07",
	"$defs": {"schema": {"$dynamicAnchor": "meta", "$ref": "https://json-schema.org/draft/2020-12/schema"}}
}`

func TestTheDescriptionIsOpenAPI(t *testing.T) {
	official, err := os.ReadFile("testdata/openapi/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for url, text := range map[string]string{
		"https://spec.openapis.org/oas/3.1/schema/2022-10-07": string(official),
		"https://answerscope.example/openapi":                 openapiOfSchemas,
	} {
		resource, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(url, resource); err != nil {
			t.Fatal(err)
		}
	}
	openapi, err := compiler.Compile("https://answerscope.example/openapi")
	if err != nil {
		t.Fatal(err)
	}
	others, err := os.ReadFile("../auth/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string][]byte{"/api/v1": description, "/api": others} {
		if err := valid(openapi, string(document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !jsontext.Value(document).IsValid() {
			t.Errorf("%s: a name is there twice in one object, or a text is no UTF-8", name)
		}
	}
	for broken, change := range map[string][2]string{
		"no version":        {`"openapi": "3.1.1"`, `"swagger": "3.1.1"`},
		"no such type":      {`"type": "integer"`, `"type": "whole number"`},
		"no such parameter": {`"in": "query"`, `"in": "question"`},
	} {
		if err := valid(openapi, strings.Replace(string(description), change[0], change[1], 1)); err == nil {
			t.Errorf("%s: it would do", broken)
		}
	}
}

func TestTheDescriptionNamesWhatThereIs(t *testing.T) {
	c := contractOf(t)
	wanted := slices.Sorted(slices.Values(paths()))
	if described := slices.Sorted(maps.Keys(c.operations)); !slices.Equal(described, wanted) {
		t.Errorf("paths described %q, served %q", described, wanted)
	}
	ids, tags := map[any]bool{}, map[any]bool{}
	listed, _ := c.find("/tags")
	for _, tag := range listed.([]any) {
		tags[tag.(map[string]any)["name"]] = true
	}
	for path, o := range c.operations {
		if methods := c.members("/paths/" + member(path)); len(methods) != 1 {
			t.Errorf("%s has %d methods, want GET alone", path, len(methods))
		}
		fields := c.members(o.at)
		if id := fields["operationId"]; id == nil || ids[id] {
			t.Errorf("%s: operation id %v is not its own", path, id)
		}
		ids[fields["operationId"]] = true
		if tag, ok := fields["tags"].([]any); !ok || len(tag) != 1 || !tags[tag[0]] {
			t.Errorf("%s: tags %v, want one that is described", path, fields["tags"])
		}
		for _, p := range o.inPath {
			if !p.Required || !strings.Contains(path, "{"+p.Name+"}") || p.Description == "" {
				t.Errorf("%s: parameter %s of the path, required %v, described as %q", path, p.Name, p.Required,
					p.Description)
			}
		}
		for _, p := range o.parameters {
			if p.In != "query" || p.Description == "" {
				t.Errorf("%s: parameter %s is in %q, described as %q", path, p.Name, p.In, p.Description)
			}
		}
	}
}

// Each part that references lead to is there, and none is there for nothing.
func TestTheDescriptionHasNoLooseEnds(t *testing.T) {
	c := contractOf(t)
	led := map[string]bool{}
	c.walk("", c.document, func(at string, object map[string]any) {
		if ref, ok := object["$ref"].(string); ok {
			if _, there := c.find(strings.TrimPrefix(ref, "#")); !there {
				t.Errorf("%s leads nowhere: %s", at, ref)
			}
			led[ref] = true
		}
	})
	for kind := range c.members("/components") {
		for name := range c.members("/components/" + kind) {
			if ref := "#/components/" + kind + "/" + name; !led[ref] && kind != "securitySchemes" {
				t.Errorf("nothing leads to %s", ref)
			}
		}
	}
}

// What a schema allows is exactly what it names: a field that is not described fails every test that sees it, as does
// one that is gone.
func TestTheDescriptionIsStrict(t *testing.T) {
	c := contractOf(t)
	c.walk("/components/schemas", c.members("/components/schemas"), func(at string, object map[string]any) {
		// which is a whole language
		if object["type"] != "object" || strings.HasPrefix(at, "/components/schemas/Openapi") {
			return
		}
		properties, _ := object["properties"].(map[string]any)
		var required []string
		for _, name := range object["required"].([]any) {
			required = append(required, name.(string))
		}
		slices.Sort(required)
		if object["additionalProperties"] != false || !slices.Equal(required, slices.Sorted(maps.Keys(properties))) {
			t.Errorf("%s: requires %q of %q, others %v", at, required, slices.Sorted(maps.Keys(properties)),
				object["additionalProperties"])
		}
		for name, property := range properties {
			fields := property.(map[string]any)
			_, ref := fields["$ref"]
			if _, described := fields["description"]; !described && !ref {
				t.Errorf("%s: nothing says what %s is", at, name)
			}
		}
	})
}

// walk visits every object of the document at and below a place.
func (c *contract) walk(at string, value any, visit func(at string, object map[string]any)) {
	switch of := value.(type) {
	case map[string]any:
		visit(at, of)
		for name, value := range of {
			c.walk(at+"/"+member(name), value, visit)
		}
	case []any:
		for _, value := range of {
			c.walk(at+"/-", value, visit)
		}
	}
}

func TestTheDescriptionsExamplesAreTrue(t *testing.T) {
	c := contractOf(t)
	for path, o := range c.operations {
		for _, p := range slices.Concat(o.parameters, o.inPath) {
			if p.Example == nil && p.Name != "cursor" { // which need not be read
				t.Errorf("%s: no example of %s", path, p.Name)
			} else if p.Example != nil && p.schema.Validate(p.Example) != nil {
				t.Errorf("%s: %v is no %s", path, p.Example, p.Name)
			}
		}
		for status, r := range o.responses {
			if r.body == nil || path == prefix+descriptionPath {
				continue
			}
			if err := r.body.Validate(r.example); err != nil {
				t.Errorf("%s: the example of %d: %v", path, status, err)
			}
		}
	}
	c.walk("/components/headers", c.members("/components/headers"), func(at string, object map[string]any) {
		if _, header := object["schema"]; !header {
			return
		}
		schema, err := c.schema(at + "/schema")
		if err != nil || schema.Validate(object["example"]) != nil {
			t.Errorf("%s: %v is no example of it, %v", at, object["example"], err)
		}
	})
}

// A contract that nothing can break proves nothing.
func TestTheContractCanBeBroken(t *testing.T) {
	c := contractOf(t)
	o := c.operations["/api/v1/visibility-trend"]
	text, err := json.Marshal(o.responses[200].example)
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(o.responses[200].body, string(text)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"model_changed":true`, `"model_changed":false,"extra":1`},
		{`"model_changed":true`, `"model_change":true`},
		{`"total_mentions":3`, `"total_mentions":3.5`},
		{`"total_mentions":3`, `"total_mentions":null`},
		{`"date":"2026-03-02"`, `"date":"2026-02-30"`},
		{`"high":78.5,`, ``},
		{`"high":78.5`, `"high":178.5`},
		{`"day"`, `"year"`},
	} {
		broken := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(broken, text) || valid(o.responses[200].body, string(broken)) == nil {
			t.Errorf("%s for %s would do", change[1], change[0])
		}
	}
}
