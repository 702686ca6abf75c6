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

	text      strings.Builder
	separate  bool
	cited     []platform.Citation
	consulted []platform.Citation
	queries   []string
	unknown   []string
}

// Separate makes the next text a message of its own, set off by a blank line.
func (d *Draft) Separate() { d.separate = true }

// Write adds text and returns where it begins.
func (d *Draft) Write(text string) (start int) {
	if text == "" {
		return d.text.Len()
	}
	if d.separate && d.text.Len() > 0 {
		d.text.WriteString("\n\n")
	}
	d.separate = false
	start = d.text.Len()
	d.text.WriteString(text)
	return start
}

// Text returns the text so far.
func (d *Draft) Text() string { return d.text.String() }

// Cite adds a URL that the text cites from byte start to byte end, both 0 if they are unknown. A range that
// is not of the text is left out.
func (d *Draft) Cite(address, title string, start, end int) {
	if start < 0 || start > end || end > d.text.Len() {
		start, end = 0, 0
	}
	d.cited = add(d.cited, platform.Citation{Citation: event.Citation{URL: address, Title: title, Cited: true}, Start: start, End: end})
}

// Consult adds a URL that the platform read or found.
func (d *Draft) Consult(address, title string) {
	d.consulted = add(d.consulted, platform.Citation{Citation: event.Citation{URL: address, Title: title}})
}

// Search adds a search query.
func (d *Draft) Search(query string) {
	if query != "" {
		d.queries = append(d.queries, query)
	}
}

// add adds a URL once: where it stood first, with its first title. Text that is no URL is left out.
func add(list []platform.Citation, c platform.Citation) []platform.Citation {
	c.URL = withoutSource(c.URL)
	if !IsURL(c.URL) {
		return list
	}
	if i := at(list, c.URL); i >= 0 {
		if list[i].Title == "" {
			list[i].Title = c.Title
		}
		return list
	}
	return append(list, c)
}

// IsURL reports whether an address has a scheme and a host. Addresses that platforms list are as pages have them, with
// a lone % in the path, for example, so no more is asked of them.
func IsURL(address string) bool {
	scheme, rest, ok := strings.Cut(address, "://")
	return ok && scheme != "" && rest != "" && !strings.ContainsAny(rest[:1], "/?#") && !strings.ContainsFunc(scheme, isNoLetter)
}

func isNoLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

func at(list []platform.Citation, address string) int {
	return slices.IndexFunc(list, func(c platform.Citation) bool { return c.URL == address })
}

// Reply is the answer: the cited URLs before those that were only consulted. Without text it is an error: of class
// content_filtered if the platform refuses, else of changed_shape.
func (d *Draft) Reply(finish event.Finish, servedModel string, usage *event.Usage, raw []byte) (platform.Reply, error) {
	text := d.text.String()
	if d.Refused {
		finish = event.FinishFiltered
	}
	if strings.TrimSpace(text) == "" {
		if finish == event.FinishFiltered {
			return platform.Reply{}, Filtered("the platform refuses to answer")
		}
		return platform.Reply{}, Changed("the answer has no text")
	}
	citations := d.cited
	for _, c := range d.consulted {
		if at(d.cited, c.URL) < 0 {
			citations = append(citations, c)
		}
	}
	return platform.Reply{
		ServedModel: servedModel, Surface: event.SurfaceAPI, Text: text, Citations: citations, SearchQueries: d.queries,
		Usage: usage, Finish: finish, Raw: raw, Unknown: d.unknown,
	}, nil
}

// Filtered is an error of class content_filtered.
func Filtered(why string) *platform.Error {
	e := Changed("%s", why)
	e.Class = platform.ContentFiltered
	return e
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

// Bytes is the offset in bytes of an offset in characters; -1 if the text is shorter.
func Bytes(text string, characters int64) int {
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
