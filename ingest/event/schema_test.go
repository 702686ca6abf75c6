package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

//go:generate go test -run TestSchemas . -update

// published has the record of each topic, by the name of its schema in docs/schema.
var published = map[string]any{}

func init() {
	for _, topic := range Topics {
		published[strings.ToLower(reflect.TypeOf(topic.Record).Name())] = topic.Record
	}
}

func schemaPath(name string) string {
	return filepath.Join("..", "..", "docs", "schema", fmt.Sprintf("%s.v%d.json", name, Version))
}

// schema is made from the types, their tags and comments, and the rules for single fields.
func schema(t *testing.T, name string) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		ExpandedStruct:            true,
		AllowAdditionalProperties: true, // readers pass over what they do not know
		Mapper:                    formats,
	}
	if err := r.AddGoComments("github.com/answerscope/answerscope/ingest/event", ".",
		jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	s := r.Reflect(published[name])
	s.ID = jsonschema.ID(fmt.Sprintf("https://github.com/answerscope/answerscope/raw/main/docs/schema/%s.v%d.json",
		name, Version))
	s.Title = fmt.Sprintf("answerscope log: %s, version %d", name, Version)
	describe(name, s)
	for of, d := range s.Definitions {
		describe(strings.ToLower(of), d)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func formats(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[uuid.UUID]():
		return &jsonschema.Schema{Type: "string", Format: "uuid"}
	case reflect.TypeFor[Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[Surface]():
		return &jsonschema.Schema{Type: "string", Enum: values(surfaces)}
	case reflect.TypeFor[Finish]():
		return &jsonschema.Schema{Type: "string", Enum: values(finishes)}
	case reflect.TypeFor[VisitKind]():
		return &jsonschema.Schema{Type: "string", Enum: values(kinds)}
	case reflect.TypeFor[Purpose]():
		return &jsonschema.Schema{Type: "string", Enum: values(purposes)}
	}
	return nil
}

func values[T any](of []T) []any {
	all := make([]any, len(of))
	for i, v := range of {
		all[i] = v
	}
	return all
}

// describe adds the rules for single fields that a type does not show.
func describe(of string, s *jsonschema.Schema) {
	const decimalPattern = `[0-9]{1,12}(\.[0-9]{1,6})?`
	least := map[string]string{
		"answer.sample": "1", "answer.latency_ms": "0", "answer.attempts": "0", "brand.revision": "0",
		"reread.min_extract_version": "1",
		"usage.input_tokens":         "0", "usage.output_tokens": "0", "usage.searches": "0",
		"product.position": "0", "product.rating": "0", "product.review_count": "0", "visit.visitor": "0",
		"crawl.status": "0", "crawl.bytes": "0",
	}
	enums := map[string][]any{
		"answer.v": {Version}, "visit.v": {Version}, "crawl.v": {Version}, "givenup.class": values(Classes),
		"visit.platform_by": values(platformBys), "visit.country_by": values(countryBys),
	}
	patterns := map[string]string{
		"product.price_amount": "^(" + decimalPattern + ")?$", "usage.cost_usd": "^(" + decimalPattern + ")?$",
		"goal.value": "^(-?" + decimalPattern + ")?$", "goal.currency": "^([A-Z]{3})?$",
		"visit.country": "^([A-Z]{2})?$", "visit.path": "^/", "crawl.path": "^/",
	}
	filled := []string{
		"answer.platform", "visit.platform", "visit.host", "brand.name", "entity.name", "prompt.text",
		"citation.url", "goal.name", "crawl.crawler", "crawl.host",
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		field := of + "." + p.Key
		p.Value.Minimum = json.Number(least[field])
		if field == "crawl.status" {
			p.Value.Maximum = json.Number(fmt.Sprint(maxStatus))
		}
		if enum, ok := enums[field]; ok {
			p.Value.Enum = enum
		}
		p.Value.Pattern = patterns[field]
		for _, f := range filled {
			if f == field {
				p.Value.MinLength = new(uint64(1))
			}
		}
	}
}

func TestSchemasAreUpToDate(t *testing.T) {
	for name := range published {
		want := schema(t, name)
		if *update {
			if err := os.WriteFile(schemaPath(name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(schemaPath(name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the types say (%v): run go generate ./ingest/event", schemaPath(name), err)
		}
	}
}

// The schemas accept every golden, and refuse what the codec refuses of one field.
func TestSchemasJudgeAsTheCodec(t *testing.T) {
	compiler := validator.NewCompiler()
	compiler.AssertFormat()
	schemas := map[string]*validator.Schema{}
	for name := range published {
		s, err := compiler.Compile(schemaPath(name))
		if err != nil {
			t.Fatal(err)
		}
		schemas[name] = s
	}
	judge := func(name string, text []byte) error {
		v, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		switch goldens[name].(type) {
		case Visit:
			return schemas["visit"].Validate(v)
		case Crawl:
			return schemas["crawl"].Validate(v)
		}
		return schemas["answer"].Validate(v)
	}
	for name := range goldens {
		if err := judge(name, golden(t, name)); err != nil {
			t.Errorf("schema refuses %s: %v", name, err)
		}
	}
	for _, c := range []struct{ golden, old, new string }{
		{"visit", `"v":1`, `"v":2`}, {"visit", `"event":"view"`, `"event":"click"`},
		{"visit", `,"host":"www.breville.com"`, ``},
		{"visit", `"country":"DE"`, `"country":"de"`}, {"goal", `"-329.90"`, `"1e3"`},
		{"goal", `T12:00:00.000Z`, ` noon`},
		{"answer", `"sample":2`, `"sample":0`}, {"answer", `"surface":"consumer"`, `"surface":"web"`},
		{"answer", `"id":"c3d1f7a8`, `"id":"c3d1`}, {"given_up", `"rate_limited"`, `"tired"`},
		{"crawl", `"purpose":"user"`, `"purpose":"fun"`}, {"crawl", `"status":200`, `"status":1000`},
		{"crawl", `"bytes":48213`, `"bytes":-1`},
		{"crawl", `"verified":true`, `"verified":"yes"`}, {"crawl", `,"host":"www.breville.com"`, ``},
	} {
		text := edited(t, c.golden, c.old, c.new)
		if err := judge(c.golden, text); err == nil {
			t.Errorf("schema accepts %s with %s", c.golden, c.new)
		}
		if _, err := decode(text, goldens[c.golden]); err == nil {
			t.Errorf("codec accepts %s with %s", c.golden, c.new)
		}
	}
}
