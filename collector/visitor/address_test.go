package visitor_test

import (
	_ "embed"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/collector/visitor"
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestTheAddressIsTheRightMostUntrustedHop(t *testing.T) {
	cfg := visitor.DefaultConfig()
	cfg.TrustedProxies = prefixes("10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1/32")
	v := newVisitors(t, cfg, nil)
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
	if !v.Trusts(netip.MustParseAddr("::ffff:10.1.2.3")) || v.Trusts(netip.MustParseAddr("11.1.2.3")) || v.Trusts(netip.Addr{}) {
		t.Error("trust")
	}
}

func TestWithoutTrustedProxiesNoHeaderIsBelieved(t *testing.T) {
	v := newVisitors(t, visitor.DefaultConfig(), nil)
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
	cfg := visitor.DefaultConfig()
	cfg.TrustedProxies = prefixes("10.0.0.0/8")
	v := newVisitors(f, cfg, nil)
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
