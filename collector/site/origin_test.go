package site

import (
	_ "embed"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/sql/postgres"
)

var origins = []struct{ origin, host string }{ // host "": refused
	{"https://shop.example", "shop.example"},
	{"http://shop.example", "shop.example"},
	{"HTTPS://SHOP.Example", "shop.example"},
	{"https://shop.example:8443", "shop.example"},
	{"https://shop.example:0", "shop.example"},
	{"https://shop.example.", "shop.example"},
	{"https://shop.example.:443", "shop.example"},
	{"https://a.b-c._d.shop.example", "a.b-c._d.shop.example"},
	{"https://bücher.example", "xn--bcher-kva.example"},
	{"https://BÜCHER.example:1", "xn--bcher-kva.example"},
	{"https://bu\u0308cher.example", "xn--bcher-kva.example"},
	{"https://faß.example", "xn--fa-hia.example"},
	{"https://XN--BCHER-KVA.example", "xn--bcher-kva.example"},
	{"https://例え。テスト", "xn--r8jz45g.xn--zckzah"},
	{"https://ｓｈｏｐ.example", "shop.example"},
	{"https://shop⁄.example", "xn--shop-3g7a.example"},
	{"https://127.0.0.1:3000", "127.0.0.1"},
	{"http://localhost:3000", "localhost"},

	{"", ""}, {"null", ""}, {"NULL", ""}, {" ", ""},
	{"shop.example", ""}, {"//shop.example", ""}, {"https:shop.example", ""}, {"https:/shop.example", ""},
	{"https://", ""}, {"https:///", ""}, {"https://:443", ""}, {"https://.", ""},
	{"ftp://shop.example", ""}, {"file://shop.example", ""}, {"chrome-extension://abcdefgh", ""},
	{"httpsx://shop.example", ""}, {"javascript://shop.example", ""},
	{"https://shop.example/", ""}, {"https://shop.example/path", ""}, {"https://shop.example?q", ""},
	{"https://shop.example#f", ""}, {`https://shop.example\`, ""},
	{"https://user@shop.example", ""}, {"https://user:word@shop.example", ""},
	{"https://shop.example@evil.example", ""}, {"https://shop.example:80@evil.example", ""},
	{"https://@shop.example", ""},
	{"https://shop.example https://evil.example", ""}, {"https://shop.example, https://evil.example", ""},
	{"https://shop.example,evil.example", ""}, {"https://shop.example;evil.example", ""},
	{" https://shop.example", ""}, {"https://shop.example ", ""}, {"https://shop.example\n", ""},
	{"https://shop.example\x00", ""}, {"https://shop .example", ""}, {"https://shop.example\t", ""},
	{"*", ""}, {"https://*", ""}, {"https://*.shop.example", ""}, {"https://*shop.example", ""},
	{"https://shop..example", ""}, {"https://.shop.example", ""}, {"https://shop.example..", ""},
	{"https://shop.example:", ""}, {"https://shop.example:port", ""}, {"https://shop.example:65536", ""},
	{"https://shop.example:000080", ""}, {"https://shop.example:-1", ""}, {"https://shop.example:80:80", ""},
	{"https://shop.example:８０", ""},
	{"https://shop%2eexample", ""}, {"https://%73hop.example", ""}, {"https://shop.example%00.evil.example", ""},
	{"https://[::1]", ""}, {"https://[::1]:80", ""}, {"https://::1", ""}, {"https://[shop.example]", ""},
	{"https://127.1", ""}, {"https://0x7f.0x0.0.1", ""}, {"https://2130706433", ""}, {"https://127.0.0.01", ""},
	{"https://shop.example.1", ""}, {"https://shop.0x", ""},
	{"https://shop.example\xff", ""}, {"https://℀.example", ""}, {"https://shop\u202e.example", ""},
	{"https://" + strings.Repeat("a", 64) + ".example", ""}, {"https://" + strings.Repeat("a.", 126) + "example", ""},
}

func TestAnOriginIsAPlainHost(t *testing.T) {
	for _, o := range origins {
		if host, ok := OriginHost(o.origin); host != o.host || ok != (o.host != "") {
			t.Errorf("%q: %q, %v, want %q", o.origin, host, ok, o.host)
		}
	}
}

func TestAPageHasAHostAndAPath(t *testing.T) {
	for _, p := range []struct{ page, host, path, query string }{
		{"https://shop.example", "shop.example", "", ""},
		{"https://Shop.Example.:8443/a/b?q=1?2#f?3", "shop.example", "/a/b", "q=1?2"},
		{"https://shop.example?q=a@b:c", "shop.example", "", "q=a@b:c"},
		{"https://shop.example#/a?b", "shop.example", "", ""},
		{"http://bücher.example/ü", "xn--bcher-kva.example", "/ü", ""},
		{"https://shop.example/https://evil.example/", "shop.example", "/https://evil.example/", ""},
		{`https://shop.example/\evil.example`, "shop.example", `/\evil.example`, ""},
		{"https://user@shop.example/", "", "", ""}, {"https://shop.example@evil.example/", "", "", ""},
		{"https://shop.example:x@evil.example/", "", "", ""},
		{`https://evil.example\@shop.example/`, "", "", ""}, {`https:\\shop.example/`, "", "", ""},
		{"https:shop.example/", "", "", ""},
		{"/path", "", "", ""}, {"about:blank", "", "", ""}, {"file:///shop.example", "", "", ""},
		{"https:///shop.example", "", "", ""}, {"data:text/html,https://shop.example/", "", "", ""},
		{"https://shop..example/", "", "", ""}, {"https://[::1]/", "", "", ""}, {" https://shop.example/", "", "", ""},
		{"https://shop.example\t/", "", "", ""}, {"", "", "", ""},
	} {
		host, path, query, ok := ParsePage(p.page)
		if host != p.host || path != p.path || query != p.query || ok != (p.host != "") {
			t.Errorf("%q: %q, %q, %q, %v, want %q, %q, %q", p.page, host, path, query, ok, p.host, p.path, p.query)
		}
	}
}

func siteOf(domains ...string) *Site {
	return newList([]postgres.Site{{Domains: domains}}).sites[postgres.Site{}.BrandID]
}

// What origin validation of others let pass: a part of a name, a name before or after
// the domain, a domain that is under the host.
func TestLookalikesAreForeign(t *testing.T) {
	s := siteOf("shop.example", "xn--bcher-kva.example", "127.0.0.1", "0.0.2", "co.uk", "github.io",
		"me.github.io", "localhost")
	for host, want := range map[string]bool{
		"shop.example": true, "www.shop.example": true, "a.b.shop.example": true, "xn--bcher-kva.example": true,
		"www.xn--bcher-kva.example": true, "127.0.0.1": true, "me.github.io": true, "localhost": true,
		"any.co.uk": false, "co.uk": false, "other.github.io": false, // anybody may have a site below a public suffix
		"": false, ".": false, "example": false, "hop.example": false, "myshop.example": false,
		"my-shop.example": false, "shop.example.evil.example": false, "shop.examples": false,
		"shopxexample": false, "shop-example": false, "evil.example": false, "shop.example.com": false,
		"bcher-kva.example": false, "xn--bcher-kvb.example": false,
		"127.0.0.2": false, "27.0.0.1": false, "1.127.0.0.1": false, "127.0.0.1.evil.example": false, "uk": false,
	} {
		if got := s.Allows(host); got != want {
			t.Errorf("%q allowed: %v", host, got)
		}
	}
	if siteOf().Allows("") || siteOf().Allows("shop.example") || siteOf("").Allows("") ||
		siteOf("*").Allows("shop.example") {
		t.Error("a site without domains allows something")
	}
}

// naiveHost is what OriginHost says, by way of net/url and split labels.
func naiveHost(origin string) (string, bool) {
	u, err := url.Parse(origin)
	if err != nil || !utf8.ValidString(origin) || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		u.Opaque != "" || strings.Count(origin, "/") != 2 || strings.ContainsAny(origin, `\?#@%*,; []`) {
		return "", false
	}
	_, authority, _ := strings.Cut(origin, "://")
	name, port, has := strings.Cut(authority, ":")
	if has {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || len(port) > 5 || n > 65535 {
			return "", false
		}
	}
	if len(name) > 1016 {
		return "", false
	}
	for _, c := range name {
		if c < 0x80 {
			continue
		}
		if name, err = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
			idna.BidiRule()).ToASCII(name); err != nil {
			return "", false
		}
		break
	}
	name = strings.ToLower(name)
	name = strings.TrimSuffix(name, ".")
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false
		}
		for i := range l {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", rune(l[i])) {
				return "", false
			}
		}
	}
	if naiveNumber(labels[len(labels)-1]) {
		if a, err := netip.ParseAddr(name); err != nil || !a.Is4() {
			return "", false
		}
	}
	return name, len(name) <= 253
}

func naiveNumber(label string) bool {
	if _, err := strconv.ParseUint("0"+label, 10, 64); err == nil {
		return true
	}
	hex, ok := strings.CutPrefix(label, "0x")
	if !ok {
		return len(label) > 18 && strings.Trim(label, "0123456789") == ""
	}
	return strings.Trim(hex, "0123456789abcdef") == ""
}

// naiveAllows is what Allows says: one of the domains, or ends in a dot and one of them.
func naiveAllows(domains []string, host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return slices.Contains(domains, host)
	}
	return slices.ContainsFunc(domains, func(d string) bool { return d == host || strings.HasSuffix(host, "."+d) })
}

// corpus is what fuzzing has found: an origin and a domain a line, as Go writes strings.
//
//go:embed testdata/origin.corpus
var corpus string

// An origin is taken only if a naive reading of it says the same host, and allowed only
// if it is the domain or ends in it.
func FuzzOrigin(f *testing.F) {
	for _, o := range origins {
		f.Add(o.origin, "shop.example")
		f.Add("https://chatgpt.com.evil.example", o.host)
	}
	f.Add("https://XN--BCHER-KVA.EXAMPLE.:1", "bücher.example")
	for line := range strings.Lines(corpus) {
		quoted, domain, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		origin, err := strconv.Unquote(quoted)
		if err != nil {
			f.Fatal(err)
		}
		if domain, err = strconv.Unquote(domain); err != nil {
			f.Fatal(err)
		}
		f.Add(origin, domain)
	}
	f.Fuzz(func(t *testing.T, origin, domain string) {
		host, ok := OriginHost(origin)
		want, wantOK := naiveHost(origin)
		if ok != wantOK || ok && host != want {
			t.Fatalf("%q: %q, %v, naively %q, %v", origin, host, ok, want, wantOK)
		}
		if !ok {
			return
		}
		if again, ok := OriginHost("https://" + host); !ok || again != host {
			t.Fatalf("%q of %q is not its own host: %q, %v", host, origin, again, ok)
		}
		if page, path, _, ok := ParsePage(origin + "/path"); !ok || page != host || path != "/path" {
			t.Fatalf("page of %q: %q, %q, %v", origin, page, path, ok)
		}
		var domains []string
		if d, ok := normal(domain); ok {
			domains = []string{d}
		}
		if got := siteOf(domain).Allows(host); got != naiveAllows(domains, host) {
			t.Fatalf("%q allowed on %q: %v", host, domain, got)
		}
	})
}

func TestAllowsIsTheNaiveComparison(t *testing.T) {
	label := rapid.SampledFrom([]string{"a", "b", "ab", "a-b", "1", "0x1", "xn--a", "_a"})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(label, 1, 5).Draw(t, "labels"), ".")
	})
	rapid.Check(t, func(t *rapid.T) {
		domains := rapid.SliceOfN(name, 0, 6).Draw(t, "domains")
		host := name.Draw(t, "host")
		if !isHost(host) {
			return
		}
		l := newList([]postgres.Site{{Domains: domains}})
		domains = slices.DeleteFunc(domains, func(d string) bool { return !isHost(d) })
		want := naiveAllows(domains, host)
		if got := l.sites[postgres.Site{}.BrandID].Allows(host); got != want {
			t.Fatalf("%q allowed on %q: %v", host, domains, got)
		}
		d := &Directory{}
		d.list.Store(l)
		if got := d.Registered(host); got != want {
			t.Fatalf("%q registered on %q: %v", host, domains, got)
		}
	})
}

func TestTheHotPathAllocatesNothing(t *testing.T) {
	d := &Directory{}
	d.list.Store(newList([]postgres.Site{{Domains: []string{"another.example", "shop.example"}}}))
	allowed := false
	if n := testing.AllocsPerRun(100, func() {
		s, _ := d.Site(postgres.Site{}.BrandID)
		host, _ := OriginHost("https://www.shop.example:8443")
		_, _, _, ok := ParsePage("https://www.shop.example/path?q=1")
		allowed = ok && s.Allows(host) && d.Registered(host)
	}); n != 0 || !allowed {
		t.Errorf("%v allocations, allowed %v", n, allowed)
	}
}

func BenchmarkAllows(b *testing.B) {
	s := siteOf("another.example", "shop.example")
	for b.Loop() {
		host, _ := OriginHost("https://www.shop.example")
		if !s.Allows(host) {
			b.Fatal(host)
		}
	}
}
