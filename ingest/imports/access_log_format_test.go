package imports

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

const gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestLinesOfEveryFormat(t *testing.T) {
	page := logRequest{
		at: noon, address: netip.MustParseAddr("192.0.2.7"), agent: gptbot, path: "/a/%C3%A9", status: 200, bytes: 5316,
	}
	with := func(change func(*logRequest)) logRequest {
		other := page
		change(&other)
		return other
	}
	hosted := with(func(q *logRequest) { q.host = "shop.lumen.example" })
	for name, c := range map[string]struct {
		format Format
		lines  string // the last one is read
		want   logRequest
	}{
		"combined": {Combined,
			`192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a/%C3%A9?q=1 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`,
			page},
		"another zone": {Combined, `192.0.2.7 - ana [02/Mar/2026:04:30:00 -0730] "GET /a/%C3%A9 HTTP/2.0" 200 ` +
			`5316 "https://x.example/?q=\"a b\"" "` + gptbot + `" "203.0.113.9" 0.004`, page},
		"virtual host": {Combined, `shop.lumen.example 192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] ` +
			`"GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`, hosted},
		"whole URL": {Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] ` +
			`"GET https://other.example/a/%C3%A9#x HTTP/1.1" 200 5316 "-" "` + gptbot + `"`,
			with(func(q *logRequest) {
				q.host, q.target = "other.example", true
			})},
		"a secret": {Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] ` +
			`"GET /verify/550e8400-e29b-41d4-a716-446655440000 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`,
			with(func(q *logRequest) {
				q.path = "/verify/{masked}"
			})},
		"nothing sent": {Combined,
			`192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a/%C3%A9 HTTP/1.1" 499 - "-" "` + gptbot + `"`,
			with(func(q *logRequest) {
				q.status, q.bytes = 499, 0
			})},
		"a name": {Combined,
			`crawler.openai.com - - [02/Mar/2026:12:00:00 +0000] "GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot +
				`"`, with(func(q *logRequest) {
				q.name, q.address = "crawler.openai.com", netip.Addr{}
			})},
		"a host, a name": {Combined, `shop.lumen.example crawler.openai.com - - [02/Mar/2026:12:00:00 +0000] ` +
			`"GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`, with(func(q *logRequest) {
			q.host, q.address = "shop.lumen.example", netip.Addr{}
		})},
		// Of a list anybody may have written the first.
		"proxies": {Combined,
			`203.0.113.9, 192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot +
				`"`, with(func(q *logRequest) {
				q.address = netip.Addr{}
			})},
		"a host, proxies": {Combined, `shop.lumen.example 203.0.113.9, 192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] ` +
			`"GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`, with(func(q *logRequest) {
			q.host, q.address = "shop.lumen.example", netip.Addr{}
		})},
		"IPv6": {Combined,
			`::ffff:192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a/%C3%A9 HTTP/1.1" 200 5316 "-" "` + gptbot + `"`,
			page},
		"cloudflare": {Cloudflare, `{"ClientIP":"192.0.2.7","ClientRequestHost":"shop.lumen.example",` +
			`"ClientRequestPath":"/a/%C3%A9","ClientRequestUserAgent":"` + gptbot +
			`","EdgeResponseStatus":200,"EdgeResponseBytes":5316,"EdgeStartTimestamp":"2026-03-02T12:00:` +
			`00Z","Cookies":{"a":[1]}}`, hosted},
		"lower case": {Cloudflare, `{"clientip":"192.0.2.7","clientrequesthost":"shop.lumen.example",` +
			`"clientrequestpath":"/a/%C3%A9","clientrequestuseragent":"` + gptbot +
			`","edgeresponsestatus":200,"edgeresponsebytes":5316,"edgestarttimestamp":"2026-03-02T12:00:00Z"}`, hosted},
		"of nanos": {Cloudflare, `{"ClientIP":"192.0.2.7","ClientRequestHost":"shop.lumen.example",` +
			`"ClientRequestURI":"/a/%C3%A9?x","ClientRequestUserAgent":"` + gptbot +
			`","EdgeResponseStatus":200,"EdgeResponseBytes":5316,"EdgeStartTimestamp":1772452800000000000}`, hosted},
		"of seconds": {Cloudflare, `{"ClientIP":"192.0.2.7","ClientRequestHost":"shop.lumen.example",` +
			`"ClientRequestURI":"/a/%C3%A9","ClientRequestUserAgent":"` + gptbot +
			`","EdgeResponseStatus":200,"EdgeResponseBytes":5316,"EdgeStartTimestamp":1772452800}`, hosted},
		"cloudfront": {CloudFront, `{"date":"2026-03-02","time":"12:00:00","c-ip":"192.0.2.7",` +
			`"x-host-header":"shop.lumen.example","cs(Host)":"d1.cloudfront.net","cs-uri-stem":"/a/%C3%A9",` +
			`"sc-status":"200","sc-bytes":"5316","cs(User-Agent)":"` + strings.ReplaceAll(gptbot, " ", "%20") + `"}`,
			hosted},
		"of millis": {CloudFront, `{"timestamp(ms)":"1772452800000","c-ip":"192.0.2.7",` +
			`"cs(Host)":"shop.lumen.example","cs-uri-stem":"/a/%C3%A9","sc-status":200,"sc-bytes":5316,` +
			`"cs(User-Agent)":"` + gptbot + `"}`, hosted},
		"tab-separated": {CloudFront, "#Version: 1.0\n#Fields: date time sc-bytes c-ip cs-uri-stem sc-status " +
			"cs(User-Agent) x-host-header x-edge\n" +
			"2026-03-02\t12:00:00\t5316\t192.0.2.7\t/a/%C3%A9\t200\t" + strings.ReplaceAll(gptbot, " ", "%2520") +
			"\tshop.lumen.example\t-", hosted},
	} {
		r := logReader{format: c.format}
		lines := strings.Split(c.lines, "\n")
		for _, comment := range lines[:len(lines)-1] {
			if _, err := r.read([]byte(comment)); !errors.Is(err, errNoRequest) {
				t.Errorf("%s: comment %q: %v", name, comment, err)
			}
		}
		l, err := r.read([]byte(lines[len(lines)-1]))
		if err != nil || l.agent != gptbot {
			t.Errorf("%s: agent %q, %v", name, l.agent, err)
			continue
		}
		got, err := l.request()
		if got.at = got.at.UTC(); err != nil || got != c.want {
			t.Errorf("%s:\n%+v, %v, want\n%+v", name, got, err, c.want)
		}
	}
}

// A reason quotes nothing of the line: where a format is not the expected one, any of its fields may be an address.
func TestLinesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		format     Format
		line, want string
	}{
		{Combined, `hello`, "no [time]"},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000`, "no end of [time]"},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] GET`, `no "request"`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1`, `no "referer"`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "GPTBot`, `no "user agent"`},
		{Combined, `192.0.2.7 - - [2026-03-02] "GET / HTTP/1.1" 200 1 "-" "GPTBot"`, `time: want`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "OPTIONS * HTTP/1.1" 200 1 "-" "GPTBot"`, `path: want`},
		{Combined, "192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] \"GET /a\u202egpj.exe HTTP/1.1\" 200 1 \"-\" \"GPTBot\"",
			`path: want one without control characters`},
		{Combined, "192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] \"GET /a\x1b[31m HTTP/1.1\" 200 1 \"-\" \"GPTBot\"",
			`path: want one without control characters`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "" 2000 -1 "-" "GPTBot"`, `request: want`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 2000 1 "-" "GPTBot"`, `status: want`},
		{Combined, `192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 -1 "-" "GPTBot"`, `bytes: want`},
		{Cloudflare, `[1]`, "want a JSON object"},
		{Cloudflare, `{}`, "no EdgeStartTimestamp"},
		{Cloudflare, `{"ClientRequestUserAgent":{},"EdgeStartTimestamp":1}`, "want a JSON object"},
		{Cloudflare, `{"ClientRequestUserAgent":"GPTBot"}`, `time: want`},
		{CloudFront, `{"date":"2026-03-02"}`, "no cs(User-Agent)"},
		{CloudFront, "a\tb", "no #Fields line"},
		{Combined, `shop [02/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 203.0.113.9 200 "-" "GPTBot"`, `status: want`},
	} {
		r := logReader{format: c.format}
		l, err := r.read([]byte(c.line))
		if err == nil {
			_, err = l.request()
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "203.0") {
			t.Errorf("%s %s: %v, want %s…", c.format, c.line, err, c.want)
		}
	}
}

// Any line is read as a crawl that may be appended, or refused with a reason.
func FuzzLine(f *testing.F) {
	f.Add(byte(0), []byte(
		`shop.example 192.0.2.7 - - [02/Mar/2026:12:00:00 +0000] "GET /a?b HTTP/1.1" 200 5316 "-\"" "`+gptbot+`"`))
	f.Add(byte(1), []byte(`{"ClientIP":"192.0.2.7","ClientRequestHost":"a.example","ClientRequestURI":"/a",`+
		`"ClientRequestUserAgent":"GPTBot","EdgeResponseStatus":200,"EdgeStartTimestamp":"2026-03-02T12:00:00Z"}`))
	f.Add(byte(2), []byte(`{"date":"2026-03-02","time":"12:00:00","cs-uri-stem":"/","cs(User-Agent)":"GPT%2520Bot",`+
		`"sc-status":null}`))
	f.Add(byte(2), []byte("#Fields: date time cs-uri-stem cs(User-Agent)\n2026-03-02\t12:00:00\t/\tGPTBot"))
	for _, around := range []string{
		"web-1  | 203.0.113.7 - - [%s", "<190>Nov 27 10:00:07 web1 nginx: acme.example 203.0.113.7 - - [%s",
		`<165>1 2026-11-27T10:00:05Z web1 nginx 812 - [a b="c"] "203.0.113.7" other.example - [%s "other.example"`,
		"[pod/a/b] - - - [%s host=m\\xC3\\xBC.example:443", "\x1b[0;33mweb | \x1b[0m203.0.113.7, ::1 - - [%s",
	} {
		const line = `02/Mar/2026:12:00:00 +0000] "GET http://m\xC3\xBC.example:80/a HTTP/1.1" 200 5316 "-" "GPTBot"`
		f.Add(byte(0), fmt.Appendf(nil, around, line))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		r := logReader{format: [...]Format{Combined, Cloudflare, CloudFront}[which%3]}
		for line := range bytes.Lines(text) {
			l, err := r.read(bytes.TrimSuffix(line, []byte("\n")))
			if err != nil {
				continue
			}
			q, err := l.request()
			if err != nil {
				continue
			}
			if !strings.HasPrefix(q.path, "/") || strings.ContainsAny(q.path, "?#") || q.status < 0 || q.status > 999 ||
				q.bytes < 0 || q.at.IsZero() {
				t.Fatalf("%q is read as %+v", line, q)
			}
			if host := hostOfLog(q.host); hostOfLog(host) != host && !strings.Contains(host, "\\x") {
				t.Fatalf("%q is the host of %q, and that is %q", host, line, hostOfLog(host))
			}
			if r.format == Combined {
				sameBehindPrefixes(t, string(line), q)
			}
			c := event.Crawl{V: event.Version, ID: event.CrawlID("a.example", line, 0, q.at),
				OrganizationID: [16]byte{1}, BrandID: [16]byte{2}, At: event.At(q.at),
				Crawler: "GPTBot", Purpose: event.PurposeTraining, Host: "a.example", Path: q.path, Status: q.status,
				Bytes: q.bytes}
			if c.Check(noon) != nil {
				continue // refused with its reason
			}
			value, err := event.EncodeCrawl(nil, &c)
			if err != nil {
				t.Fatalf("%q passes Check and cannot be written: %v", line, err)
			}
			var again event.Crawl
			if err := event.DecodeCrawl(value, &again); err != nil || !utf8.Valid(value) {
				t.Fatalf("%q is written as %s, which is refused: %v", line, value, err)
			}
		}
	})
}

// sameBehindPrefixes checks that a line is read behind what collectors of logs write as it is without.
func sameBehindPrefixes(t *testing.T, line string, want logRequest) {
	t.Helper()
	for _, prefix := range []string{
		"web-1  | ", "[pod/a/b] ", "Nov 27 10:00:04 web1 nginx[8]: ", "2026-11-27T10:00:05Z ",
	} {
		l, err := readCombined(prefix + line)
		if err != nil {
			t.Fatalf("%q behind %q: %v", line, prefix, err)
		}
		if got, err := l.request(); err != nil || got != want {
			t.Fatalf("%q behind %q is %+v, %v, want %+v", line, prefix, got, err, want)
		}
	}
}

func TestRanges(t *testing.T) {
	r := Ranges{}
	for _, c := range []struct{ crawler, text string }{
		{"GPTBot", `{"creationTime":"2026-01-01","prefixes":[{"ipv4Prefix":"192.0.2.0/24"},` +
			`{"ipv6Prefix":"2001:db8::/32"}]}`},
		{"", `{"ClaudeBot":{"prefixes":[{"ipv4Prefix":"198.51.100.0/28"}]}}`},
		{"", "crawler,prefix\n# words\nPerplexityBot, 203.0.113.9\n\"ChatGPT-User\",203.0.113.16/28\n"},
		{"Bytespider", "203.0.113.64/26\n"},
	} {
		if err := r.Add(c.crawler, strings.NewReader(c.text)); err != nil {
			t.Fatal(err)
		}
	}
	yes, no := new(true), new(false)
	for _, c := range []struct {
		crawler, address string
		want             *bool
	}{
		{"GPTBot", "192.0.2.255", yes}, {"gptbot", "192.0.3.0", no}, {"GPTBot", "2001:db8::1", yes},
		{"GPTBot", "2001:db9::1", no}, {"GPTBot", "", nil},
		{"ClaudeBot", "198.51.100.15", yes}, {"ClaudeBot", "192.0.2.1", no}, {"PerplexityBot", "203.0.113.9", yes},
		{"PerplexityBot", "203.0.113.10", no},
		{"ChatGPT-User", "203.0.113.31", yes}, {"Bytespider", "203.0.113.127", yes}, {"CCBot", "192.0.2.1", nil},
	} {
		address, _ := netip.ParseAddr(c.address)
		if got := r.verify(c.crawler, address); (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("verify(%s, %q) = %v, want %v", c.crawler, c.address, got, c.want)
		}
	}
	for _, wrong := range []struct{ crawler, text string }{
		{"", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`}, {"GPTBot", `{"prefixes":[]}`},
		{"GPTBot", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/99"}]}`},
		{"", "OpenAI,192.0.2.0/24"}, {"GPTBott", "192.0.2.0/24"},
		{"", `{"GPTBott":{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}}`},
		{"", "203.0.113.9"}, {"", "GPTBot,nowhere"}, {"", `{"a`}, {"GPTBot", strings.Repeat(" ", MaxRanges+1)},
	} {
		if err := (Ranges{}).Add(wrong.crawler, strings.NewReader(wrong.text)); err == nil {
			t.Errorf("ranges %.60q of %q are taken", wrong.text, wrong.crawler)
		}
	}
}

func TestEveryCrawlerMayHaveRanges(t *testing.T) {
	for _, c := range useragent.Crawlers() {
		if err := errors.Join(CheckCrawler(c.Name), CheckCrawler(strings.ToUpper(c.Name))); err != nil {
			t.Error(err)
		}
	}
}

func TestEqualLinesHaveOrdinals(t *testing.T) {
	o := newOrdinals(100)
	for n := range 5 {
		if got := o.next("a", []byte("x")); got != n {
			t.Errorf("ordinal %d, want %d", got, n)
		}
	}
	if got := o.next("b", []byte("x")); got != 0 {
		t.Errorf("ordinal %d on another site, want 0", got)
	}
	for n := range 150 { // fewer distinct lines than are remembered, and more than are remembered at once
		o.next("a", []byte{byte(n), 1})
	}
	if got := o.next("a", []byte("x")); got != 5 {
		t.Errorf("ordinal %d after 150 others, want 5", got)
	}
	if len(o.recent)+len(o.older) > 201 {
		t.Errorf("%d lines are remembered", len(o.recent)+len(o.older))
	}
}

func TestGzipIsUnpacked(t *testing.T) {
	text := "\ufeffone\r\n\n" + strings.Repeat("x", longestLogLine+1) + "\ntwo\nlast"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	for name, file := range map[string]io.Reader{"plain": strings.NewReader(text), "gzip": &packed} {
		var got []string
		l, raw, err := openLines(file, func(int, error) { got = append(got, "too long") })
		if err != nil {
			t.Fatal(err)
		}
		for {
			line, err := l.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if want := "one|too long|two|last"; strings.Join(got, "|") != want || l.number != 5 || raw.bytes == 0 {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
