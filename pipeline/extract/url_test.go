package extract

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

func TestNormalise(t *testing.T) {
	cases := []struct{ rule, raw, want string }{
		{"scheme and host in lower case, path not", "HTTPS://Example.COM/A%2fb", "https://example.com/A%2Fb"},
		{"punycode", "https://www.Bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"},
		{"punycode of a full stop of width", "https://例え。jp", "https://xn--r8jz45g.jp"},
		{"punycode of an emoji", "https://💩.la/", "https://xn--ls8h.la"},
		{"ß is a letter of its own", "https://straße.de", "https://xn--strae-oqa.de"},
		{"one leading www.", "https://www.www.example.com", "https://www.example.com"},
		{"www. is not a part of a label", "https://wwww.example.com", "https://wwww.example.com"},
		{"trailing dot", "https://example.com./a", "https://example.com/a"},
		{"default ports", "http://example.com:80/a", "http://example.com/a"},
		{"default ports", "https://example.com:443", "https://example.com"},
		{"the other's default port", "http://example.com:443", "http://example.com:443"},
		{"empty port", "http://example.com:/a", "http://example.com/a"},
		{"userinfo", "https://user:p@ss@example.com/a@b", "https://example.com/a@b"},
		{"fragment", "https://example.com/a#b?c/", "https://example.com/a"},
		{"fragment after the host", "https://example.com#b", "https://example.com"},
		{"trailing slashes", "https://example.com/a//", "https://example.com/a"},
		{"trailing slashes of the path, not of the query", "https://example.com/a/?b=/", "https://example.com/a?b=/"},
		{"only slashes", "https://example.com//", "https://example.com"},
		{"slashes inside", "https://example.com//a//b", "https://example.com//a//b"},
		{"dot segments", "https://example.com/a/../b/.", "https://example.com/b"},
		{"dot segments above the host", "https://example.com/../a/%2E%2e/b", "https://example.com/b"},
		{"escapes", "https://example.com/caf%c3%a9/%7Ejo?q=%c3%a9", "https://example.com/caf%C3%A9/~jo?q=%C3%A9"},
		{"raw characters", `https://example.com/café/\xC3\xA9?q=é`, "https://example.com/caf%C3%A9/%C3%A9?q=%C3%A9"},
		{"empty query", "https://example.com/a?", "https://example.com/a"},
		{"empty parameters", "https://example.com/?&a=1&&b&", "https://example.com?a=1&b"},
		{"parameters without value stay", "https://example.com/?a=&b&=", "https://example.com?a=&b&="},
		{"parameters stay in order", "https://example.com/?b=%7e&a=+&b=1%2f", "https://example.com?b=~&a=+&b=1%2F"},
		{"a second question mark", "https://example.com/?a?utm_x=1", "https://example.com?a?utm_x=1"},
		{"query after the host", "https://example.com?a=1", "https://example.com?a=1"},
		{"campaigns in any case", "https://example.com/?UTM_Source=a&utm_=b&x=1&Utm_id", "https://example.com?x=1"},
		{"all clicks", "https://example.com/?gclid=1&gclsrc=1&dclid=1&gbraid=1&wbraid=1&fbclid=1&msclkid=1&yclid=1&" +
			"twclid=1&ttclid=1&li_fat_id=1&igshid=1&mc_cid=1&mc_eid=1&srsltid=1&_ga=1&_GL=1", "https://example.com"},
		{"what begins or ends like a click", "https://example.com/?gclids=1&xgclid=1&_gax=1&utm=1&autm_a=1",
			"https://example.com?gclids=1&xgclid=1&_gax=1&utm=1&autm_a=1"},
		{"an encoded name", "https://example.com/?utm%5Fsource=a", "https://example.com"},
		{"IPv6", "http://[2001:DB8::1]:80/a", "http://[2001:db8::1]/a"},
		{"IPv6 with a port", "http://[::1]:8080/", "http://[::1]:8080"},
		{"white space around", " https://example.com/a \n", "https://example.com/a"},
		{"underscore in a host", "https://a_b.example.com", "https://a_b.example.com"},

		{"no scheme", "example.com", ""},
		{"another scheme", "ftp://example.com", ""},
		{"letters that fold to a scheme", "httpſ://example.com", ""},
		{"no host", "https:///a", ""},
		{"no host", "https://", ""},
		{"no host but a port", "https://:80/", ""},
		{"no host but userinfo", "https://a@/", ""},
		{"no host but a dot", "https://./", ""},
		{"white space in the host", "https://exa mple.com", ""},
		{"unclosed IPv6", "http://[::1", ""},
		{"two ports", "http://example.com:80:80", ""},
		{"a port that is no number", "https://example.com:x/p", ""},
		{"a negative port", "https://example.com:-1/p", ""},
		{"a port beyond all", "https://example.com:65536/p", ""},
		{"a backslash", `https://über.example\a`, ""},
		{"an escaped host", "http://example.com%2e/", ""},
		{"brackets of HTML", "http://<example>.com/", ""},
		{"no host is that long", "https://" + strings.Repeat("a.", 127) + "com", ""},
		{"empty", "", ""},
	}
	for _, c := range cases {
		got, host, ok := normalise(c.raw)
		if got != c.want || ok != (c.want != "") || ok != (host != "") {
			t.Errorf("%s: %q is %q (%v), want %q", c.rule, c.raw, got, ok, c.want)
		}
	}
}

// A citation of a redirect is of the page where it leads, if the address tells.
func TestDestinations(t *testing.T) {
	const gemini = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ"
	for _, c := range []struct {
		url, title, want string
		uncited          bool
	}{
		{url: gemini, title: "acme.example", want: "https://acme.example"},
		{url: gemini, title: "Anvils of all sizes", want: gemini, uncited: true},
		{url: "https://vertexaisearch.cloud.google.com/", title: "acme.example",
			want: "https://vertexaisearch.cloud.google.com"},
		{url: "https://www.google.com/url?q=https://acme.example/anvils&sa=U&ved=2ah",
			want: "https://acme.example/anvils"},
		{url: "https://www.google.co.uk/url?sa=t&url=https%3A%2F%2Facme.example%2Fa%253f",
			want: "https://acme.example/a%3F"},
		{url: "https://www.google.com/url?q=/search?x", want: "https://google.com/url?q=/search?x"},
		{url: "https://www.google.com/search?q=https://acme.example/",
			want: "https://google.com/search?q=https://acme.example/"},
		{url: "https://google.com.evil.example/url?q=https://acme.example",
			want: "https://google.com.evil.example/url?q=https://acme.example"},
		{url: "https://www.bing.com/ck/a?!&&p=0f1e&u=a1aHR0cHM6Ly9hY21lLmV4YW1wbGUvYW52aWxz&ntb=1",
			want: "https://acme.example/anvils"},
		{url: "https://www.bing.com/ck/a?u=a1bm8", want: "https://bing.com/ck/a?u=a1bm8"},
		{url: "https://acme-example.cdn.ampproject.org/c/s/acme.example/anvils/amp?x=1",
			want: "https://acme.example/anvils/amp?x=1"},
		{url: "https://acme-example.cdn.ampproject.org/v/acme.example/a%2fb", want: "http://acme.example/a%2Fb"},
		{url: "https://www.google.com/amp/s/acme.example/anvils", want: "https://acme.example/anvils"},
		{url: "https://www.google.com/url?q=https%3A%2F%2Fwww.google.com%2Famp%2Fs%2Facme.example%2F",
			want: "https://acme.example"},
		{url: "https://cdn.ampproject.org/v0.js", want: "https://cdn.ampproject.org/v0.js"},
		{url: "https://duckduckgo.com/l/?uddg=https%3A%2F%2Facme.example%2F", want: "https://acme.example"},
		{url: "https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU=https%3a%2f%2facme.example%2fa/RK=2/RS=b-",
			want: "https://acme.example/a"},
		{url: "https://l.facebook.com/l.php?u=https%3A%2F%2Facme.example%2F&h=AT", want: "https://acme.example"},
		{url: "https://www.youtube.com/redirect?q=https%3A%2F%2Facme.example", want: "https://acme.example"},
		{url: "https://www.youtube.com/watch?v=1", want: "https://youtube.com/watch?v=1"},
	} {
		got := sourceOf(&event.Citation{URL: c.url, Title: c.title, Cited: true})
		if got.url != c.want || got.cited == c.uncited {
			t.Errorf("%s is %s (cited: %t), want %s", c.url, got.url, got.cited, c.want)
		}
		former := formerSourceOf(&event.Citation{URL: c.url, Title: c.title, Cited: true})
		if host := former.host; !former.cited || host == "acme.example" {
			t.Errorf("%s was of %s", c.url, host)
		}
	}
}

func TestRegistrableDomain(t *testing.T) {
	cases := map[string]string{
		"example.com":            "example.com",
		"a.b.example.co.uk":      "example.co.uk",
		"shop.example.github.io": "example.github.io", // the list's private section
		"example.blogspot.com":   "example.blogspot.com",
		"github.io":              "github.io", // a public suffix has none
		"gov.uk":                 "gov.uk",
		"localhost":              "localhost",
		"127.0.0.1":              "127.0.0.1",
		"[::1]":                  "[::1]",
		"a.b.unlisted":           "b.unlisted",
		"a..b":                   "a..b",
		"xn--r8jz45g.jp":         "xn--r8jz45g.jp",
	}
	for host, want := range cases {
		if got := registrable(host); got != want {
			t.Errorf("registrable domain of %s is %s, want %s", host, got, want)
		}
	}
}

// A normalised URL is its own normal form, but for a second www. or trailing dot, of which one a time is dropped.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		"https://user@www.Bücher.example.:443/a//?utm_source=x&&b=1#c", "http://[::1]:80/?", "https://例え。jp",
		"https://\u00ad.com",
		"http://a:b:80@c:80:80",
		"https://a%2fb/",
		"https://a.b/%c3%a9/\\xC3/../%2e%2E/%%341?%5Futm_=%7e#",
		"https://www.google.com/url?q=https://x.cdn.ampproject.org/c/s/a.b/c",
		"https://www.bing.com/ck/a?u=a1aHR0cHM6Ly9hLmI",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		destination(raw, "a.example")
		once, host, ok := normalise(raw)
		if !ok {
			return
		}
		registrable(host)
		sourceType(host)
		if strings.HasPrefix(host, "www.") || strings.HasSuffix(host, ".") || !isASCII(host) {
			return
		}
		if twice, again, ok := normalise(once); !ok || twice != once || again != host {
			t.Errorf("%q is %q (host %q), and that is %q (host %q)", raw, once, host, twice, again)
		}
	})
}
