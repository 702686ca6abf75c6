package postgres_test

import (
	"strings"
	"testing"
)

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
		insert = "INSERT INTO public.competitors (brand_id, name, domains) VALUES ($1, 'New', ARRAY[$2]) RETURNING 1 / (domains = ARRAY[$3] AND domain = $3)::int"
		if got := w.user(t, w.own.users["member"], insert, w.own.brand.ID, address, want); got != (outcome{rows: 1}) {
			t.Errorf("competitors: %q is not %q: %+v", address, want, got)
		}
	}
	for _, address := range []string{"", " ", "lamps", "a b.example", "-a.example", "a..example", "*.example.com", "a,b.com", "https://", "javascript:alert(1)", strings.Repeat("a", 64) + ".example", strings.Repeat("ä", 300) + ".example", strings.Repeat("a.", 127) + "com"} {
		got := w.user(t, w.own.users["member"], "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, $2)", w.own.brand.ID, address)
		if got.code != "23514" || !strings.Contains(got.message, "want a host such as example.com") {
			t.Errorf("%q: %+v", address, got)
		}
	}
}
