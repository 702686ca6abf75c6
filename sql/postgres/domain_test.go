package postgres_test

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

// A name that a client writes is printed by commands, so the database refuses what Go does.
func TestNamesHaveNoControls(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for _, r := range list[int32](t, w.root, "SELECT n FROM generate_series(1, x'ffff'::int) AS n WHERE n NOT "+
		"BETWEEN x'd800'::int AND x'dfff'::int AND private.is_name(chr(n) || 'a') <> private.are_words(ARRAY['a' || "+
		"chr(n)])") {
		t.Errorf("U+%04X is in a name or a word only", r)
	}
	refused := map[int32]bool{}
	for _, r := range list[int32](t, w.root, "SELECT n FROM generate_series(1, x'ffff'::int) AS n WHERE n NOT "+
		"BETWEEN x'd800'::int AND x'dfff'::int AND NOT private.is_name('a' || chr(n))") {
		refused[r] = true
	}
	for r := int32(1); r <= 0xffff; r++ {
		if (r < 0xd800 || r > 0xdfff) && postgres.IsName("a"+string(r)) == refused[r] {
			t.Errorf("U+%04X: refused by the database is %v, by Go not so", r, refused[r])
		}
	}
	for _, insert := range []string{
		"INSERT INTO public.topics (brand_id, name) VALUES ($1, $2)",
		"INSERT INTO public.competitors (brand_id, name) VALUES ($1, $2)",
		"INSERT INTO public.prompt_sets (brand_id, name) VALUES ($1, $2)",
		"INSERT INTO public.competitors (brand_id, name, aliases) VALUES ($1, 'New', ARRAY[$2])",
		"UPDATE public.brands SET name = $2 WHERE id = $1",
	} {
		for _, name := range []string{"x\n2026-11-20 10:00:00", "\x1b[2J", " ", strings.Repeat("é", 257)} {
			if got := w.user(t, w.own.users["member"], insert, w.own.brand.ID, name); got.code != "23514" ||
				postgres.IsName(name) {
				t.Errorf("%s of %.20q: %+v", insert, name, got)
			}
		}
	}
}

// Whatever address of a host is written, and whoever writes it, one form is kept.
func TestDomainsHaveOneForm(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for address, want := range map[string]string{
		"www.Example.COM.":                     "example.com",
		"https://user@www.example.com:443/?x":  "example.com",
		"http://münchen.de":                    "xn--mnchen-3ya.de",
		"MÜNCHEN.DE":                           "xn--mnchen-3ya.de",
		"例え。テスト":                               "xn--r8jz45g.xn--zckzah",
		"пример.рф":                            "xn--e1afmkfd.xn--p1ai",
		"www.com":                              "www.com",
		"www.www.example":                      "www.example",
		" Example.org ":                        "example.org",
		"//example.net/x":                      "example.net",
		"example.eu?x=@y":                      "example.eu",
		"http://user:pw@shop.example.com:8080": "shop.example.com",
		"localhost:3000":                       "localhost",
		"my_shop.example.com":                  "my_shop.example.com",
	} {
		insert := "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, $2) RETURNING 1 / (domain = $3)::int"
		if got := w.user(t, w.own.users["member"], insert, w.own.brand.ID, address, want); got != (outcome{rows: 1}) {
			t.Errorf("brand_domains: %q is not %q: %+v", address, want, got)
		}
		insert = "INSERT INTO public.competitors (brand_id, name, domains) VALUES ($1, 'New', ARRAY[$2]) RETURNING " +
			"1 / (domains = ARRAY[$3] AND domain = $3)::int"
		if got := w.user(t, w.own.users["member"], insert, w.own.brand.ID, address, want); got != (outcome{rows: 1}) {
			t.Errorf("competitors: %q is not %q: %+v", address, want, got)
		}
	}
	for _, address := range []string{
		"", " ", "lamps", "a b.example", "-a.example", "a..example", "*.example.com", "a,b.com", "https://",
		"javascript:alert(1)", strings.Repeat("a", 64) + ".example", strings.Repeat("ä", 300) + ".example",
		strings.Repeat("a.", 127) + "com",
	} {
		got := w.user(t, w.own.users["member"], "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, $2)",
			w.own.brand.ID, address)
		if got.code != "23514" || !strings.Contains(got.message, "want a host such as example.com") {
			t.Errorf("%q: %+v", address, got)
		}
	}
}
