package onboard

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/answerscope/answerscope/internal/egress"
)

const maxHeading = 4 << 10 // bytes that are read of an element's text

// separator ends the name at the beginning of a title.
var separator = regexp.MustCompile(` - |[|–—·]`)

// statements are the names, questions and address that a home page states, in the order of the page.
type statements struct {
	names, questions []string
	canonical        string // the page's own address
}

// read reads a home page. Like a browser it skips data that is not valid.
func read(page egress.Page) (s statements, err error) {
	var text io.Reader = bytes.NewReader(page.Body)
	encoding, _, isDeclared := charset.DetermineEncoding(page.Body, page.ContentType)
	if isDeclared || !utf8.Valid(page.Body) {
		text = encoding.NewDecoder().Reader(text)
	}
	root, err := html.Parse(text)
	if err != nil {
		return s, err
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Namespace == "" {
			s.element(n)
		}
	}
	return s, nil
}

func (s *statements) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Meta:
		if attribute(n, "property") == "og:site_name" {
			s.names = append(s.names, attribute(n, "content"))
		}
	case atom.Title:
		s.names = append(s.names, separator.Split(content(n), 2)[0])
	case atom.Link:
		if strings.EqualFold(attribute(n, "rel"), "canonical") && s.canonical == "" {
			s.canonical = attribute(n, "href")
		}
	case atom.H1, atom.H2:
		if text := strings.TrimSpace(content(n)); strings.HasSuffix(text, "?") {
			s.questions = append(s.questions, text)
		}
	case atom.Script:
		var data any
		if attribute(n, "type") == "application/ld+json" && n.FirstChild != nil &&
			json.Unmarshal([]byte(n.FirstChild.Data), &data) == nil {
			s.data(data, true)
		}
	}
}

// data reads JSON-LD. An organization or a brand below the page's own nodes may be another one, such as the maker of a
// product.
func (s *statements) data(value any, isOwn bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			s.data(item, isOwn)
		}
	case map[string]any:
		types := texts(v["@type"])
		if isOwn && (slices.Contains(types, "Organization") || slices.Contains(types, "Brand")) {
			for _, field := range []string{"name", "alternateName", "legalName"} {
				s.names = append(s.names, texts(v[field])...)
			}
		}
		if slices.Contains(types, "Question") {
			s.questions = append(s.questions, texts(v["name"])...)
		}
		for _, field := range slices.Sorted(maps.Keys(v)) {
			s.data(v[field], isOwn && field == "@graph")
		}
	}
}

// texts returns a text, or each text of a list.
func texts(value any) (list []string) {
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	for _, item := range items {
		if text, ok := item.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func content(n *html.Node) string {
	var text strings.Builder
	for child := range n.Descendants() {
		if text.Len() > maxHeading {
			break
		}
		if child.Type == html.TextNode {
			text.WriteString(child.Data[:min(len(child.Data), maxHeading)])
		}
	}
	return text.String()
}
