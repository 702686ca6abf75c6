package imports

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Capture is the answer of one line, not yet read for any brand. Its run was due when it was answered, has no snapshot,
// and of its prompt only the text, byte for byte.
type Capture struct {
	answer.Run
	Topic   string // for a prompt that is new; "" none
	Reply   platform.Reply
	GivenUp *platform.Error // why there is no answer; nil: Reply is the answer
}

// Parse reads one line. The error names, for each wrong field, the right value. now is the clock: an answer lies at
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
	// The only invalid UTF-8 left is an escaped half of a surrogate pair.
	if err := json.Unmarshal(text, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return lineError(err)
	}
	return nil
}

func (l *line) parse(now time.Time) (Capture, error) {
	if l.Text != nil {
		if text := capture.WithoutFurniture(*l.Text); text != strings.TrimSpace(*l.Text) {
			l.Text = &text
		}
	}
	if problems := l.problems(); len(problems) > 0 {
		return Capture{}, errors.New(strings.Join(problems, "; "))
	}
	c := l.capture()
	// A record has more rules, whichever brand it is for.
	brand := answer.Snapshot{OrganizationID: anyID, Brand: event.Brand{Entity: event.Entity{ID: anyID, Name: "any"}}}
	a := c.record(brand, event.Prompt{ID: anyID, SetID: anyID, Text: c.Prompt.Text})
	if err := a.Check(now); err != nil {
		return Capture{}, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c, nil
}

var anyID = uuid.UUID{1}

// firstInvalid returns the number of the first byte that is not UTF-8.
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

const (
	longestPrompt  = min(event.MaxPrompt, postgres.MaxPromptText)
	listedProblems = 5
)

// problems returns the first few faults that the check of a record does not find.
func (l *line) problems() (problems []string) {
	want := func(ok bool, text string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(text, args...))
		}
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	noText := l.Text == nil || *l.Text == ""
	want(!blank(l.Platform), "platform: want a slug such as %q", "chatgpt-web")
	want(!blank(l.Prompt), "prompt: want what was asked")
	want(len(l.Prompt) <= longestPrompt, "prompt: want at most %d bytes, got %d", longestPrompt, len(l.Prompt))
	want(blank(l.Topic) || postgres.IsName(l.Topic),
		"topic: want at most %d bytes without control characters", postgres.MaxName)
	want(!strings.Contains(l.Prompt, "\x00"), "prompt: want text without U+0000")
	want(!l.AnsweredAt.IsZero(), "answered_at: want %s", wantedTime)
	switch {
	case l.GivenUp != "":
		want(slices.Contains(platform.Classes, l.GivenUp),
			"given_up: want one of %q, or none, got %.40q", platform.Classes, string(l.GivenUp))
		want(noText && len(l.Citations) == 0 && len(l.Products) == 0,
			"given_up: want no text, citations or products beside it")
	case l.Finish == event.FinishNotShown: // the check of the record says what may not stand beside it
	case len(l.Products) > 0:
		want(l.Text != nil, "text: want the answer's text, which may be empty beside products")
	default:
		want(l.Text != nil && !blank(*l.Text), "text: want the answer's text")
	}
	for i, c := range l.Citations {
		want(c.URL != nil, "citations[%d].url: want a URL", i)
		want(c.URL == nil || *c.URL == "" || webAddress(*c.URL) != "",
			"citations[%d].url: want a URL such as https://acme.example/page", i)
	}
	for i, p := range l.Products {
		want(p.Title != nil, "products[%d].title: want a string", i)
		want(p.Position == nil || *p.Position >= 1 && *p.Position <= math.MaxInt32,
			"products[%d].position: want an integer of 1 or more", i)
	}
	if more := len(problems) - listedProblems; more > 0 {
		problems = append(problems[:listedProblems], fmt.Sprintf("and %d more", more))
	}
	return problems
}

// capture makes a capture of a line without problems.
func (l *line) capture() Capture {
	at := time.Time(l.AnsweredAt)
	c := Capture{
		Run: answer.Run{
			Prompt: event.Prompt{Text: l.Prompt}, Platform: l.Platform, Model: l.Model, Region: l.Region,
			Language: l.Language, Sample: 1, Due: at, EndedAt: at,
		},
		Reply: platform.Reply{
			ServedModel: l.ServedModel, Provider: l.Provider, Surface: l.Surface, Finish: l.Finish,
		},
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
	if l.Text != nil {
		c.Reply.Text = *l.Text
	}
	for _, item := range l.Citations {
		if *item.URL != "" { // an empty one cites nothing
			citation := event.Citation{
				URL: webAddress(*item.URL), Title: item.Title, Cited: item.Cited == nil || *item.Cited,
			}
			c.Reply.Citations = append(c.Reply.Citations, platform.Citation{Citation: citation})
		}
	}
	for _, item := range l.Products {
		p := item.Product
		p.Title, p.PriceAmount, p.ReviewCount = *item.Title, string(item.PriceAmount), int64(item.ReviewCount)
		if item.Position != nil {
			p.Position = int(*item.Position)
		}
		c.Reply.Products = append(c.Reply.Products, p)
	}
	return c
}

// webAddress returns a cited URL: as it is if it is http or https with a host, as https if it is a host with or without
// a page, else "".
func webAddress(text string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(text), "://")
	if !ok {
		scheme, rest = "", strings.TrimPrefix(scheme, "//")
	}
	authority := rest[:strings.IndexAny(rest+"/", "/?#")]
	switch {
	case strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "https"):
		if strings.Trim(authority, ".:") != "" && !strings.ContainsFunc(authority, unicode.IsSpace) {
			return text
		}
	case scheme == "" && !strings.Contains(authority, "@"):
		if host, err := Host(authority); err == nil && isName(host) {
			return "https://" + rest
		}
	}
	return ""
}

// record makes the answer's record for a brand.
func (c Capture) record(brand answer.Snapshot, prompt event.Prompt) event.Answer {
	c.Snapshot, c.Prompt = brand, prompt
	if c.GivenUp != nil {
		return c.GaveUp(c.GivenUp)
	}
	return c.Answered(c.Reply)
}

// id returns the id of the record for a brand.
func (c Capture) id(brand uuid.UUID) uuid.UUID {
	c.Snapshot.Brand.ID = brand
	return c.ID()
}
