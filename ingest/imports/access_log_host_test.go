package imports

import (
	"fmt"
	"strings"
	"testing"
)

// Lines with a host in any field, and behind what collectors of logs write before them.
func TestTheHostOfALine(t *testing.T) {
	const ours, none = "acme.example", ""
	for _, c := range []struct{ before, target, after, want string }{
		{"203.0.113.7 - - ", "/a", "", none},
		{"203.0.113.7 - ana ", "/a", "", none},
		{"acme.example 203.0.113.7 - Jo Doe ", "/a", "", ours},
		{"crawl-1.search.example - jo doe ", "/a", "", none},
		{"ip-10-0-0-1.ec2.internal - - ", "/a", "", none},
		{"unix: - - ", "/a", "", none},
		{"ACME.example:443 203.0.113.7 - - ", "/a", "", "ACME.example:443"},
		{"acme.example.:443 203.0.113.7 - - ", "/a", "", "acme.example.:443"},
		{"acme.example 203.0.113.7:55123 - - ", "/a", "", ours},
		{"acme.example [2001:db8::7]:443 - - ", "/a", "", ours},
		{"acme.example - - - ", "/a", "", ours},
		{"acme.example unix: - - ", "/a", "", ours},
		{"- 203.0.113.7 - - ", "/a", "", "-"},
		{"203.0.113.9 192.0.2.7 - - ", "/a", "", none},
		{"müller-bräu.example 203.0.113.7 - - ", "/a", "", "müller-bräu.example"},

		{"203.0.113.7 - - ", "http://acme.example/a", "", ours},
		{"203.0.113.7 - - ", "HTTPS://other.example:443/a", "", "other.example:443"},
		{"203.0.113.7 - - ", "http://jo@other.example?x", "", "other.example"},
		{"acme.example 203.0.113.7 - - ", "http://other.example", "", "other.example"},
		{"203.0.113.7 other.example - ", "/a", "", "other.example"},
		{"203.0.113.7 - other.example other.example ", "/a", "", "other.example"},
		{`"203.0.113.7" other.example `, "/a", "", "other.example"},
		{"crawl-1.search.example other.example - ", "/a", "", "other.example"},
		{`"other.example" 203.0.113.7 - - `, "/a", "", "other.example"},
		{`"203.0.113.9, 192.0.2.7" - - `, "/a", "", none},
		{"203.0.113.7 - - ", "/a", ` "other.example"`, "other.example"},
		{"203.0.113.7 - - ", "/a", ` 0.004 "-" host="other.example:443" rt=1.5`, "other.example:443"},
		{"203.0.113.7 - - ", "/a", ` "203.0.113.9" 0.004 "TLSv1.3" [default-web-80] 10.0.0.1:80 web.internal`, none},
		{"203.0.113.7 - - ", "/a", ` upstream=a.example`, none},

		{"web-1  | acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"web-1  | 203.0.113.7 - - ", "/a", "", none},
		{"web-1  | 2026-11-27T10:00:02.123Z 203.0.113.7 - - ", "/a", "", none},
		{"\x1b[0;33;1mnginx.1     | \x1b[0macme.example 203.0.113.7 - - ", "/a", "", ours},
		{"Nov 27 10:00:04 web1 nginx: 203.0.113.7 - - ", "/a", "", none},
		{"Nov  7 10:00:04 web1 nginx[812]: acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"<190>Nov 27 10:00:07 web1 nginx: 203.0.113.7 - - ", "/a", "", none},
		{"2026-11-27T10:00:05+00:00 web1 nginx[812]: acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"Fri 2026-11-27 10:00:05 UTC web1 nginx[812]: acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"[    5.123456] web1 nginx[812]: acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"1764237605.123456 web1 nginx[812]: acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"<165>1 2026-11-27T10:00:05Z web1.net nginx 812 - - acme.example 203.0.113.7 - - ", "/a", "", ours},
		{`<165>1 2026-11-27T10:00:05Z web1 nginx 812 ID47 [x@32473 a="b c" d="e"][y] 203.0.113.7 - - `, "/a", "", none},
		{"[pod/ingress-7f9/controller] 203.0.113.7 - - ", "/a", "", none},
		{"[pod/ingress-7f9/controller] acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"2026-11-27T10:00:05.123456789Z stdout F acme.example 203.0.113.7 - - ", "/a", "", ours},
		{"web-1  | <190>Nov 27 10:00:07 web1 nginx: acme.example 2001:db8:: - - ", "/a", "", ours},
	} {
		line := fmt.Sprintf(`%s[02/Mar/2026:12:00:00 +0000] "GET %s HTTP/1.1" 200 10 "-" "GPTBot/1.3"%s`, c.before,
			c.target, c.after)
		l, err := readCombined(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if q, err := l.request(); err != nil || q.host != c.want || !strings.HasPrefix(q.path, "/") {
			t.Errorf("%s: host %q, %v, want %q", line, q.host, err, c.want)
		}
	}
}

// Words that are no known layout are refused, not booked as another site's.
func TestWordsThatAreNoHostAreRefused(t *testing.T) {
	for _, before := range []string{
		"web-1 203.0.113.7 - - ", "Nov 27 10:00:04 web1 203.0.113.7 - - ", "shop ", "acme.example ", "a b c d e ", "",
		"crawl-1.search.example ana x ",
	} {
		l, err := readCombined(before + `[02/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 10 "-" "GPTBot/1.3"`)
		if err == nil {
			_, err = l.request()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "words before [time]") && before != "" ||
			strings.Contains(err.Error(), "203.0") {
			t.Errorf("%q: %v", before, err)
		}
	}
	for _, line := range []string{
		`203.0.113.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 10 "other.example" "-" "GPTBot/1.3"`,
		`203.0.113.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 10 "GPTBot/1.3" "-"`,
	} {
		if _, err := readCombined(line); err == nil || !strings.HasPrefix(err.Error(), `no "user agent"`) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAnAddressMayHaveAPort(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.7:55123": "203.0.113.7", "[2001:db8::7]:443": "2001:db8::7", "[2001:db8::7]": "2001:db8::7",
		"::ffff:203.0.113.7": "203.0.113.7", "203.0.113.7": "203.0.113.7", "crawl-1.search.example": "invalid IP",
		"-": "invalid IP", "203.0.113.7:": "invalid IP",
	} {
		if got, ok := parseAddress(text); got.String() != want || ok != got.IsValid() {
			t.Errorf("%s is %s (%v), want %s", text, got, ok, want)
		}
	}
}

func TestTheFormOfAHost(t *testing.T) {
	for host, want := range map[string]string{
		"ACME.example:443": "acme.example", "acme.example.:443": "acme.example", "acme.example.": "acme.example",
		"müller-bräu.example":               "xn--mller-bru-22a0x.example",
		`m\xC3\xBCller-br\xC3\xA4u.example`: "xn--mller-bru-22a0x.example",
		"-":                                 "-", "": "", `a\x`: `a\x`, `a\xg1.b`: `a\xg1.b`,
	} {
		if got := hostOfLog(host); got != want {
			t.Errorf("%q is %q, want %q", host, got, want)
		}
	}
}

func TestTheMostFrequentNames(t *testing.T) {
	var f frequent
	for n := range 5 * mostNames {
		f.add(fmt.Sprint(n)) // each once
		if n%10 == 0 {
			f.add("b.example")
			f.add([]string{"a.example", "b.example"}[n/10%2])
		}
	}
	top := f.top()
	if len(top) != topNames || top[0].Name != "b.example" || top[1].Name != "a.example" || len(f.lines) > mostNames {
		t.Errorf("%v of %d names", top, len(f.lines))
	}
	if got := fmt.Sprint(addPassed([]Passed{{"a", 2}, {"b", 1}}, []Passed{{"b", 5}})); got != "[{b 6} {a 2}]" {
		t.Errorf("sum %s", got)
	}
}
