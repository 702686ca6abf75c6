package imports

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Capture is one line: an answer that was taken elsewhere, not yet read for any brand.
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

// Parse reads one line. The error says, for each wrong field, what would be right. now is the clock: an answer lies at
// most a day after it.
func Parse(text []byte, now time.Time) (Capture, error) {
	var l line
	if err := decode(text, &l); err != nil {
		return Capture{}, err
	}
	return l.parse(now)
}

// decode reads the JSON of a line.
func decode(text []byte, into any) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("byte %d is not UTF-8: want UTF-8", firstInvalid(string(text)))
	}
	// What is left of invalid UTF-8 is an escaped half of a surrogate pair.
	if err := json.Unmarshal(text, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return lineError(err)
	}
	return nil
}

func (l *line) parse(now time.Time) (Capture, error) {
	if problems := l.problems(); len(problems) > 0 {
		return Capture{}, errors.New(strings.Join(problems, "; "))
	}
	c := l.capture()
	// All else is what a record has to hold, whichever brand it is for.
	brand := answer.Snapshot{OrganizationID: anyID, Brand: event.Brand{Entity: event.Entity{ID: anyID, Name: "any"}}}
	a := c.record(brand, event.Prompt{ID: anyID, SetID: anyID, Text: c.Prompt})
	if err := a.Check(now); err != nil {
		return Capture{}, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c, nil
}

var anyID = uuid.UUID{1}

// firstInvalid is the number of the first byte that is not UTF-8.
func firstInvalid(text string) int {
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			return i + 1
		}
	}
	return 0
}

func lineError(err error) error {
	syntax, _ := errors.AsType[*jsontext.SyntacticError](err)
	malformed, _ := errors.AsType[*event.MalformedError](event.JSONError(err))
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("%s is there twice: want it once", malformed.Field)
	case syntax != nil:
		return fmt.Errorf("not JSON at byte %d (%w): want one JSON object a line", syntax.ByteOffset+1, syntax.Err)
	case malformed.Field == "":
		return errors.New("not an object: want one JSON object a line")
	}
	return malformed
}

// problems says what is missing, or is not what a line may hold though a record may; the first few of them.
func (l *line) problems() (problems []string) {
	want := func(ok bool, text string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(text, args...))
		}
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	want(!blank(l.Platform), "platform: want a slug such as %q", "chatgpt-web")
	want(!blank(l.Prompt), "prompt: want what was asked")
	want(len(l.Prompt) <= longestPrompt, "prompt: want at most %d bytes, got %d", longestPrompt, len(l.Prompt))
	want(blank(l.Topic) || postgres.IsName(l.Topic), "topic: want at most %d bytes without control characters", postgres.MaxName)
	want(!strings.Contains(l.Prompt, "\x00"), "prompt: want text without U+0000")
	want(!l.AnsweredAt.IsZero(), "answered_at: want %s", wantedTime)
	switch {
	case l.GivenUp != "":
		want(slices.Contains(platform.Classes, l.GivenUp), "given_up: want one of %q, or none, got %.40q", platform.Classes, string(l.GivenUp))
		want((l.Text == nil || *l.Text == "") && len(l.Citations) == 0 && len(l.Products) == 0, "given_up: want no text, citations or products beside it")
	case len(l.Products) > 0:
		want(l.Text != nil, "text: want the answer's text, which may be empty beside products")
	default:
		want(l.Text != nil && !blank(*l.Text), "text: want the answer's text")
	}
	for i, c := range l.Citations {
		want(c.URL != nil, "citations[%d].url: want a URL", i)
	}
	for i, p := range l.Products {
		want(p.Title != nil, "products[%d].title: want a string", i)
		want(p.Position == nil || *p.Position >= 1 && *p.Position <= math.MaxInt32, "products[%d].position: want an integer of 1 or more", i)
	}
	const most = 5
	if len(problems) > most {
		problems = append(problems[:most], fmt.Sprintf("and %d more", len(problems)-most))
	}
	return problems
}

const longestPrompt = min(event.MaxPrompt, postgres.MaxPromptText)

func (l *line) capture() Capture {
	c := Capture{
		Platform: l.Platform, Prompt: l.Prompt, Model: l.Model, Region: l.Region, Language: l.Language, Sample: 1,
		AnsweredAt: time.Time(l.AnsweredAt),
		Reply:      platform.Reply{ServedModel: l.ServedModel, Surface: l.Surface},
	}
	if strings.TrimSpace(l.Topic) != "" {
		c.Topic = l.Topic
	}
	if l.Sample != nil {
		c.Sample = int64(*l.Sample)
	}
	if l.GivenUp != "" {
		c.GivenUp = &platform.Error{Class: l.GivenUp}
		if l.GivenUpError != "" {
			c.GivenUp.Cause = errors.New(l.GivenUpError)
		}
		return c
	}
	c.Reply.Text = *l.Text
	for _, item := range l.Citations {
		if *item.URL != "" { // an empty one cites nothing
			cited := item.Cited == nil || *item.Cited
			c.Reply.Citations = append(c.Reply.Citations, platform.Citation{Citation: event.Citation{URL: *item.URL, Title: item.Title, Cited: cited}})
		}
	}
	for _, item := range l.Products {
		p := event.Product{
			Title: *item.Title, Brand: item.Brand, PriceAmount: string(item.PriceAmount), PriceCurrency: item.PriceCurrency,
			URL: item.URL, ImageURL: item.ImageURL, Rating: item.Rating, ReviewCount: int64(item.ReviewCount),
		}
		if item.Position != nil {
			p.Position = int(*item.Position)
		}
		c.Reply.Products = append(c.Reply.Products, p)
	}
	return c
}

// run is the run that the line captures: it was due when it was answered.
func (c Capture) run(s answer.Snapshot, prompt event.Prompt) answer.Run {
	return answer.Run{
		Snapshot: s, Prompt: prompt, Platform: c.Platform, Model: c.Model, Region: c.Region, Language: c.Language,
		Sample: c.Sample, Due: c.AnsweredAt, EndedAt: c.AnsweredAt,
	}
}

func (c Capture) record(s answer.Snapshot, prompt event.Prompt) event.Answer {
	if c.GivenUp != nil {
		return c.run(s, prompt).GaveUp(c.GivenUp)
	}
	return c.run(s, prompt).Answered(c.Reply)
}

// id is that of the record which the line becomes for a brand.
func (c Capture) id(brand uuid.UUID) uuid.UUID {
	var s answer.Snapshot
	s.Brand.ID = brand
	return c.run(s, event.Prompt{Text: c.Prompt}).ID()
}
