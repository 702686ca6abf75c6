package collector

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// The bounds of a request's body.
const (
	maxBody  = 8192 // bytes
	maxItems = 50
)

// beacon is what a page posts, as it was sent. Its texts may be those of the request's body.
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

	brand uuid.UUID // Brand
	page  page      // URL
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

// decode reads a body: one beacon, or an array of them, appended to list. The error is a refusal that names what is
// wrong. What list holds afterwards, also beside an error, is of use only as long as body is.
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

// parse is for what scan leaves. The library refuses invalid UTF-8, a byte-order mark, names that come twice and what
// follows the end, and takes names only as they are written.
func parse(body []byte, list []beacon) ([]beacon, error) {
	switch start := bytes.TrimLeft(body, " \t\r\n"); {
	case len(start) > 0 && start[0] == '{':
		var one beacon
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, unreadable(err)
		}
		return append(list, one), nil
	case len(start) > 0 && start[0] == '[':
		var items []*beacon
		if err := json.Unmarshal(body, &items); err != nil {
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
	return nil, malformed("want a JSON object, or an array of them")
}

// unreadable says where the library stopped, in words that repeat nothing of the body.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONPointer != "" {
		return malformed("want the field " + field(wrong.JSONPointer) + " in its own type")
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(wrong, jsontext.ErrDuplicateName) {
		return malformed("want each field once")
	}
	return malformed("want JSON in UTF-8, without a byte-order mark")
}

// field is the last name of p, if it is one of ours.
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

// check judges what a beacon says without knowing whose it is. Hints that cannot be right (language, screen, time
// zone) are forgotten, since the visit took place all the same.
func (b *beacon) check() error {
	var ok bool
	if b.brand, ok = brandID(b.Brand); !ok {
		return malformed("want the brand's id in b")
	}
	if b.page, ok = pageOf(b.URL); !ok {
		return malformed("want the page's http or https URL in u")
	}
	if !hint(b.Session) {
		return malformed("want at most 64 plain characters in i")
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

// brandID takes a UUID in its one usual form.
func brandID(text string) (id uuid.UUID, ok bool) {
	if len(text) != 36 {
		return uuid.Nil, false
	}
	return id, id.Parse(text) == nil
}

// hint tells whether a text may be kept as it is: short, and plain ASCII.
func hint(text string) bool {
	if len(text) > event.MaxLabel {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func hinted(text string) string {
	if !hint(text) {
		return ""
	}
	return text
}

// refusal is an answer to a request that is not taken. Reason labels it in the metrics.
type refusal struct {
	status  int
	reason  string
	message string
}

func (r *refusal) Error() string { return r.message }

func malformed(message string) error {
	return &refusal{http.StatusBadRequest, "malformed", message}
}
