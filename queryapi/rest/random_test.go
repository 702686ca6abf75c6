package rest

import (
	"maps"
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
	names["a"], names["0"] = true, true // the keys of a->a->>0, which name results
	planned, refusals := 0, map[string]int{}
	defer func() { t.Logf("%d planned, refused: %v", planned, refusals) }()
	rapid.Check(t, func(t *rapid.T) {
		target := randomTarget(t)
		in := incoming{method: "GET", path: target[:strings.IndexByte(target, '?')], query: target[strings.IndexByte(target, '?')+1:]}
		request, refused := parse(in, s.api.cfg, known.timezones)
		if refused == nil {
			var p *plan
			if p, refused = known.plan(request, s.api.cfg); refused == nil {
				planned++
				checkNames(t, p, names)
			}
		}
		if refused != nil {
			refusals[refused.code]++
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

// shape is what requests say of a relation: its columns, and embeds with the relations that they lead to.
type shape struct {
	columns []string
	embeds  map[string]string
}

var shapes = map[string]shape{
	"books": {[]string{"id", "title", "price", "author_id", "lent", "words"}, map[string]string{
		"publishers": "publishers", "authors!author_id": "authors", "editor_id": "authors", "genres": "genres", "copies": "copies", "publishers!inner": "publishers",
	}},
	"authors":    {[]string{"id", "name", "bio", "tags", "home", "shout"}, map[string]string{"books!books_edited_by": "books", "all_books": "books", "first_book": "books", "dear_books": "dear_books"}},
	"publishers": {[]string{"id", "name"}, map[string]string{"books": "books", "books!inner": "books"}},
	"genres":     {[]string{"id", "name"}, map[string]string{"books": "books"}},
	"staff":      {[]string{"id", "name", "boss_id"}, map[string]string{"staff": "staff", "boss_id": "staff"}},
	"copies":     {[]string{"id", "room"}, map[string]string{"shelves": "shelves", "books": "books"}},
	"shelves":    {[]string{"room", "label"}, map[string]string{"copies!inner": "copies"}},
	"dear_books": {[]string{"book", "price"}, map[string]string{"authors": "authors", "genres": "genres"}},
}

var (
	wrongNames   = []string{"nope", `"a\"b; drop"`, "größe", "pg_catalog", "ctid", "oid", "count", "%00"}
	randomValues = []string{"eq.1", "not.in.(1,2)", "is.null", "not.is.null", "like.*a*", "fts.x", "cs.{a}", "gt(any).{1,2}", "eq.'; drop table x", "eq.%00", "isdistinct.1", "zz.1", "eq."}
)

func pick(t *rapid.T, what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }

// rarely is true once in n times.
func rarely(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "rarely") == n }

// name is a column of a relation, or rarely something else.
func (s shape) name(t *rapid.T) string {
	if rarely(t, 12) {
		return pick(t, "wrong name", wrongNames...)
	}
	return pick(t, "column", s.columns...)
}

// randomTarget is a request for rows, mostly right.
func randomTarget(t *rapid.T) string {
	relation := pick(t, "relation", "books", "authors", "publishers", "staff", "copies", "dear_books", "books")
	s := shapes[relation]
	embed := pick(t, "embed", slices.Sorted(maps.Keys(s.embeds))...)
	inner := shapes[s.embeds[embed]]
	path, _, _ := strings.Cut(embed, "!")
	target := "/" + relation + "?select=" + randomSelect(t, s, 0)
	if relation == "books" && rarely(t, 3) {
		target = "/rpc/books_of?author=1&select=" + randomSelect(t, s, 0)
	}
	target += "," + embed + "(" + pick(t, "inner columns", "*", "", inner.columns[0]) + ")"
	for range rapid.IntRange(0, 3).Draw(t, "params") {
		switch pick(t, "param", "filter", "order", "limit", "or", "path", "embed order", "embed") {
		case "filter":
			target += "&" + s.name(t) + "=" + pick(t, "value", randomValues...)
		case "order":
			target += "&order=" + s.name(t) + pick(t, "direction", "", ".desc", ".nullslast", "->a->>0") + "," + path + "(" + inner.columns[0] + ")"
		case "limit":
			target += "&" + pick(t, "bound", "limit", "offset") + "=" + pick(t, "number", "0", "1", "7", "-1", "x", "99999999999999999999")
		case "or":
			target += "&or=(" + s.name(t) + "." + pick(t, "value", "eq.1", "is.null", "in.(1,2)") + ",and(" + s.name(t) + ".not.is.null," + path + ".is.null))"
		case "path":
			target += "&" + path + "." + inner.name(t) + "=" + pick(t, "value", randomValues...)
		case "embed order":
			target += "&" + path + ".order=" + inner.name(t) + "&" + path + ".limit=1"
		case "embed":
			target += "&" + path + "=" + pick(t, "presence", "is.null", "not.is.null")
		}
	}
	return encodeTarget(target)
}

func randomSelect(t *rapid.T, s shape, depth int) string {
	items := []string{pick(t, "first", "*", s.columns[0])}
	for range rapid.IntRange(0, 2).Draw(t, "items") {
		alias := pick(t, "alias", "", "", `"ALIAS \":x":`)
		if depth < 2 && rarely(t, 3) {
			embed := pick(t, "embed", slices.Sorted(maps.Keys(s.embeds))...)
			items = append(items, pick(t, "spread", "", "...", alias)+embed+"("+randomSelect(t, shapes[s.embeds[embed]], depth+1)+")")
			continue
		}
		items = append(items, alias+s.name(t)+pick(t, "more", "", "", "", "", "->a->>0", "::text", ".count()", ".max()", "->>0::int"))
	}
	return strings.Join(items, ",")
}
