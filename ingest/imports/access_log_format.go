package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// Format is how the lines of a log are written.
type Format string

// The formats.
const (
	Combined   Format = "combined"   // nginx and Apache, with or without the virtual host in front
	Cloudflare Format = "cloudflare" // Logpush of HTTP requests, a JSON object a line
	CloudFront Format = "cloudfront" // standard logs as JSON (v2), or tab-separated with a #Fields line (v1)
)

// A logRequest is what a line of a log says. Its texts may be those of the line.
type logRequest struct {
	at      time.Time
	address netip.Addr // invalid: absent, or not readable
	agent   string
	host    string // "": the line names none
	path    string
	status  int
	bytes   int64
}

// errNoRequest is the error of comments.
var errNoRequest = errors.New("no logRequest")

// A logReader reads lines of one format, one after the other.
type logReader struct {
	format Format
	fields []string // of CloudFront's tab-separated lines
}

// read returns the User-Agent of a line, and a function that reads the rest, which most lines do not need. The error
// says why there is no User-Agent.
func (r *logReader) read(line []byte) (agent string, rest func() (logRequest, error), err error) {
	switch {
	case r.format == Combined:
		return r.combined(line)
	case r.format == CloudFront && !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("{")):
		return r.tabbed(line)
	default:
		return r.object(line)
	}
}

// combined reads
//
//	[vhost] address identity user [02/Jan/2006:15:04:05 -0700] "GET /path HTTP/1.1" status bytes "referer" "agent" …
//
// Quotes within a quoted part are escaped by a backslash, as both servers write them.
func (r *logReader) combined(line []byte) (agent string, rest func() (logRequest, error), err error) {
	text := string(line)
	open := strings.Index(text, " [")
	if open < 0 {
		return "", nil, errors.New("no [time]: want a line in the combined format")
	}
	shut := strings.Index(text[open:], "] ")
	if shut < 0 {
		return "", nil, errors.New("no end of [time]: want a line in the combined format")
	}
	head, when, tail := strings.Fields(text[:open]), text[open+2:open+shut], text[open+shut+2:]
	asked, tail, ok := quoted(tail)
	if !ok {
		return "", nil, errors.New(`no "logRequest" behind [time]: want a line in the combined format`)
	}
	numbers, tail, ok := strings.Cut(strings.TrimLeft(tail, " "), `"`)
	if !ok {
		return "", nil, errors.New(`no "referer": want a line in the combined format`)
	}
	_, tail, ok = quoted(`"` + tail)
	if !ok {
		return "", nil, errors.New(`no end of "referer": want a line in the combined format`)
	}
	agent, _, ok = quoted(strings.TrimLeft(tail, " "))
	if !ok {
		return "", nil, errors.New(`no "user agent": want a line in the combined format`)
	}
	return agent, func() (logRequest, error) {
		q := logRequest{agent: agent}
		q.host, q.address = hostAndAddress(head)
		var timeErr, targetErr error
		if q.at, timeErr = time.Parse("02/Jan/2006:15:04:05 -0700", when); timeErr != nil {
			timeErr = errors.New("time: want one such as 02/Mar/2026:12:00:00 +0000")
		}
		target := "/"
		if parts := strings.Fields(asked); len(parts) > 1 {
			target = parts[1]
		} else {
			targetErr = errors.New("logRequest: want one such as GET /path HTTP/1.1")
		}
		status, size, _ := strings.Cut(strings.TrimSpace(numbers), " ")
		return q.with(target, status, size, timeErr, targetErr)
	}, nil
}

// hostAndAddress reads what is before the time: the requester's address or name, identity and user, and before them
// perhaps the virtual host. Which of several addresses, as proxies write them with commas, is the requester's is not
// known.
func hostAndAddress(head []string) (host string, address netip.Addr) {
	if len(head) == 0 || strings.Contains(head[0], ",") {
		return "", netip.Addr{}
	}
	if a, err := netip.ParseAddr(head[0]); err == nil {
		return "", a.Unmap()
	}
	if len(head) > 1 {
		address, _ = netip.ParseAddr(head[1]) // or a name
	}
	if len(head) > 3 || address.IsValid() {
		host = head[0]
	}
	return host, address.Unmap()
}

// quoted cuts the quoted text that s begins with.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	escaped := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			if text = s[1:i]; escaped {
				text = strings.ReplaceAll(text, `\"`, `"`)
			}
			return text, s[i+1:], true
		}
	}
	return "", "", false
}

// pathOf is the path of a logRequest's target, without its query and what looks like a secret.
func pathOf(target string) (string, error) {
	if scheme, rest, ok := strings.Cut(target, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		_, path, _ := strings.Cut(rest, "/")
		target = "/" + path
	}
	path, _, _ := strings.Cut(target, "?")
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") {
		return "", errors.New("path: want one that begins with /")
	}
	if event.HasControls(path) {
		return "", errors.New("path: want one without control characters")
	}
	return event.MaskPath(path), nil
}

func statusOf(text string) (int, error) {
	if text == "" || text == "-" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n > 999 {
		return 0, errors.New("status: want three digits")
	}
	return int(n), nil
}

func sizeOf(text string) (int64, error) {
	text, _, _ = strings.Cut(text, " ")
	if text == "" || text == "-" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("bytes: want a number of 0 or more")
	}
	return n, nil
}

// A member is a value of a JSON line, a text or a number.
type member string

// UnmarshalJSON reads texts and numbers; null is "".
func (m *member) UnmarshalJSON(b []byte) error {
	*m = ""
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(m))
	case strings.IndexByte("-0123456789", b[0]) >= 0:
		*m = member(b)
	case string(b) != "null":
		return errors.New("neither text nor a number")
	}
	return nil
}

// cloudflareLine has the fields of Cloudflare's data set of HTTP requests that are read.
type cloudflareLine struct {
	Time   member `json:"EdgeStartTimestamp"`
	Agent  member `json:"ClientRequestUserAgent"`
	IP     member `json:"ClientIP"`
	Host   member `json:"ClientRequestHost"`
	Path   member `json:"ClientRequestPath"`
	URI    member `json:"ClientRequestURI"`
	Status member `json:"EdgeResponseStatus"`
	Bytes  member `json:"EdgeResponseBytes"`
}

// cloudfrontLine has the fields of CloudFront's standard logs that are read.
type cloudfrontLine struct {
	Stamp  member `json:"timestamp"`
	Millis member `json:"timestamp(ms)"`
	Date   member `json:"date"`
	Time   member `json:"time"`
	Agent  member `json:"cs(User-Agent)"`
	IP     member `json:"c-ip"`
	Header member `json:"x-host-header"`
	Host   member `json:"cs(Host)"`
	Path   member `json:"cs-uri-stem"`
	Status member `json:"sc-status"`
	Bytes  member `json:"sc-bytes"`
}

func (r *logReader) object(line []byte) (agent string, rest func() (logRequest, error), err error) {
	if r.format == Cloudflare {
		var l cloudflareLine
		if err := json.Unmarshal(line, &l); err != nil {
			return "", nil, errors.New("want a JSON object with the fields of Cloudflare's HTTP requests")
		}
		if l.Agent == "" && l.Time == "" {
			return "", nil, errors.New("no EdgeStartTimestamp and no ClientRequestUserAgent: want both among the fields of the job")
		}
		if l.Path == "" {
			l.Path = l.URI
		}
		return string(l.Agent), func() (logRequest, error) {
			at, err := logTime(string(l.Time))
			return newRequest(at, err, l.IP, l.Host, l.Path, l.Status, l.Bytes, string(l.Agent))
		}, nil
	}
	var l cloudfrontLine
	if err := json.Unmarshal(line, &l); err != nil {
		return "", nil, errors.New("want a JSON object with the fields of CloudFront's standard logs")
	}
	return l.rest()
}

func (l *cloudfrontLine) rest() (agent string, rest func() (logRequest, error), err error) {
	if l.Agent == "" {
		return "", nil, errors.New("no cs(User-Agent): want it among the fields of the log")
	}
	agent = unescaped(string(l.Agent))
	host := l.Header
	if host == "" || host == "-" {
		host = l.Host
	}
	return agent, func() (logRequest, error) {
		var at time.Time
		var err error
		switch {
		case l.Millis != "":
			at, err = logTime(string(l.Millis))
		case l.Stamp != "":
			at, err = logTime(string(l.Stamp))
		default:
			if at, err = time.Parse("2006-01-02 15:04:05", string(l.Date)+" "+string(l.Time)); err != nil {
				err = errors.New("date and time: want them such as 2026-03-02 and 12:00:00")
			}
		}
		return newRequest(at, err, l.IP, host, l.Path, l.Status, l.Bytes, agent)
	}, nil
}

// unescaped decodes the URL escapes of CloudFront's fields, of which old tab-separated logs have two layers.
func unescaped(text string) string {
	for range 2 {
		plain, err := url.PathUnescape(text)
		if err != nil || plain == text {
			return text
		}
		text = plain
	}
	return text
}

// tabbed reads CloudFront's tab-separated lines, whose fields a comment names.
func (r *logReader) tabbed(line []byte) (agent string, rest func() (logRequest, error), err error) {
	text := string(line)
	if names, ok := strings.CutPrefix(text, "#Fields:"); ok {
		r.fields = strings.Fields(names)
		return "", nil, errNoRequest
	}
	if strings.HasPrefix(text, "#") {
		return "", nil, errNoRequest
	}
	if r.fields == nil {
		return "", nil, errors.New("no #Fields line before it: want JSON objects, or the tab-separated format with its comments")
	}
	values := strings.Split(text, "\t")
	if len(values) < len(r.fields) {
		return "", nil, fmt.Errorf("%d values: want the %d that #Fields names", len(values), len(r.fields))
	}
	var l cloudfrontLine
	for i, name := range r.fields {
		// A logRequest may have no agent; its log has the field.
		if index, known := cloudfrontFields[name]; known && (values[i] != "-" || name == "cs(User-Agent)") {
			reflect.ValueOf(&l).Elem().Field(index).SetString(values[i])
		}
	}
	return l.rest()
}

// cloudfrontFields are the indexes of cloudfrontLine's fields, by their names in a log.
var cloudfrontFields = func() map[string]int {
	indexes := map[string]int{}
	for i, line := 0, reflect.TypeFor[cloudfrontLine](); i < line.NumField(); i++ {
		indexes[line.Field(i).Tag.Get("json")] = i
	}
	return indexes
}()

// logTime reads RFC 3339, or a number of seconds, milliseconds or nanoseconds since 1970, by its size.
func logTime(text string) (time.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		switch {
		case n < 1e11:
			return time.Unix(n, 0), nil
		case n < 1e14:
			return time.UnixMilli(n), nil
		}
		return time.Unix(0, n), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, errors.New("time: want RFC 3339, or a number since 1970")
	}
	return at, nil
}

func newRequest(at time.Time, err error, ip, host, path, status, size member, agent string) (logRequest, error) {
	q := logRequest{at: at, agent: agent, host: string(host)}
	if a, err := netip.ParseAddr(string(ip)); err == nil {
		q.address = a.Unmap()
	}
	return q.with(string(path), string(status), string(size), err)
}

// with reads the rest of a logRequest; errs are what else is wrong with its line.
func (q logRequest) with(target, status, size string, errs ...error) (logRequest, error) {
	var pathErr, statusErr, sizeErr error
	q.path, pathErr = pathOf(target)
	q.status, statusErr = statusOf(status)
	q.bytes, sizeErr = sizeOf(size)
	return q, errors.Join(append(errs, pathErr, statusErr, sizeErr)...)
}
