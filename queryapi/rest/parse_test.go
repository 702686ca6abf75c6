package rest

import (
	"errors"
	"strings"
	"testing"
)

// A text that cannot be parsed is refused with the line and column that PostgREST's documentation has, and what was
// expected there.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		read                       func(string) error
		text, what, place, details string
	}{
		{readSelect, "id,clients(name[])", "select parameter", "16", `unexpected "[" expecting ) or , or end of input`},
		{readSelect, "data->>-78xy", "select parameter", "11",
			`unexpected "x" expecting -> or :: or . or , or end of input`},
		{readSelect, "name!hint", "select parameter", "5", `unexpected "!" expecting ) or , or end of input`},
		{readSelect, "name::", "select parameter", "7",
			`unexpected end of input expecting field name (* or [a..z0..9_$])`},
		{readFilter, "val", "filter", "1", `unexpected "v" expecting operator (eq, gt, ...)`},
		{readFilter, "fts().value", "filter", "5", `unexpected ")" expecting field name (* or [a..z0..9_$])`},
		{readFilter, "eq().value", "filter", "4", `unexpected ")" expecting any or all`},
		{readFilter, "is().value", "filter", "3", `unexpected "(" expecting "."`},
		{readOrder, "clients(name,id)", "order", "8", `unexpected "(" expecting , or end of input`},
		{readOrder, "id.ac", "order", "4", `unexpected "a" expecting asc, desc, nullsfirst or nullslast`},
		{readOrder, "id.descc", "order", "8", `unexpected "c" expecting , or end of input`},
		{readOrder, "id.nulsfist", "order", "4", `unexpected "n" expecting asc, desc, nullsfirst or nullslast`},
		{readOrder, "id.nullslasttt", "order", "13", `unexpected "t" expecting , or end of input`},
		{readOrder, "id.asc.nlsfst", "order", "8", `unexpected "n" expecting asc, desc, nullsfirst or nullslast`},
		{readLogic, "or()", "logic tree", "4", `unexpected ")" expecting logic operator (and, or)`},
		{readLogic, "or(id.in.1,2,id.eq.3)", "logic tree", "10", `unexpected "1" expecting "("`},
		{readLogic, "or)(", "logic tree", "3", `unexpected ")" expecting "("`},
		{readLogic, "and(ord(id.eq.1,id.eq.1),id.eq.2)", "logic tree", "7", `unexpected "d" expecting "("`},
		{readLogic, "or(id.eq.1,not.xor(id.eq.2,id.eq.3))", "logic tree", "16",
			`unexpected "x" expecting logic operator (and, or)`},
		{readNames, "", "columns parameter", "1", `unexpected end of input expecting field name (* or [a..z0..9_$])`},
	} {
		err, refused := errors.AsType[*Error](c.read(c.text))
		if !refused {
			t.Errorf("%s is read", c.text)
			continue
		}
		if !strings.HasPrefix(err.message, `"failed to parse `+c.what+" (") ||
			!strings.HasSuffix(err.message, ` (line 1, column `+c.place+")") || err.details != c.details {
			t.Errorf("%s:\n%s\n%v, want column %s\n%s", c.text, err.message, err.details, c.place, c.details)
		}
	}
}

// Each row repeats the names of the first line, so few bytes could become very many.
func TestCSVThatBecomesTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := parseCSV([]byte(strings.Repeat("a", 1<<18) + strings.Repeat("\n1", 1<<10)))
	if e, refused := errors.AsType[*Error](err); !refused || e.status != 413 || e.code != "PGRST102" {
		t.Errorf("a name of 256 KB and 1024 lines: %v", err)
	}
	if p, err := parseCSV([]byte("a_name_of_common_length,b" + strings.Repeat("\n1,2", 1<<20))); err != nil ||
		len(p.keys) != 2 {
		t.Errorf("a million short rows: %v", err)
	}
}

func readSelect(text string) error { _, err := parseSelect(text); return err }
func readFilter(text string) error { _, _, err := parseFilter(text, false); return err }
func readOrder(text string) error  { _, err := parseOrder(text); return err }
func readNames(text string) error  { _, err := parseNames("columns", text); return err }

// readLogic reads and(…), which is a parameter and with the value (…).
func readLogic(text string) error {
	operator, _, _ := strings.Cut(text, "(")
	operator = strings.TrimSuffix(operator, ")")
	_, _, err := parseLogic(operator, strings.TrimPrefix(text, operator))
	return err
}

// No text makes a parser panic, run on, or use more than its length asks for.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		`select=id,alias:data->a->>0::text,...rel!hint!inner(count(),x.sum()::int)&id=not.in.("a,b",c)&or=(a.eq.1,` +
			`not.and(b.is.null,c.cs.{1,2}))`,
		"order=a.desc.nullslast,rel(b)&limit=-1&a.b.offset=x&columns=a,b&on_conflict=%22c",
		"select=%ff%00&%zz=eq(any).{a}", strings.Repeat("select=a(", 200),
		"or=" + strings.Repeat("(and", 300), "a=fts(english).b&b=like(all).{a*}&c=isdistinct.1&select=\"\\",
		"a->b->>-1=is.NOT_NULL",
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, argument bool) {
		q, err := parseQuery(text, argument)
		if e, refused := errors.AsType[*Error](err); err != nil &&
			(!refused || e.status != 400 || e.code != "PGRST100" || len(e.body()) > 100*len(text)+1000) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && depthOf(q.selection) > maxDepth+1 {
			t.Errorf("%q is nested %d deep", text, depthOf(q.selection))
		}
	})
}

func depthOf(s selection) int {
	deepest := 0
	for _, e := range s.embeds {
		deepest = max(deepest, depthOf(e.selection))
	}
	return deepest + 1
}

func FuzzHeaders(f *testing.F) {
	f.Add("text/csv;q=0.1, application/json;q=x,*/*;q=1;a", "return=minimal, max-affected=9, timezone=UTC,, x=", "0-9")
	f.Add("application/vnd.pgrst.object;nulls=stripped", "count=exact", "99999999999999999999-5")
	f.Fuzz(func(t *testing.T, accept, prefer, rows string) {
		for _, media := range parseAccept(accept) {
			if media == "" {
				t.Errorf("%q accepts nothing", accept)
			}
		}
		p := parsePrefer([]string{prefer}, map[string]bool{"UTC": true})
		p.applied("resolution", "missing", "return", "count", "handling", "timezone", "max-affected")
		if s, err := parseRangeHeader(rows); err == nil && (s.offset < 0 || s.limit < 0 || s.end() < s.offset) {
			t.Errorf("%q is %+v", rows, s)
		}
	})
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`[{"a":1,"b":{"c":[]}},{"b":2,"a":null}]`, `{"a":1`, "a,b\n1,\"x\ny\"\nNULL,", "[1,{}]", "a\n\"", "a=1&b=%zz",
		"[[[[", "{} {}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, media := range []mediaType{mediaJSON, mediaCSV, mediaForm} {
			p, err := parseBody(body, media, nil)
			if e, refused := errors.AsType[*Error](err); err != nil &&
				(!refused || e.status != 400 || e.code != "PGRST102") {
				t.Errorf("%s %q: %v", media, body, err)
			}
			if err == nil && media != mediaJSON {
				if _, err := parseRows(p.text); err != nil {
					t.Errorf("%s %q became %q: %v", media, body, p.text, err)
				}
			}
		}
	})
}

// Trees of views come from the database, whose tables have any name.
func FuzzShownColumns(f *testing.F) {
	f.Add(`({QUERY :commandType 1 :targetList ({TARGETENTRY :expr {VAR :varno 1} :resno 1 :resname a\ \} ` +
		`:resorigtbl 16390 :resorigcol 2 :resjunk false} {TARGETENTRY :resno 2 :resorigtbl 0 :resorigcol 0}) :x <>})`)
	f.Fuzz(func(t *testing.T, tree string) { shownColumns(tree) })
}

func TestShownColumns(t *testing.T) {
	const tree = `({QUERY :rtable ({RANGETBLENTRY :subquery {QUERY :targetList ({TARGETENTRY :resno 9 :resorigtbl 5 ` +
		`:resorigcol 9})}}) ` +
		`:targetList ({TARGETENTRY :expr {VAR :varno 1 :resno 7} :resno 1 :resname a\ \}\(b :ressortgroupref 0 ` +
		`:resorigtbl 16390 :resorigcol 2 :resjunk false} ` +
		`{TARGETENTRY :expr {CONST} :resno 2 :resname b :resorigtbl 0 :resorigcol 0 :resjunk false}) :havingQual <>})`
	got := shownColumns(tree)
	if len(got) != 1 || got[0] != (shownColumn{1, origin{16390, 2}}) {
		t.Errorf("%+v", got)
	}
}

func TestRanges(t *testing.T) {
	for header, want := range map[string]rowRange{
		"0-9": {0, 10}, "5-": {5, unlimited}, "items=0-1": allRows, "": allRows, "3-3": {3, 1},
	} {
		if got, err := parseRangeHeader(header); err != nil || got != want {
			t.Errorf("%q: %+v %v", header, got, err)
		}
	}
	for _, c := range []struct{ a, b, want rowRange }{
		{rowRange{0, 10}, rowRange{5, unlimited}, rowRange{5, 5}}, {allRows, rowRange{2, 3}, rowRange{2, 3}},
		{rowRange{2, 2}, rowRange{9, 1}, rowRange{9, -1}}, {allRows, allRows, allRows},
	} {
		if got := c.a.intersect(c.b); got != c.want {
			t.Errorf("%+v and %+v is %+v, want %+v", c.a, c.b, got, c.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"a=1&c=3&b=2&d": "a=1&b=2&c=3&d=", "id=gt.1&select=*&id=lt.5": "id=gt.1,lt.5&select=%2A",
		"n=eq.a+b%C3%A9&&": "n=eq.a%20b%C3%A9",
	} {
		if got := canonical(parseParams(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
