package httpd

import (
	_ "embed"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func proxies(t testing.TB, texts ...string) Proxies {
	t.Helper()
	p, err := ParseProxies(texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheAddressIsTheRightMostUntrustedHop(t *testing.T) {
	v := proxies(t, "10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1")
	for _, a := range []struct{ remote, forwarded, want string }{
		{"198.51.100.7", "", "198.51.100.7"},
		{"198.51.100.7", "203.0.113.9", "198.51.100.7"}, // from one that is not trusted
		{"198.51.100.7", "203.0.113.9, 10.0.0.1", "198.51.100.7"},
		{"10.0.0.1", "", "10.0.0.1"},
		{"10.0.0.1", "  ", "10.0.0.1"},
		{"10.0.0.1", "203.0.113.9", "203.0.113.9"},
		{"10.0.0.1", "192.0.2.66, 203.0.113.9", "203.0.113.9"}, // the visitor wrote the first one
		{"10.0.0.1", "10.9.9.9, 203.0.113.9", "203.0.113.9"},
		{"10.0.0.1", "192.0.2.66,203.0.113.9 , 10.0.0.2,10.0.0.3", "203.0.113.9"},
		{"10.0.0.1", "10.0.0.4, 10.0.0.2", "10.0.0.4"}, // all are trusted: the first one
		{"127.0.0.1", "203.0.113.9:4711", "203.0.113.9"},
		{"127.0.0.1", "2001:db8::7", "2001:db8::7"},
		{"127.0.0.1", "[2001:db8::7]", "2001:db8::7"},
		{"127.0.0.1", "[2001:db8::7]:443", "2001:db8::7"},
		{"127.0.0.1", "fe80::7%eth0", "fe80::7"},
		{"2001:db8:1::5", "203.0.113.9", "203.0.113.9"},
		{"2001:db8:2::5", "203.0.113.9", "2001:db8:2::5"},
		{"::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"}, // IPv4 in IPv6 is IPv4
		{"::ffff:198.51.100.7", "203.0.113.9", "198.51.100.7"},
		{"10.0.0.1", "unknown", ""},
		{"10.0.0.1", "203.0.113.9, _hidden", ""}, // what is left of it is not trusted
		{"10.0.0.1", "203.0.113.9,", ""},
		{"10.0.0.1", "203.0.113.9, , 10.0.0.2", ""},
		{"10.0.0.1", "[2001:db8::7", ""},
		{"10.0.0.1", "203.0.113.9:99999", ""},
		{"10.0.0.1", "203.0.113.300", ""},
	} {
		want := netip.Addr{}
		if a.want != "" {
			want = netip.MustParseAddr(a.want)
		}
		if got := v.Address(netip.MustParseAddr(a.remote), a.forwarded); got != want {
			t.Errorf("%s forwarding %q: %v, want %v", a.remote, a.forwarded, got, want)
		}
	}
	if got := v.Address(netip.Addr{}, "203.0.113.9"); got.IsValid() {
		t.Errorf("of no address %v", got)
	}
	if !v.Trust(netip.MustParseAddr("::ffff:10.1.2.3")) || v.Trust(netip.MustParseAddr("11.1.2.3")) ||
		v.Trust(netip.Addr{}) {
		t.Error("trust")
	}
}

// A proxy may add a header in place of a hop: all headers of a request count, in their order.
func TestEveryHeaderHasHops(t *testing.T) {
	v := proxies(t, "127.0.0.1")
	url, _, _ := start(t, func(app *fiber.App) {
		app.Get("/", func(c *fiber.Ctx) error { return c.SendString(v.Client(c).String()) })
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header["X-Forwarded-For"] = []string{"192.0.2.66", "203.0.113.9"}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if client, err := io.ReadAll(response.Body); err != nil || string(client) != "203.0.113.9" {
		t.Errorf("the client is %s, %v", client, err)
	}
}

func TestWithoutTrustedProxiesNoHeaderIsBelieved(t *testing.T) {
	var v Proxies
	for _, remote := range []string{"127.0.0.1", "10.0.0.1", "198.51.100.7", "::1"} {
		if got := v.Address(netip.MustParseAddr(remote), "203.0.113.9"); got != netip.MustParseAddr(remote) {
			t.Errorf("%s: %v", remote, got)
		}
	}
}

// corpus is what fuzzing has found: a header a line, as Go writes strings.
//
//go:embed testdata/address.corpus
var corpus string

// Whatever is forwarded, the address is remote, none, or in the header.
func FuzzAddress(f *testing.F) {
	f.Add("203.0.113.9, 10.0.0.2")
	f.Add("[2001:db8::7]:443")
	f.Add(",, ,")
	f.Add("::ffff:1.2.3.4%1,10.0.0.1")
	for line := range strings.Lines(corpus) {
		forwarded, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(forwarded)
	}
	v := proxies(f, "10.0.0.0/8")
	remote, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("198.51.100.7")
	f.Fuzz(func(t *testing.T, forwarded string) {
		if got := v.Address(stranger, forwarded); got != stranger {
			t.Fatalf("%q is believed: %v", forwarded, got)
		}
		got := v.Address(remote, forwarded)
		if got.Is4In6() || got.Zone() != "" {
			t.Fatalf("%q: %v", forwarded, got)
		}
		if got.IsValid() && got != remote && v.Address(remote, forwarded+", 10.0.0.2") != got {
			t.Fatalf("%q: another hop that is trusted changes %v", forwarded, got)
		}
	})
}

func TestWhatIsNoProxyIsNamed(t *testing.T) {
	_, err := ParseProxies([]string{"10.0.0.0/8", "proxy.example", "::1", "10.0.0.0/40"})
	if err == nil || strings.Count(err.Error(), "want an address or a prefix") != 2 ||
		!strings.Contains(err.Error(), `"proxy.example"`) {
		t.Errorf("%v", err)
	}
}
