package rest

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/internal/testkit/restfuzz"
)

var quotedNames = regexp.MustCompile(`"((?:[^"]|"")*)"`)

// Whatever a request says, its statement names only what the schema has and what the request calls its results, and the
// database takes it: a refusal is the caller's fault. A minute of it:
//
//	go test ./queryapi/rest -run TestRandomRequests -rapid.checks=80000
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	schemas := s.api.schemas.Load()
	names := namesOf(schemas)
	schema := restfuzz.Read(t, s.owner, "api")
	// they are asked for 500, or for time
	maps.DeleteFunc(schema.Functions, func(name string, _ []string) bool {
		return name == "fail" || name == "answer_as" || name == "sleep"
	})
	planned, refusals := 0, map[string]int{}
	defer func() { t.Logf("%d planned, refused: %v", planned, refusals) }()
	rapid.Check(t, func(t *rapid.T) {
		r := schema.Request(t)
		raw := rawRequest{method: r.Method, path: r.Path, query: r.Query, headers: r.Headers, body: []byte(r.Body)}
		request, err := parse(raw, s.api.cfg, schemas.timezones)
		if err == nil {
			var p *plan
			if p, err = newPlan(request, schemas, s.api.cfg); err == nil && p.action < actionInfo {
				planned++
				checkNames(t, p, names)
			}
		}
		if refusal, ok := errors.AsType[*Error](err); ok && refusal.status < 500 {
			refusals[refusal.code]++
		} else if err != nil {
			t.Fatalf("%s: %v", r, err)
		}
		answer, err := r.Send(t.Context(), strings.TrimPrefix(s.url, "http://"))
		if err != nil || answer.Failed() {
			t.Fatalf("%s: %d %s %v", r, answer.Status, answer.Body, err)
		}
	})
}

func checkNames(t *rapid.T, p *plan, names map[string]bool) {
	casts := map[string]string{}
	for _, cast := range p.casts {
		casts[cast] = "text"
	}
	sql := p.render(casts).String()
	for _, found := range quotedNames.FindAllStringSubmatch(sql, -1) {
		name := strings.ReplaceAll(found[1], `""`, `"`)
		if !names[name] && !strings.HasPrefix(name, "pgrst_") && !strings.HasPrefix(name, "ALIAS") {
			t.Fatalf("%q is in %s", name, sql)
		}
	}
}

// namesOf are all names of a schema, those of relations with the depth at which they may stand, and those that every
// result may have.
func namesOf(s *schemaCache) map[string]bool {
	names := map[string]bool{rowCount.name: true, "a": true, "0": true} // the keys of a->a->>0 name results
	add := func(of qualified) {
		names[of.schema], names[of.name] = true, true
		for _, depth := range []string{"1", "2", "3", "4"} {
			names[of.name+"_"+depth] = true
		}
	}
	for of, r := range s.relations {
		add(of)
		for name := range r.byName {
			names[name] = true
		}
		for _, way := range s.relationships[of] {
			names[way.constraint] = true
			for _, pair := range way.columns { // an embed may be named for its column
				names[pair.from.name] = true
			}
			if way.function != nil {
				add(*way.function)
			}
		}
	}
	for of, overloads := range s.functions {
		add(of)
		for _, f := range overloads {
			for _, p := range f.params {
				names[p.name] = true
			}
			for _, c := range f.columns {
				names[c.name] = true
			}
		}
	}
	return names
}
