package imports

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// line is the JSON of a line. null is the same as an absent field; fields that are not named here are ignored.
type line struct {
	Platform     string         `json:"platform"`
	Prompt       string         `json:"prompt"`
	Topic        string         `json:"topic"`
	Model        string         `json:"model"`
	Region       string         `json:"region"`
	Language     string         `json:"language"`
	Sample       *integer       `json:"sample"` // nil is 1
	AnsweredAt   instant        `json:"answered_at"`
	Text         *string        `json:"text"`
	ServedModel  string         `json:"served_model"`
	Provider     string         `json:"provider"`
	Finish       event.Finish   `json:"finish"`
	Surface      event.Surface  `json:"surface"`
	Citations    citations      `json:"citations"`
	Products     products       `json:"products"`
	GivenUp      platform.Class `json:"given_up"` // of a run that ended without an answer, as exports have it
	GivenUpError string         `json:"given_up_error"`

	Event   present `json:"event"`   // of an exported visit
	Crawler present `json:"crawler"` // of an exported crawl
}

type (
	citations []struct {
		URL   *string `json:"url"`
		Title string  `json:"title"`
		Cited *bool   `json:"cited"` // nil is true
	}
	products []struct {
		event.Product
		Title       *string  `json:"title"`
		Position    *integer `json:"position"`
		PriceAmount price    `json:"price_amount"`
		ReviewCount integer  `json:"review_count"`
	}
)

func (c *citations) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readList(d, c, event.MaxSources)
}

func (p *products) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readList(d, p, event.MaxCards)
}

// readList reads a list of at most limit items: a line of 8 MB may hold millions, of a hundred bytes each in memory.
func readList[L ~[]T, T any](d *jsontext.Decoder, list *L, limit int) error {
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '[':
	default:
		return &event.MalformedError{Want: "a list of objects"}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if len(*list) == limit {
			return &event.MalformedError{Want: fmt.Sprintf("at most %d", limit)}
		}
		var item T
		if err := json.UnmarshalDecode(d, &item); err != nil {
			return err
		}
		*list = append(*list, item)
	}
	_, err := d.ReadToken()
	return err
}

func wrongValue(want string, got []byte) error {
	return &event.MalformedError{Want: fmt.Sprintf("%s, got %.40s", want, got)}
}

// integer may be written 1, 1.0 or 1e0.
type integer int64

func (i *integer) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*i = integer(n)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return wrongValue("an integer of 64 bits", b)
	}
	*i = integer(f)
	return nil
}

// price is a decimal number, written as a number or as a string.
type price string

func (p *price) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		text = strings.TrimSuffix(quoted, `"`)
		if strings.ContainsAny(text, "eE") {
			text = "" // exponents are JSON's, a decimal string has none
		}
	}
	decimal, ok := event.Decimal(text)
	if !ok || strings.HasPrefix(text, "-") {
		const form = `a number of 0 or more or a decimal string such as "579.99", at most 12 digits before the point`
		return wrongValue(form, b)
	}
	*p = price(decimal)
	return nil
}

// instant is RFC 3339, the zone optional, in whole milliseconds.
type instant time.Time

const wantedTime = `RFC 3339 such as "2026-03-02T09:05:00Z"`

// instantForm is stricter than time.Parse.
var instantForm = regexp.MustCompile(`^"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?"$`)

// IsZero reports whether the line has no time.
func (t instant) IsZero() bool { return time.Time(t).IsZero() }

func (t *instant) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	form := instantForm.FindStringSubmatch(string(b))
	if form == nil {
		return wrongValue(wantedTime, b)
	}
	text := strings.ToUpper(strings.Trim(form[0], `"`))
	text = text[:10] + "T" + text[11:]
	if form[2] == "" {
		text += "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return wrongValue(wantedTime, b)
	}
	*t = instant(event.At(at).Time)
	return nil
}
