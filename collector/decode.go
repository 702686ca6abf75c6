package collector

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
)

// The bounds of a request's body.
const (
	maxBody  = 8192 // bytes
	maxItems = 50
)

// beacon has the fields that a page posts, as they were sent. Its texts may be parts of the request's body.
type beacon struct {
	URL      string `json:"u"`
	Referrer string `json:"r"`
	Platform string `json:"s"` // the page's guess
	Language string `json:"l"`
	Screen   string `json:"d"`
	TimeZone string `json:"z"`
	Event    string `json:"e"`
	Brand    string `json:"b"`
	Session  string `json:"i"`
	New      flag   `json:"n"` // first view of Session
	Goal     *goal  `json:"g"`

	brand    uuid.UUID // Brand
	page     page      // URL
	referrer page      // Referrer; empty for what is no web page
	app      string    // package of the app for Android that is the Referrer
}

// flag is 1 or 0, or true or false.
type flag bool

// UnmarshalJSON takes nothing else: "0" would be a guess.
func (f *flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "1", "true":
		*f = true
	case "0", "false", "null":
		*f = false
	default:
		return errors.New("want 1 or 0")
	}
	return nil
}

// decode reads a body, one beacon or an array of them, and appends to list. The error is a refusal that names the wrong
// field. The list, also beside an error, is valid only as long as body is.
func decode(body []byte, list []beacon) ([]beacon, error) {
	var one beacon
	if scan(body, &one) {
		list = append(list, one)
	} else {
		var err error
		if list, err = parse(body, list); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return list, err
		}
	}
	return list, nil
}

// scan reads a single beacon as t.js sends it: the fields of a view, nothing between them, every text plain ASCII.
// Nearly every beacon is one, and is read in a fraction of the library's time, without an allocation. parse reads it
// equally (FuzzDecode). The texts of b are parts of body.
func scan(body []byte, b *beacon) bool {
	rest, ok := strings.CutPrefix(text(body), "{")
	if !ok {
		return false
	}
	var seen [1 << 8]bool
	for {
		if len(rest) < 5 || rest[0] != '"' || rest[2] != '"' || rest[3] != ':' {
			return false
		}
		name := rest[1]
		if seen[name] {
			return false
		}
		seen[name], rest = true, rest[4:]
		if name == 'n' {
			if rest[0] != '0' && rest[0] != '1' {
				return false
			}
			b.New, rest = rest[0] == '1', rest[1:]
		} else {
			text := b.text(name)
			if text == nil || rest[0] != '"' {
				return false
			}
			if *text, rest, ok = event.PlainText(rest[1:]); !ok {
				return false
			}
		}
		switch {
		case rest == "}":
			return true
		case rest == "" || rest[0] != ',':
			return false
		}
		rest = rest[1:]
	}
}

// text returns the text field of a name, nil for another one.
func (b *beacon) text(name byte) *string {
	texts := [...]*string{
		&b.URL, &b.Referrer, &b.Platform, &b.Language, &b.Screen, &b.TimeZone, &b.Event, &b.Brand, &b.Session,
	}
	if i := strings.IndexByte("ursldzebi", name); i >= 0 {
		return texts[i]
	}
	return nil
}

// parse reads the bodies that scan does not. The library refuses invalid UTF-8, a byte-order mark, duplicate names and
// text after the end, and takes names only as they are written.
func parse(body []byte, list []beacon) ([]beacon, error) {
	var items []*beacon
	var err error
	switch start := bytes.TrimLeft(body, " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("{")):
		items = []*beacon{{}}
		err = json.Unmarshal(body, items[0])
	case bytes.HasPrefix(start, []byte("[")):
		err = json.Unmarshal(body, &items)
	default:
		return nil, malformed("want a JSON object, or an array of them")
	}
	if err != nil {
		return nil, unreadable(err)
	}
	if len(items) == 0 || len(items) > maxItems {
		return nil, malformed("want 1 to 50 beacons in an array")
	}
	for _, item := range items {
		if item == nil {
			return nil, malformed("want objects in an array")
		}
		list = append(list, *item)
	}
	return list, nil
}

// unreadable names the place where the library stopped, and repeats nothing of the body.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONPointer != "" {
		return malformed("want the field " + field(wrong.JSONPointer) + " in its own type")
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(wrong, jsontext.ErrDuplicateName) {
		return malformed("want each field once")
	}
	return malformed("want JSON in UTF-8, without a byte-order mark")
}

// field returns the last name of p that is a field of a beacon.
func field(p jsontext.Pointer) string {
	for _, name := range slices.Backward(strings.Split(string(p), "/")) {
		switch name {
		case "name", "value", "currency":
			return "g." + name
		case "u", "r", "s", "l", "d", "z", "e", "b", "i", "n", "g":
			return name
		}
	}
	return "of a beacon"
}

// check validates a beacon without its site. Wrong language, screen and time zone are dropped later, since the visit
// took place.
func (b *beacon) check() error {
	if len(b.Brand) != 36 || b.brand.Parse(b.Brand) != nil { // the one usual form of a UUID
		return malformed("want the brand's id in b")
	}
	var ok bool
	if b.page, ok = pageOf(b.URL); !ok {
		return malformed("want the page's http or https URL in u")
	}
	b.referrer.host, b.referrer.path, b.referrer.query, _ = site.ParsePage(b.Referrer)
	b.app = site.ParseApp(b.Referrer)
	if printable(b.Session) != b.Session {
		return malformed("want at most 64 printable ASCII characters in i")
	}
	switch event.VisitKind(b.Event) {
	case "", event.VisitView:
		b.Goal = nil
	case event.VisitGoal:
		if b.Goal == nil {
			return malformed("want a goal in g")
		}
		return b.Goal.check()
	default:
		return malformed("want view or goal in e")
	}
	return nil
}

// printable returns a text that is short and printable ASCII; else "".
func printable(text string) string {
	if len(text) > event.MaxLabel {
		return ""
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return ""
		}
	}
	return text
}

// page has the parts of a URL that site.ParsePage returns.
type page struct{ host, path, query string }

// pageOf returns the page of a visit: its path begins with /, has no secret and is no longer than the log takes.
func pageOf(url string) (p page, ok bool) {
	if event.HasControls(url) {
		return page{}, false
	}
	if p.host, p.path, p.query, ok = site.ParsePage(url); !ok {
		return page{}, false
	}
	p.path = event.MaskPath(event.Path(p.path))
	if len(p.path) > event.MaxTitle {
		end := event.MaxTitle
		if at := strings.LastIndexByte(p.path[:end], '%'); at > end-len("%HH") {
			end = at // no half of an escape
		}
		p.path = strings.TrimRight(p.path[:end], "/")
	}
	return p, true
}

// goal is a conversion, as a page posts it.
type goal struct {
	Name     string `json:"name"`
	Value    amount `json:"value"`
	Currency string `json:"currency"`
}

// amount is a decimal number as text, "" for none. A page gives a number, or a text that is one.
type amount string

// UnmarshalJSON leaves the number in a text to check.
func (a *amount) UnmarshalJSON(b []byte) error {
	text, err := jsontext.AppendUnquote(nil, b)
	switch {
	case string(b) == "null":
		*a = ""
	case err == nil && b[0] == '"':
		*a = amount(text)
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*a = amount(b)
	default:
		return errNoNumber
	}
	return nil
}

var errNoNumber = malformed("want a number")

// check validates a goal, and brings value and currency into the form of the log.
func (g *goal) check() error {
	if g.Name == "" || len(g.Name) > event.MaxName {
		return malformed("want a name of at most 512 bytes in g")
	}
	if event.HasControls(g.Name) {
		return malformed("want a name without control characters in g")
	}
	if g.Value != "" {
		value, ok := event.Decimal(string(g.Value))
		if !ok {
			return malformed("want a decimal number below 1000000000000 as the value in g")
		}
		if strings.Contains(value, ".") {
			value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
		}
		g.Value = amount(value)
	}
	if g.Currency == "" {
		return nil
	}
	g.Currency = strings.ToUpper(g.Currency)
	if len(g.Currency) != 3 || strings.Trim(g.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return malformed("want three letters (ISO 4217) as the currency in g")
	}
	return nil
}
