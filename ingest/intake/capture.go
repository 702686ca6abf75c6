package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Capture is one line: an answer that was taken elsewhere, not yet judged for
// any brand.
type Capture struct {
	Platform   string
	Prompt     string // byte for byte as it was asked
	Topic      string // for a prompt that is new; "" none
	Model      string
	Region     string
	Language   string
	Sample     int64
	AnsweredAt time.Time // UTC, milliseconds
	Reply      platform.Reply
	GivenUp    *platform.Error // why there is no answer; nil: Reply is it
}

// run is the run that the line captures: it was due when it was answered.
func (c Capture) run(s answer.Snapshot, prompt event.Prompt) answer.Run {
	return answer.Run{
		Snapshot: s, Prompt: prompt, Platform: c.Platform, Model: c.Model, Region: c.Region, Language: c.Language,
		Sample: c.Sample, Due: c.AnsweredAt, EndedAt: c.AnsweredAt,
	}
}

// maxFaults is how many faults of one line are told.
const maxFaults = 5

// earliest is the first instant an answer may have.
var earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Parse reads one line. The error says, for each field that is wrong, what
// would be right. now is the clock's: an answer cannot lie more than a day
// after it.
func Parse(line []byte, now time.Time) (Capture, error) {
	if !utf8.Valid(line) {
		return Capture{}, fmt.Errorf("byte %d is not UTF-8: want UTF-8", firstInvalid(line))
	}
	if err := valid(line); err != nil {
		return Capture{}, err
	}
	var faults []string
	o := open("", bytes.TrimSpace(line), &faults)
	c := Capture{
		Platform: o.slug("platform"),
		Prompt:   o.row("prompt", o.must("prompt", min(event.MaxPrompt, postgres.MaxPromptText))),
		Topic:    o.row("topic", o.text("topic", postgres.MaxTopicName)),
		Model:    o.text("model", event.MaxName),
		Region:   o.text("region", event.MaxLabel),
		Language: o.text("language", event.MaxLabel),
		Sample:   o.integer("sample", 1, math.MaxInt64, 1),

		AnsweredAt: o.instant("answered_at", now),
		Reply: platform.Reply{
			ServedModel: o.text("served_model", event.MaxName),
			Surface:     o.surface(),
			Products:    o.products(),
			Citations:   o.citations(),
		},
	}
	c.GivenUp = o.givenUp()
	switch {
	case c.GivenUp != nil:
		if o.text("text", event.MaxText) != "" || len(c.Reply.Citations) > 0 || len(c.Reply.Products) > 0 {
			o.fault("given_up: want no text, citations or products beside it")
		}
	case len(c.Reply.Products) > 0:
		c.Reply.Text = o.given("text", event.MaxText)
	default:
		c.Reply.Text = o.must("text", event.MaxText)
	}
	if len(faults) > maxFaults {
		faults = append(faults[:maxFaults], fmt.Sprintf("and %d more", len(faults)-maxFaults))
	}
	if len(faults) > 0 {
		return Capture{}, errors.New(strings.Join(faults, "; "))
	}
	return c, nil
}

// valid tells whether line is one JSON object, and else where it ceases to be.
func valid(line []byte) error {
	if !json.Valid(line) {
		err := json.Unmarshal(line, new(json.RawMessage))
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("not JSON at byte %d (%w): want one JSON object a line", syntax.Offset, err)
		}
		return fmt.Errorf("not JSON (%w): want one JSON object a line", err)
	}
	if trimmed := bytes.TrimSpace(line); trimmed[0] != '{' {
		return fmt.Errorf("%s: want a JSON object", clip(trimmed))
	}
	return nil
}

func firstInvalid(line []byte) int {
	at := 0
	for at < len(line) {
		r, size := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at + 1
}

// row checks a text that becomes a row of Postgres, which keeps no U+0000. A
// blank one is none.
func (o object) row(name, text string) string {
	if strings.ContainsRune(text, 0) {
		o.fault("%s holds U+0000: want text without it", name)
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// instantForm is RFC 3339, the zone optional; time.Parse alone takes less strict forms.
var instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?$`)

func (o object) instant(name string, now time.Time) time.Time {
	before := len(*o.faults)
	text := o.must(name, event.MaxLabel)
	if len(*o.faults) > before {
		return time.Time{}
	}
	at, ok := instant(text)
	if !ok {
		o.fault(`%s %q: want RFC 3339 such as "2026-03-02T09:05:00Z"`, name, clip([]byte(text)))
		return time.Time{}
	}
	if latest := now.Add(24 * time.Hour); at.Before(earliest) || at.After(latest) {
		o.fault("%s %s: want a time from 2020-01-01 to a day from now, %s", name, at.Format(time.RFC3339), latest.UTC().Format(time.RFC3339))
	}
	return at
}

func instant(text string) (time.Time, bool) {
	form := instantForm.FindStringSubmatch(text)
	if form == nil {
		return time.Time{}, false
	}
	text = strings.ToUpper(text)
	text = text[:10] + "T" + text[11:]
	if form[2] == "" {
		text += "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return event.At(at).Time, err == nil
}

func (o object) surface() event.Surface {
	surface := event.Surface(o.text("surface", event.MaxLabel))
	switch surface {
	case "", event.SurfaceAPI, event.SurfaceConsumer:
	default:
		o.fault("surface %q: want %q or %q", string(surface), event.SurfaceAPI, event.SurfaceConsumer)
	}
	return surface
}

// givenUp is why a run ended without an answer, nil where it has one: an export
// tells such runs too.
func (o object) givenUp() *platform.Error {
	class := platform.Class(o.text("given_up", event.MaxLabel))
	why := o.text("given_up_error", event.MaxTitle)
	switch {
	case class == "":
		return nil
	case !slices.Contains(platform.Classes, class):
		o.fault("given_up %q: want one of %q, or none", string(class), platform.Classes)
	}
	e := &platform.Error{Class: class}
	if why != "" {
		e.Cause = errors.New(why)
	}
	return e
}

func (o object) citations() []platform.Citation {
	var citations []platform.Citation
	for _, item := range o.list("citations", event.MaxSources) {
		c := platform.Citation{Citation: event.Citation{
			URL:   item.given("url", event.MaxURL),
			Title: item.text("title", event.MaxTitle),
			Cited: item.truth("cited", true),
		}}
		if c.URL != "" { // an empty one cites nothing
			citations = append(citations, c)
		}
	}
	return citations
}

func (o object) products() []event.Product {
	var products []event.Product
	for _, item := range o.list("products", event.MaxCards) {
		products = append(products, event.Product{
			Position:      int(item.integer("position", 1, math.MaxInt32, 0)),
			Title:         item.given("title", event.MaxTitle),
			Brand:         item.text("brand", event.MaxName),
			PriceAmount:   item.price("price_amount"),
			PriceCurrency: item.currency("price_currency"),
			URL:           item.text("url", event.MaxURL),
			ImageURL:      item.text("image_url", event.MaxURL),
			Rating:        item.number("rating", 1e6),
			ReviewCount:   item.integer("review_count", 0, math.MaxInt64, 0),
		})
	}
	return products
}

var (
	slugForm     = regexp.MustCompile(`^[a-z0-9._-]+$`)
	currencyForm = regexp.MustCompile(`^([A-Z]{3})?$`)
)

func (o object) slug(name string) string {
	before := len(*o.faults)
	s := o.must(name, event.MaxLabel)
	if len(*o.faults) == before && !slugForm.MatchString(s) {
		o.fault("%s %q: want a slug of lower-case letters, digits, - _ and . such as %q", name, s, "chatgpt-web")
	}
	return s
}

func (o object) currency(name string) string {
	s := o.text(name, event.MaxLabel)
	if !currencyForm.MatchString(s) {
		o.fault("%s %q: want three capital letters such as %q", name, s, "EUR")
	}
	return s
}
