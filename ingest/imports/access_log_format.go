package imports

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/useragent"
)

// Format is how the lines of a log are written.
type Format string

// The formats.
const (
	Combined   Format = "combined"   // nginx and Apache, with or without the virtual host in front
	Cloudflare Format = "cloudflare" // Logpush of HTTP requests, a JSON object a line
	CloudFront Format = "cloudfront" // standard logs as JSON (v2), or tab-separated with a #Fields line (v1)
)

// logRequest is the request of a line. Its texts may share the memory of the line.
type logRequest struct {
	at      time.Time
	address netip.Addr // invalid: absent, or not readable
	agent   string
	host    string // "": the line names none
	name    string // of the host or the requester: the rest of the log decides which
	target  bool   // host is that of an absolute target
	path    string
	status  int
	bytes   int64
}

// logLine is a line with the User-Agent, by which most lines are passed over, and a function that reads the rest.
type logLine struct {
	agent   string
	request func() (logRequest, error)
}

// errNoRequest is the error of comments.
var errNoRequest = errors.New("no request")

// logReader reads lines of one format, one after the other.
type logReader struct {
	format Format
	fields []string // of CloudFront's tab-separated lines
}

// read reads the User-Agent of a line. The error is the reason why there is none.
func (r *logReader) read(line []byte) (logLine, error) {
	switch {
	case r.format == Combined:
		return readCombined(string(line))
	case r.format == CloudFront && !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("{")):
		return r.readTabbed(string(line))
	default:
		return r.readObject(line)
	}
}

// readCombined reads
//
//	[vhost] address identity user [02/Jan/2006:15:04:05 -0700] "GET /path HTTP/1.1" status bytes "referer" "agent" …
//
// Quotes within a quoted part are escaped by a backslash, as both servers write them.
func readCombined(line string) (logLine, error) {
	lacks := func(part string) (logLine, error) {
		return logLine{}, fmt.Errorf("no %s: want a line in the combined format", part)
	}
	before, tail, ok := cutStamp(line)
	if !ok {
		return lacks("[time]")
	}
	stamp, tail, ok := strings.Cut(tail, "] ")
	if !ok {
		return lacks("end of [time]")
	}
	requestLine, tail, ok := cutQuoted(tail)
	if !ok {
		return lacks(`"request" behind [time]`)
	}
	numbers, tail, ok := strings.Cut(strings.TrimLeft(tail, " "), `"`)
	if !ok {
		return lacks(`"referer"`)
	}
	referrer, tail, ok := cutQuoted(`"` + tail)
	if !ok {
		return lacks(`end of "referer"`)
	}
	agent, tail, ok := cutQuoted(strings.TrimLeft(tail, " "))
	if !ok {
		return lacks(`"user agent"`)
	}
	if isMisplaced(referrer, agent, tail) {
		return lacks(`"user agent" in the second quoted field behind the numbers, but one in another`)
	}
	return logLine{agent, func() (logRequest, error) {
		around, originErr := readOrigin(colours.ReplaceAllString(before, ""))
		q := logRequest{agent: agent, host: around.host, name: around.name, address: around.address}
		var timeErr, targetErr error
		if q.at, timeErr = time.Parse("02/Jan/2006:15:04:05 -0700", stamp); timeErr != nil {
			timeErr = errors.New("time: want one such as 02/Mar/2026:12:00:00 +0000")
		}
		target := "/"
		if parts := strings.Fields(requestLine); len(parts) > 1 {
			target = parts[1]
		} else {
			targetErr = errors.New("request: want one such as GET /path HTTP/1.1")
		}
		status, size, _ := strings.Cut(strings.TrimSpace(numbers), " ")
		if q.host == "" {
			q.host = cmp.Or(hostAmong(strings.Fields(size)), trailingHost(tail))
		}
		q, err := q.with(target, status, size, timeErr, targetErr)
		return q, errors.Join(err, originErr)
	}}, nil
}

// isMisplaced reports whether the User-Agent of an AI crawler is not in the agent's field but beside it.
func isMisplaced(referrer, agent, tail string) bool {
	if agent != "-" {
		referrer = ""
	}
	if referrer == "" && tail == "" {
		return false
	}
	_, isCrawler := useragent.CrawlerOf(agent)
	_, isBeside := useragent.CrawlerOf(referrer + " " + tail)
	return isBeside && !isCrawler
}

// cutStamp cuts a line at its time, before which others may stand in brackets; else at the first bracket.
func cutStamp(line string) (before, tail string, ok bool) {
	for from := 0; ; {
		i := strings.IndexByte(line[from:], '[')
		if i < 0 {
			return strings.Cut(line, " [")
		}
		from += i + 1
		const form = "02/Jan/2006:"
		if stamp := line[from:]; len(stamp) > len(form) && stamp[2] == '/' && stamp[6] == '/' && stamp[11] == ':' {
			return line[:from-1], stamp, true
		}
	}
}

// cutQuoted cuts the quoted text at the beginning of s.
func cutQuoted(s string) (text, rest string, ok bool) {
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

// with reads the rest of a request; errs are the other faults of its line.
func (q logRequest) with(target, status, size string, errs ...error) (logRequest, error) {
	var statusErr, sizeErr error
	host, path, pathErr := splitTarget(target)
	if q.path = path; host != "" { // it outranks the Host field (RFC 9112 §3.2.2)
		q.host, q.target = host, true
	}
	q.status, statusErr = statusOf(status)
	q.bytes, sizeErr = sizeOf(size)
	return q, errors.Join(append(errs, pathErr, statusErr, sizeErr)...)
}

// splitTarget returns the host of an absolute target, and the path of any, without its query and with secrets masked.
func splitTarget(target string) (host, path string, err error) {
	scheme, rest, ok := strings.Cut(target, "://")
	if ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		end := strings.IndexAny(rest+"/", "/?#")
		host = rest[strings.LastIndexByte(rest[:end], '@')+1 : end]
		target = "/" + strings.TrimPrefix(rest[end:], "/")
	}
	path, _, _ = strings.Cut(target, "?")
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") {
		return "", "", errors.New("path: want one that begins with /")
	}
	if event.HasControls(path) {
		return "", "", errors.New("path: want one without control characters")
	}
	return host, event.MaskPath(event.Path(path)), nil
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

// namedFields are the texts and numbers of a line by the names of their fields.
type namedFields map[string]string

// fieldNames lists the fields that are read of Cloudflare's HTTP requests and of CloudFront's standard logs.
var fieldNames = []string{
	"EdgeStartTimestamp", "ClientRequestUserAgent", "ClientIP", "ClientRequestHost", "ClientRequestPath",
	"ClientRequestURI", "EdgeResponseStatus", "EdgeResponseBytes",
	"timestamp", "timestamp(ms)", "date", "time", "cs(User-Agent)", "c-ip", "x-host-header", "cs(Host)", "cs-uri-stem",
	"sc-status", "sc-bytes",
}

// UnmarshalJSONFrom reads the fields of fieldNames; null is the same as absent.
func (f *namedFields) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return errors.Join(err, errors.New("not an object"))
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		i := slices.IndexFunc(fieldNames, func(field string) bool { // in any case
			return len(field) == len(name) && strings.EqualFold(field, name)
		})
		if i < 0 {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		value, err := d.ReadToken()
		switch kind := value.Kind(); {
		case err != nil:
			return err
		case kind == '"' || kind == '0':
			(*f)[fieldNames[i]] = value.String()
		case kind != 'n':
			return errors.New("neither text nor a number")
		}
	}
	_, err := d.ReadToken()
	return err
}

// readObject reads a JSON line of Cloudflare or CloudFront.
func (r *logReader) readObject(line []byte) (logLine, error) {
	f := namedFields{}
	err := json.Unmarshal(line, &f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch {
	case r.format == CloudFront && err != nil:
		return logLine{}, errors.New("want a JSON object with the fields of CloudFront's standard logs")
	case r.format == CloudFront:
		return cloudFront(f["cs(User-Agent)"], func() namedFields { return f })
	case err != nil:
		return logLine{}, errors.New("want a JSON object with the fields of Cloudflare's HTTP requests")
	case f["ClientRequestUserAgent"] == "" && f["EdgeStartTimestamp"] == "":
		const fields = "EdgeStartTimestamp and no ClientRequestUserAgent"
		return logLine{}, errors.New("no " + fields + ": want both among the fields of the job")
	}
	agent := f["ClientRequestUserAgent"]
	return logLine{agent, func() (logRequest, error) { return f.request(agent) }}, nil
}

// readTabbed reads CloudFront's tab-separated lines, whose fields a comment names.
func (r *logReader) readTabbed(line string) (logLine, error) {
	if names, ok := strings.CutPrefix(line, "#Fields:"); ok {
		r.fields = strings.Fields(names)
		return logLine{}, errNoRequest
	}
	if strings.HasPrefix(line, "#") {
		return logLine{}, errNoRequest
	}
	if r.fields == nil {
		const form = "JSON objects, or the tab-separated format with its comments"
		return logLine{}, errors.New("no #Fields line before it: want " + form)
	}
	values := strings.Split(line, "\t")
	if len(values) < len(r.fields) {
		return logLine{}, fmt.Errorf("%d values: want the %d that #Fields names", len(values), len(r.fields))
	}
	agent := ""
	if i := slices.Index(r.fields, "cs(User-Agent)"); i >= 0 {
		agent = values[i]
	}
	return cloudFront(agent, func() namedFields {
		f := namedFields{}
		for i, name := range r.fields {
			f[name] = values[i]
		}
		return f
	})
}

// cloudFront returns a line of CloudFront. A log has "-" for the agent of a request without one.
func cloudFront(escaped string, fields func() namedFields) (logLine, error) {
	if escaped == "" {
		return logLine{}, errors.New("no cs(User-Agent): want it among the fields of the log")
	}
	agent := unescape(escaped)
	return logLine{agent, func() (logRequest, error) { return fields().request(agent) }}, nil
}

// unescape decodes the URL escapes of CloudFront's fields, of which old tab-separated logs have two layers.
func unescape(text string) string {
	for range 2 {
		plain, err := url.PathUnescape(text)
		if err != nil || plain == text {
			return text
		}
		text = plain
	}
	return text
}

// request reads the rest of the line.
func (f namedFields) request(agent string) (logRequest, error) {
	q := logRequest{agent: agent, host: f.first("ClientRequestHost", "x-host-header", "cs(Host)")}
	q.address, _ = parseAddress(f.first("ClientIP", "c-ip"))
	var err error
	q.at, err = f.time()
	path := f.first("ClientRequestPath", "ClientRequestURI", "cs-uri-stem")
	return q.with(path, f.first("EdgeResponseStatus", "sc-status"), f.first("EdgeResponseBytes", "sc-bytes"), err)
}

// first returns the first value that is not empty; CloudFront writes - for none.
func (f namedFields) first(names ...string) string {
	for _, name := range names {
		if value := f[name]; value != "" && value != "-" {
			return value
		}
	}
	return ""
}

// time reads RFC 3339, a number of seconds, milliseconds or nanoseconds since 1970, by its size, or a date and a time.
func (f namedFields) time() (time.Time, error) {
	stamp, date := f.first("EdgeStartTimestamp", "timestamp(ms)", "timestamp"), f.first("date")
	if stamp == "" && date != "" {
		at, err := time.Parse(time.DateTime, date+" "+f["time"])
		if err != nil {
			err = errors.New("date and time: want them such as 2026-03-02 and 12:00:00")
		}
		return at, err
	}
	if n, err := strconv.ParseInt(stamp, 10, 64); err == nil && n >= 0 {
		switch {
		case n < 1e11:
			return time.Unix(n, 0), nil
		case n < 1e14:
			return time.UnixMilli(n), nil
		}
		return time.Unix(0, n), nil
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		err = errors.New("time: want RFC 3339, or a number since 1970")
	}
	return at, err
}
