package rest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var quotedNames = regexp.MustCompile(`"((?:[^"]|"")*)"`)

// Whatever a request says, its statement names only what the schema has and what the request calls its results, and the
// database takes it: a refusal is the caller's fault.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	known := s.api.cache.Load()
	names := namesOf(known)
	rapid.Check(t, func(t *rapid.T) {
		target := randomTarget(t)
		in := incoming{method: "GET", path: target[:strings.IndexByte(target, '?')], query: target[strings.IndexByte(target, '?')+1:]}
		request, refused := parse(in, s.api.cfg, known.timezones)
		if refused == nil {
			var p *plan
			if p, refused = known.plan(request, s.api.cfg); refused == nil {
				checkNames(t, p, names)
			}
		}
		if refused != nil && refused.status >= 500 {
			t.Fatalf("%s: %v", target, refused)
		}
		if r := s.ask(target); r >= 500 {
			t.Fatalf("%s: %d", target, r)
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

// namesOf are all names of a schema, and those of relations with the depth at which they may stand.
func namesOf(c *cache) map[string]bool {
	names := map[string]bool{}
	add := func(of qualified) {
		names[of.schema], names[of.name] = true, true
		for _, depth := range []string{"1", "2", "3", "4"} {
			names[of.name+"_"+depth] = true
		}
	}
	for of, r := range c.relations {
		add(of)
		for name := range r.byName {
			names[name] = true
		}
		for _, way := range c.relationships[of] {
			names[way.constraint] = true
			for _, pair := range way.columns { // an embed may be named for its column
				names[pair.from.name] = true
			}
			if way.function != nil {
				add(*way.function)
			}
		}
	}
	for of, overloads := range c.functions {
		add(of)
		for _, f := range overloads {
			for _, p := range f.params {
				names[p.name] = true
			}
		}
	}
	return names
}

var (
	randomNames = []string{
		"id", "name", "title", "books", "authors", "publishers", "genres", "author_id", "staff", "boss_id", "bio", "tags", "price", "shout", "all_books",
		"first_book", "nope", `"a""b\"; drop"`, "*", "größe", "pg_catalog", "dear_books", "copies", "books_edited_by", "ctid",
	}
	randomValues = []string{"eq.1", "not.in.(1,2)", "is.null", "not.is.null", "like.*a*", "fts.x", "cs.{a}", "gt(any).{1,2}", "eq.'; drop table x", "eq.%00", "isdistinct.1", "zz.1", "eq."}
)

func pick(t *rapid.T, what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }

// randomTarget is a request for rows, right or wrong.
func randomTarget(t *rapid.T) string {
	target := pick(t, "relation", "/books", "/authors", "/publishers", "/staff", "/items", "/dear_books", "/copies", "/rpc/books_of") + "?select=" + randomSelect(t, 0)
	for range rapid.IntRange(0, 3).Draw(t, "params") {
		name := pick(t, "name", randomNames...)
		switch pick(t, "param", "filter", "order", "limit", "or", "path", "embed order") {
		case "filter":
			target += "&" + name + "=" + pick(t, "value", randomValues...)
		case "order":
			target += "&order=" + name + pick(t, "direction", "", ".desc", ".nullslast", ".x", "(id)", "->a->>0")
		case "limit":
			target += "&" + pick(t, "bound", "limit", "offset") + "=" + pick(t, "number", "0", "1", "7", "-1", "x", "99999999999999999999")
		case "or":
			target += "&or=(" + name + "." + pick(t, "value", randomValues...) + ",and(id.gt.1," + pick(t, "other", randomNames...) + ".is.null))"
		case "path":
			target += "&" + name + "." + pick(t, "inner", randomNames...) + "=" + pick(t, "value", randomValues...)
		case "embed order":
			target += "&" + name + ".order=" + pick(t, "inner", randomNames...) + "&" + name + ".limit=1"
		}
	}
	if slices.Contains([]string{"", "author=1"}, pick(t, "argument", "", "author=1")) {
		target += "&author=1"
	}
	return encodeTarget(target)
}

func randomSelect(t *rapid.T, depth int) string {
	var items []string
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		name := pick(t, "item", randomNames...)
		alias := pick(t, "alias", "", "", `"ALIAS "":x":`)
		switch {
		case depth < 3 && rapid.IntRange(0, 2).Draw(t, "kind") == 0:
			items = append(items, pick(t, "spread", "", "", "...", alias)+name+pick(t, "hint", "", "", "!inner", "!author_id", "!books_author_id_fkey")+"("+randomSelect(t, depth+1)+")")
		default:
			items = append(items, alias+name+pick(t, "more", "", "", "", "->a->>0", "::text", ".count()", ".max()", "::nope", "->>0::int"))
		}
	}
	return strings.Join(items, ",")
}
