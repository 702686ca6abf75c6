package wire

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Draft collects the parts of an answer while it is read.
type Draft struct {
	Refused bool // the platform declines to answer

	body      strings.Builder
	paragraph bool // the next text begins one
	cited     []platform.Citation
	consulted []platform.Citation
	queries   []string
	unknown   []string
}

// StartParagraph sets the next text off by a blank line.
func (d *Draft) StartParagraph() { d.paragraph = true }

// Write adds text and returns where it begins.
func (d *Draft) Write(text string) (start int) {
	if text == "" {
		return d.body.Len()
	}
	if d.paragraph && d.body.Len() > 0 {
		d.body.WriteString("\n\n")
	}
	d.paragraph = false
	start = d.body.Len()
	d.body.WriteString(text)
	return start
}

// Text returns the text so far.
func (d *Draft) Text() string { return d.body.String() }

// Cite adds a URL that the text cites from byte start to byte end, both 0 if they are unknown. A range outside the text
// is left out.
func (d *Draft) Cite(address, title string, start, end int) {
	if start < 0 || start > end || end > d.body.Len() {
		start, end = 0, 0
	}
	citation := event.Citation{URL: address, Title: title, Cited: true}
	d.cited = addOnce(d.cited, platform.Citation{Citation: citation, Start: start, End: end})
}

// Consult adds a URL that the platform read or found.
func (d *Draft) Consult(address, title string) {
	d.consulted = addOnce(d.consulted, platform.Citation{Citation: event.Citation{URL: address, Title: title}})
}

// HasPages reports whether a URL was added.
func (d *Draft) HasPages() bool { return len(d.cited)+len(d.consulted) > 0 }

// Search adds a query of a search.
func (d *Draft) Search(query string) {
	if query != "" {
		d.queries = append(d.queries, query)
	}
}

// PassOver counts an item of an unknown kind.
func (d *Draft) PassOver(kind string) { d.unknown = append(d.unknown, kind) }

// addOnce adds a URL once: where it stood first, with its first title. Text that is no URL is left out.
func addOnce(list []platform.Citation, c platform.Citation) []platform.Citation {
	c.URL = withoutSource(c.URL)
	if !platform.IsURL(c.URL) {
		return list
	}
	if i := indexOf(list, c.URL); i >= 0 {
		if list[i].Title == "" {
			list[i].Title = c.Title
		}
		return list
	}
	return append(list, c)
}

func indexOf(list []platform.Citation, address string) int {
	return slices.IndexFunc(list, func(c platform.Citation) bool { return c.URL == address })
}

// Reply returns the answer: the cited URLs before those that were only consulted. Without text it is an error: of class
// content_filtered if the platform refuses, else of changed_shape.
func (d *Draft) Reply(finish event.Finish, servedModel string, usage *event.Usage, raw []byte) (platform.Reply, error) {
	text := d.body.String()
	if d.Refused {
		finish = event.FinishFiltered
	}
	if strings.TrimSpace(text) == "" {
		if finish == event.FinishFiltered {
			return platform.Reply{}, Filtered("the platform refuses to answer")
		}
		return platform.Reply{}, ChangedShape("the answer has no text")
	}
	citations := d.cited
	for _, c := range d.consulted {
		if i := indexOf(d.cited, c.URL); i < 0 {
			citations = append(citations, c)
		} else if citations[i].Title == "" {
			citations[i].Title = c.Title
		}
	}
	return platform.Reply{
		ServedModel: servedModel, Surface: event.SurfaceAPI, Text: text, Citations: citations, SearchQueries: d.queries,
		Usage: usage, Finish: finish, Raw: raw, Unknown: d.unknown,
	}, nil
}

// sources are the parameters that OpenAI and ChatGPT add to URLs that they cite, and not to those that they consult.
var sources = []string{"utm_source=openai", "utm_source=chatgpt.com"}

func withoutSource(address string) string {
	return WithoutParameters(address, func(parameter string) bool { return slices.Contains(sources, parameter) })
}

// WithoutParameters removes parameters from an address, and leaves every other byte as it is.
func WithoutParameters(address string, isDropped func(parameter string) bool) string {
	before, fragment, hasFragment := strings.Cut(address, "#")
	page, query, hasQuery := strings.Cut(before, "?")
	if !hasQuery {
		return address
	}
	parameters := slices.DeleteFunc(strings.Split(query, "&"), isDropped)
	if len(parameters) > 0 {
		page += "?" + strings.Join(parameters, "&")
	}
	if hasFragment {
		page += "#" + fragment
	}
	return page
}
