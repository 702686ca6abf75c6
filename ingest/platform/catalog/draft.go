package catalog

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// draft collects the parts of an answer while it is read.
type draft struct {
	refused bool // the platform declines to answer

	body      strings.Builder
	paragraph bool // the next text begins one
	cited     []platform.Citation
	consulted []platform.Citation
	queries   []string
	unknown   []string
}

// startParagraph sets the next text off by a blank line.
func (d *draft) startParagraph() { d.paragraph = true }

// write adds text and returns where it begins.
func (d *draft) write(text string) (start int) {
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

func (d *draft) text() string { return d.body.String() }

// cite adds a URL that the text cites from byte start to byte end, both 0 if they are unknown. A range outside the text
// is left out.
func (d *draft) cite(address, title string, start, end int) {
	if start < 0 || start > end || end > d.body.Len() {
		start, end = 0, 0
	}
	citation := event.Citation{URL: address, Title: title, Cited: true}
	d.cited = addOnce(d.cited, platform.Citation{Citation: citation, Start: start, End: end})
}

// consult adds a URL that the platform read or found.
func (d *draft) consult(address, title string) {
	d.consulted = addOnce(d.consulted, platform.Citation{Citation: event.Citation{URL: address, Title: title}})
}

func (d *draft) search(query string) {
	if query != "" {
		d.queries = append(d.queries, query)
	}
}

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

// reply returns the answer: the cited URLs before those that were only consulted. Without text it is an error: of class
// content_filtered if the platform refuses, else of changed_shape.
func (d *draft) reply(finish event.Finish, servedModel string, usage *event.Usage, raw []byte) (platform.Reply, error) {
	text := d.body.String()
	if d.refused {
		finish = event.FinishFiltered
	}
	if strings.TrimSpace(text) == "" {
		if finish == event.FinishFiltered {
			return platform.Reply{}, filtered("the platform refuses to answer")
		}
		return platform.Reply{}, changedShape("the answer has no text")
	}
	citations := d.cited
	for _, c := range d.consulted {
		if indexOf(d.cited, c.URL) < 0 {
			citations = append(citations, c)
		}
	}
	return platform.Reply{
		ServedModel: servedModel, Surface: event.SurfaceAPI, Text: text, Citations: citations, SearchQueries: d.queries,
		Usage: usage, Finish: finish, Raw: raw, Unknown: d.unknown,
	}, nil
}

// source is the parameter that OpenAI adds to the URLs that it cites, and not to those that it consulted.
const source = "utm_source=openai"

// withoutSource removes that parameter, and leaves every other byte as it is.
func withoutSource(address string) string {
	before, fragment, hasFragment := strings.Cut(address, "#")
	path, query, hasQuery := strings.Cut(before, "?")
	if !hasQuery || !strings.Contains(query, source) {
		return address
	}
	parameters := slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool { return p == source })
	if len(parameters) > 0 {
		path += "?" + strings.Join(parameters, "&")
	}
	if hasFragment {
		path += "#" + fragment
	}
	return path
}

// byteOffset returns the offset in bytes of an offset in characters; -1 if the text is shorter.
func byteOffset(text string, characters int64) int {
	if characters < 0 {
		return -1
	}
	for offset := range text {
		if characters == 0 {
			return offset
		}
		characters--
	}
	if characters == 0 {
		return len(text)
	}
	return -1
}
