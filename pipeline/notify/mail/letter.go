// Package mail writes mails about events and one-time links, and hands them to the operator's SMTP relay.
package mail

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	html "html/template"
	"net/url"
	"regexp"
	"strings"
	"text/tabwriter"
	text "text/template"
	"time"

	"github.com/answerscope/answerscope/internal/platformname"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A Message is a mail as it is read.
type Message struct{ Subject, Text, HTML string }

//go:embed letter.html letter.txt letters.tmpl
var files embed.FS

var (
	texts = text.Must(text.New("").Funcs(functions).ParseFS(files, "letter.txt", "letters.tmpl"))
	pages = html.Must(html.New("").Funcs(functions).ParseFS(files, "letter.html", "letters.tmpl"))
)

// Write writes a mail, the same each time. All of its links begin with publicURL.
func Write(m postgres.Mail, publicURL string) (Message, error) {
	data, err := feed.Read(m.Template, onOneLine(m.Data))
	if err != nil {
		return Message{}, fmt.Errorf("write mail %s: %w", m.ID, err)
	}
	v := &view{Subject: data.Headline(), Data: data, Base: publicURL, Stop: stopURL(m, publicURL)}
	var plain, page, aligned strings.Builder
	err = errors.Join(texts.ExecuteTemplate(&plain, m.Template, v), pages.ExecuteTemplate(&page, m.Template, v))
	if err != nil {
		return Message{}, fmt.Errorf("write mail %s: %w", m.ID, err)
	}
	columns := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	_, _ = columns.Write(continued.ReplaceAll([]byte(plain.String()), []byte(" "))) // to memory
	_ = columns.Flush()
	return Message{v.Subject, aligned.String(), page.String()}, nil
}

// continued matches the break before an indented line, where a template continues a paragraph.
var continued = regexp.MustCompile(` *\n +`)

// stopURL returns the address that stops the subscription of a mail; "" without one.
func stopURL(m postgres.Mail, publicURL string) string {
	if !m.SubscriptionID.Valid {
		return ""
	}
	return publicURL + "/unsubscribe/" + m.SubscriptionID.UUID.String()
}

// control matches in JSON what would break a line, hide text or turn its direction; first an escaped backslash, so that
// the letter after it is left alone.
var control = regexp.MustCompile(`\\\\|\\[bfnrt]|\\u00[01][0-9a-f]|\\u202[89]|` +
	`[\x{7f}-\x{9f}\x{2028}-\x{202e}\x{2066}-\x{2069}]`)

// onOneLine makes a space of each control character in the strings of data.
func onOneLine(data json.RawMessage) []byte {
	return control.ReplaceAllFunc(data, func(match []byte) []byte {
		if string(match) == `\\` {
			return match
		}
		return []byte(" ")
	})
}

// A view is the data of the templates.
type view struct {
	Subject string
	Data    feed.Content
	Base    string // PUBLIC_URL
	Stop    string // address that stops the subscription
}

type link struct{ Text, URL string }

// A cell of a table has a second line in HTML, in brackets in text.
type cell struct {
	Text, Small string
	URL         string   // in HTML
	Tone        html.CSS // colours of a move
	Bar         html.CSS // place of an interval between 0 and 100 %
}

// Link links to a path.
func (v *view) Link(text, path string) link { return link{text, v.Base + path} }

var tones = map[string]html.CSS{
	verdict.MovedUp: "background:#e3f2ed;color:#0b5a46", verdict.MovedDown: "background:#fdf3dc;color:#6b4400",
}

// Judged returns the cells of a judged figure.
func (v *view) Judged(name, path string, j feed.Judged) []cell {
	small := j.Why()
	if j.Since != "" {
		small = "since " + day(j.Since)
	}
	return []cell{{Text: name, URL: v.Base + path}, figure(j.Figure), figure(j.From),
		{Text: j.Words(), Small: small, Tone: tones[j.Verdict]}}
}

// Row returns the cells of a row of the report.
func (v *view) Row(r feed.Row) []cell {
	report, _ := v.Data.(*feed.Report)
	path := screen(report.Brand, report.Window, "competitors")
	switch r.Dimension {
	case "platform":
		r.Name = platformname.Of(r.Key)
		path = screen(report.Brand, report.Window, "", "platform", r.Key)
	case "topic":
		path = screen(report.Brand, report.Window, "prompts", "topic_id", r.Key)
	}
	return v.Judged(r.Name, path, r.Judged)
}

func figure(f feed.Figure) cell {
	c := cell{Text: f.Percent(), Small: "n " + feed.Count(f.N)}
	if f.Range() != "" {
		c.Small = f.Range() + ", " + c.Small
		bar := fmt.Sprintf("margin-left:%.1f%%;width:%.1f%%", *f.Low, *f.High-*f.Low)
		c.Bar = html.CSS(bar) //nolint:gosec // figures
	}
	return c
}

// screen returns the path of a brand's screen; "" is Overview. filters are pairs of a name and a value.
func screen(brand feed.Brand, days feed.Days, name string, filters ...string) string {
	query := url.Values{"date_from": {days.From}, "date_to": {days.To}}
	for i := 0; i+1 < len(filters); i += 2 {
		query.Set(filters[i], filters[i+1])
	}
	return strings.TrimSuffix("/brands/"+url.PathEscape(brand.Slug)+"/"+name, "/") + "?" + query.Encode()
}

// day writes a UTC day as the dashboard does: Nov 9, 2026.
func day(date string) string {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return at.Format("Jan 2, 2006")
}

var functions = map[string]any{
	"count": feed.Count, "day": day, "figure": figure, "screen": screen,
	"cell":     func(text, small string) cell { return cell{Text: text, Small: small} },
	"row":      func(cells ...cell) []cell { return cells },
	"list":     func(names ...string) []string { return names },
	"platform": platformname.Of,
	"platforms": func(slugs []string) string {
		names := make([]string, len(slugs))
		for i, slug := range slugs {
			names[i] = platformname.Of(slug)
		}
		return strings.Join(names, ", ")
	},
	"plain": func(word string) string { return strings.ReplaceAll(word, "_", " ") },
	"days":  func(d feed.Days) string { return day(d.From) + " to " + day(d.To) },
	"dates": func(list []string) string {
		words := make([]string, len(list))
		for i, date := range list {
			words[i] = day(date)
		}
		return strings.Join(words, "; ")
	},
	"moment": func(at time.Time) string { return at.UTC().Format("Jan 2, 2006, 15:04") + " UTC" },
}
