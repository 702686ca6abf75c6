package egress

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/testkit/cputime"
)

// site serves pages at 127.0.0.2, and returns its port and the requests that came.
func site(t *testing.T, pages map[string]http.HandlerFunc) (port string, requests func() string) {
	t.Helper()
	var mu sync.Mutex
	var paths []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.Host+r.URL.Path)
		mu.Unlock()
		if r.UserAgent() != "answerscope" || len(r.Cookies()) > 0 || r.Header.Get("Authorization") != "" {
			t.Errorf("%s came with %v", r.URL, r.Header)
		}
		w.Header().Set("Connection", "close")
		if serve := pages[r.URL.Path]; serve != nil {
			serve(w, r)
			return
		}
		http.NotFound(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{
		Listener: listener, Config: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute},
	}
	server.Start()
	t.Cleanup(server.Close)
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.ReplaceAll(strings.Join(paths, " "), ":"+port, "")
	}
}

func page(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		_, _ = io.WriteString(w, body)
	}
}

func redirect(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		w.Header().Set("Location", address)
		w.WriteHeader(http.StatusFound)
	}
}

// siteOpen lets Pages fetch from the test's sites, and from no other address of this machine.
var siteOpen = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}

func pagesBy(open []netip.Prefix, dialer net.Dialer) *Pages {
	return &Pages{newClient(homePages, open, dialer)}
}

func pagesOf(t *testing.T, addresses map[string][]string) *Pages {
	t.Helper()
	for _, name := range []string{"home.example.", "www.home.example.", "in.home.example.", "evil.example."} {
		if addresses[name] == nil {
			addresses[name] = []string{"127.0.0.2"}
		}
	}
	return pagesBy(siteOpen, (&names{addresses: addresses}).dialer(t))
}

// refused fetches a home page that must be refused for a reason.
func refused(t *testing.T, p *Pages, domain, want string) {
	t.Helper()
	got, err := p.Home(t.Context(), domain)
	if kind, text := problem.Of(err); kind != problem.Unprocessable ||
		!strings.Contains(text, want) || len(text) > 1200 {
		t.Errorf("%s: %d bytes, %v, want %q", domain, len(got.Body), err, want)
	}
}

func TestAHomePageIsFetchedFromPublicAddressesAlone(t *testing.T) {
	t.Parallel()
	port, untouched := listen(t, "127.0.0.1:0")
	for _, address := range []string{
		"127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "0.0.0.0",
		"::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1", "fe80::1", "2002:7f00:1::1",
	} {
		p := pagesBy(nil, (&names{addresses: map[string][]string{"home.example.": {address}}}).dialer(t))
		refused(t, p, "home.example:"+port, "https: no public address, http: no public address")
	}
	system, err := NewPages(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range []string{
		"127.0.0.1:" + port, "[::1]:" + port, "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]:" + port,
	} {
		refused(t, system, domain, "no public address")
	}
	// some systems read these as 127.0.0.1
	for host, want := range map[string]string{
		"127.1": "no public address", "2130706433": "no public address", "0x7f.1": "no public address",
	} {
		p := pagesBy(nil, (&names{addresses: map[string][]string{host + ".": {"127.0.0.1"}}}).dialer(t))
		refused(t, p, host+":"+port, want)
		refused(t, system, host+":"+port, "cannot be fetched")
	}
	untouched()
	for network, address := range map[string]string{"tcp4": "93.184.215.14", "tcp6": "[2606:2800:21f:cb07::1]"} {
		for port, isOpen := range map[string][2]bool{"443": {true, false}, "80": {false, true}, "8443": {}, "22": {}} {
			for i, forTLS := range []bool{true, false} {
				if err := system.client.control(forTLS)(t.Context(), network,
					address+":"+port, nil); (err == nil) != isOpen[i] {
					t.Errorf("%s:%s, TLS %t: %v", address, port, forTLS, err)
				}
			}
		}
	}
}

func TestAHomePageIsNotRedirectedElsewhere(t *testing.T) {
	t.Parallel()
	victim, untouched := listen(t, "127.0.0.1:0")
	for _, c := range []struct{ location, want string }{
		{"http://127.0.0.1:" + victim + "/", "not on home.example"},
		{"//127.0.0.1:" + victim + "/", "not on home.example"},
		{"http://[::1]:" + victim + "/", "not on home.example"},
		{"http://169.254.169.254/latest/meta-data/", "not on home.example"},
		{"http://10.0.0.1/", "not on home.example"},
		{"http://x@127.1:" + victim + "/", "not on home.example"},
		{"http://2130706433:" + victim + "/", "not on home.example"},
		{"http://home.example@127.0.0.1:" + victim + "/", "not on home.example"},
		{"http://ann:secret@home.example:" + victim + "/", "not on home.example"},
		{"http://home.example.evil.example/", "not on home.example"},
		{"http://evilhome.example/", "not on home.example"},
		{"http://in.home.example:" + victim + "/", "no public address"},
		{"ftp://home.example/", "cannot be fetched"},
		// 127.0.0.2 has no such port
		{"http://home.example:" + victim + "/" + strings.Repeat("a", 900), "connection refused"},
		{"http://home.example:" + victim + "/" + strings.Repeat("a", 9000), "more than 2048 bytes"},
	} {
		port, _ := site(t, map[string]http.HandlerFunc{"/": redirect(c.location)})
		p := pagesOf(t, map[string][]string{"in.home.example.": {"127.0.0.1"}})
		refused(t, p, "home.example:"+port, c.want)
		port, _ = site(t, map[string]http.HandlerFunc{"/robots.txt": redirect(c.location), "/": page("text/html", "")})
		refused(t, p, "home.example:"+port, c.want)
	}
	untouched()
}

func TestAHomePageThatChangesItsAddressIsRefused(t *testing.T) {
	t.Parallel()
	port, requests := site(t, map[string]http.HandlerFunc{"/": page("text/html", "")})
	_, untouched := listen(t, "127.0.0.1:"+port)
	p := pagesOf(t, map[string][]string{"home.example.": {"127.0.0.2", "127.0.0.1"}})
	refused(t, p, "home.example:"+port, "https: no TLS, http: no public address")
	untouched()
	if requests() != "" {
		t.Error(requests())
	}
}

func TestAHomePageIsBounded(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	z.Close()
	compressed := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for {
			if _, err := io.WriteString(w, strings.Repeat("a", 1<<15)); err != nil {
				return
			}
		}
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	html := page("text/html", "<title>Home</title>")
	for name, c := range map[string]struct {
		pages map[string]http.HandlerFunc
		size  int
		want  string // a reason
		paths string // that were fetched
	}{
		"page": {map[string]http.HandlerFunc{"/": html}, 19, "", "home.example/robots.txt home.example/"},
		"redirects": {map[string]http.HandlerFunc{"/": redirect("/1"), "/1": redirect("/2"),
			"/2": redirect("/3"), "/3": html}, 19, "", ""},
		"too many": {map[string]http.HandlerFunc{"/": redirect("/1"), "/1": redirect("/2"), "/2": redirect("/3"),
			"/3": redirect("/4"), "/4": html}, 0, "more than 3 times", ""},
		"bomb":    {map[string]http.HandlerFunc{"/": compressed}, maxPage, "", ""},
		"endless": {map[string]http.HandlerFunc{"/": endless}, maxPage, "", ""},
		"slow":    {map[string]http.HandlerFunc{"/": slow}, 0, "http: timeout", ""},
		"missing": {map[string]http.HandlerFunc{"/": nil}, 0, "responds with status 404", ""},
		"nowhere": {map[string]http.HandlerFunc{"/": status(302)}, 0, "responds with status 302", ""},
		"text": {map[string]http.HandlerFunc{"/": page("text/plain", "x")}, 0,
			`is "text/plain", want text/html`, ""},
		"no type": {map[string]http.HandlerFunc{"/": page("", "x")}, 0, "want text/html", ""},
		"robots": {map[string]http.HandlerFunc{"/": html,
			"/robots.txt": page("text/plain", "User-agent: *\nDisallow: /")}, 0,
			"/robots.txt forbids http://home.example", "home.example/robots.txt"},
		"allowed": {map[string]http.HandlerFunc{"/": html,
			"/robots.txt": page("text/plain", "User-agent: *\nDisallow: /\nUser-agent: Answerscope\nDisallow: /in")},
			19, "", ""},
		"no robots": {map[string]http.HandlerFunc{"/": html, "/robots.txt": status(403)}, 19, "", ""},
		"broken": {map[string]http.HandlerFunc{"/": html, "/robots.txt": status(503)}, 0,
			"robots.txt responds with status 503", "home.example/robots.txt"},
		"inside": {map[string]http.HandlerFunc{"/": redirect("/in"), "/in": html,
			"/robots.txt": page("text/plain", "User-agent: *\nDisallow: /in")}, 0, "forbids",
			"home.example/robots.txt home.example/ home.example/robots.txt"},
		"endless r": {map[string]http.HandlerFunc{"/": html, "/robots.txt": endless}, 19, "", ""},
		"slow r": {map[string]http.HandlerFunc{"/": html, "/robots.txt": slow}, 0, "http: timeout",
			"home.example/robots.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, requests := site(t, c.pages)
			p := pagesOf(t, map[string][]string{})
			ctx, cancel := context.WithCancel(t.Context())
			if strings.HasPrefix(name, "slow") {
				ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second) // suffices for the first bytes
			}
			defer cancel()
			got, err := p.Home(ctx, "home.example:"+port)
			kind, text := problem.Of(err)
			if (err != nil) != (c.want != "") ||
				err != nil && (kind != problem.Unprocessable || !strings.Contains(text, c.want)) ||
				err == nil && len(got.Body) != c.size {
				t.Errorf("%d bytes, %v, want %d, %q", len(got.Body), err, c.size, c.want)
			}
			if c.paths != "" && requests() != c.paths {
				t.Errorf("fetched %s, want %s", requests(), c.paths)
			}
		})
	}
}

// The host below the domain has a robots.txt of its own.
func TestAHomePageMayBeBelowItsDomain(t *testing.T) {
	t.Parallel()
	www, requests := site(t, map[string]http.HandlerFunc{"/en": page("text/html", "<p>")})
	port, _ := site(t, map[string]http.HandlerFunc{"/": redirect("http://WWW.home.example:" + www + "/en")})
	got, err := pagesOf(t, map[string][]string{"WWW.home.example.": {"127.0.0.2"}}).Home(t.Context(),
		"home.example:"+port)
	if err != nil || got.URL.Path != "/en" || requests() != "WWW.home.example/robots.txt WWW.home.example/en" {
		t.Errorf("%v, %v: fetched %s", got.URL, err, requests())
	}
}

// The reader of robots.txt is not ours: these are what it must do (RFC 9309), also at what hostile sites serve.
func TestRobots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		robots, path string
		want         bool
	}{
		{"<html>", "/", true},
		{"\ufeffUSER-AGENT : * # all\r\n\r\nDISALLOW : / # all\r\n", "/", false},
		{"User-agent: *\nDisallow: /$", "/", false},
		{"User-agent: *\nDisallow: /$", "/en", true},
		{"User-agent: *\nDisallow: /*?", "/a?b", false},
		{"User-agent: *\nDisallow: /\nAllow: /$", "/", true},
		{"User-agent: other\nDisallow: /\n\nUser-agent: answerscope/1.0\nDisallow: /", "/", false},
		{"User-agent: *\nDisallow: /\nUser-agent: answerscope\nCrawl-delay: x", "/", true},
		{"Disallow: /\nUser-agent: *\nDisallow: /a", "/", true},
		{"User-agent: *\nDisallow: /caf%c3%a9", "/caf%c3%a9", false},
		{"User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9/menu", false},
		{"User-agent: *\nDisallow: /caf%C3%a9", "/caf%c3%A9", false},
		{"User-agent: *\nDisallow: /café", "/caf%c3%a9", false},
		{"User-agent: *\nDisallow: /caf%c3%a9", "/caf%c3%a8", true},
		{"User-agent: *\nDisallow: /%7ejo", "/~jo", false},
		{"User-agent: *\nDisallow: /a%2fb", "/a/b", true},
		{"User-agent: *\nDisallow: /a%2fb", "/a%2Fb", false},
		{"User-agent: *\n" + strings.Repeat("Disallow: /*a*b\n", maxPage/16), "/" + strings.Repeat("a", 2000), true},
		{"User-agent: *\nDisallow: /" + strings.Repeat("*a", maxPage/2), "/" + strings.Repeat("a", 2000), true},
	} {
		var permitted bool
		took := cputime.Of(t, func() {
			permitted = permits(c.robots, "https://home.example"+c.path)
		})
		if permitted != c.want || took > 10*time.Second {
			t.Errorf("%.100q permits %.100s: %t in %v", c.robots, c.path, permitted, took)
		}
	}
}
