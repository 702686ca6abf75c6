package naive

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Pages computes /api/v1/ai-pages of a brand from its readings, and from the crawls and visits of all, each once.
// listed is as of Citations. A step of "" selects all pages.
func Pages(
	readings []Reading, crawls []event.Crawl, visits []event.Visit, organization, brand uuid.UUID, f Filter, step, sortBy string, limit int,
	listed func(host string) string,
) Body {
	type counts struct{ crawls, citations, visits, sessions, goals int }
	pages := map[string]*counts{}
	at := func(address string) *counts {
		page := pageOf(address)
		if pages[page] == nil {
			pages[page] = &counts{}
		}
		return pages[page]
	}
	in := func(at event.Time) bool {
		day := at.String()[:len("2006-01-02")]
		return f.From <= day && day <= f.To
	}
	for _, c := range crawls {
		if c.OrganizationID == organization && c.BrandID == brand && in(c.At) && among(f.Platforms, c.Platform) {
			at(c.Host+c.Path).crawls++
		}
	}
	for _, r := range answers(f.runs(readings)) {
		for _, c := range r.citations(listed) {
			if c.kind == "owned" {
				at(c.url).citations++
			}
		}
	}
	for _, v := range visits {
		if v.OrganizationID != organization || v.BrandID != brand || !in(v.At) || !among(f.Platforms, v.Platform) {
			continue
		}
		switch page := at(v.Host + v.Path); {
		case v.Event == event.VisitGoal:
			page.goals++
		case v.NewSession:
			page.sessions++
			fallthrough
		default:
			page.visits++
		}
	}
	reaches := map[string]func(c *counts) bool{
		"crawled":             func(c *counts) bool { return c.crawls > 0 },
		"cited":               func(c *counts) bool { return c.citations > 0 },
		"visited":             func(c *counts) bool { return c.visits > 0 },
		"converted":           func(c *counts) bool { return c.goals > 0 },
		"crawled_never_cited": func(c *counts) bool { return c.crawls > 0 && c.citations == 0 },
		"cited_never_visited": func(c *counts) bool { return c.citations > 0 && c.visits == 0 },
	}
	steps := Body{}
	for name, reach := range reaches {
		n := 0
		for _, c := range pages {
			if reach(c) {
				n++
			}
		}
		steps[name] = n
	}
	sorted := map[string]func(c *counts) int{
		"visits": func(c *counts) int { return c.visits }, "sessions": func(c *counts) int { return c.sessions },
		"citations": func(c *counts) int { return c.citations }, "crawls": func(c *counts) int { return c.crawls },
		"goals": func(c *counts) int { return c.goals },
	}[sortBy]
	rows := []Body{}
	for _, page := range slices.SortedFunc(maps.Keys(pages), func(a, b string) int {
		x, y := pages[a], pages[b]
		return cmp.Or(sorted(y)-sorted(x), y.visits-x.visits, y.citations-x.citations, y.crawls-x.crawls, strings.Compare(a, b))
	}) {
		c := pages[page]
		if step != "" && !reaches[step](c) {
			continue
		}
		rows = append(rows, Body{"page": page, "crawls": c.crawls, "citations": c.citations, "visits": c.visits, "sessions": c.sessions, "goals": c.goals})
	}
	return Body{"total": len(rows), "steps": steps, "pages": rows[:min(len(rows), limit)]}
}

// pageOf is the host and path of an address, whatever its scheme and query.
func pageOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	address, _, _ = strings.Cut(address, "?")
	host, path, _ := strings.Cut(strings.TrimPrefix(address, "www."), "/")
	return host + strings.TrimSuffix(spelled("/"+path), "/")
}

var (
	notPlain = regexp.MustCompile("(%|\\\\x)[[:xdigit:]]{2}|[^ -~]+|[ \"%<>\\\\^`|]")
	here     = regexp.MustCompile(`/\.(/|$)`)
	above    = regexp.MustCompile(`^/\.\.(/|$)|/[^/]*/\.\.(/|$)`)
)

// spelled is the one spelling of a path (RFC 3986 §6.2.2) without slashes at the end, of the root a slash.
func spelled(path string) string {
	path = reescaped(path)
	for here.MatchString(path) {
		path = here.ReplaceAllString(path, "/")
	}
	for at := above.FindStringIndex(path); at != nil; at = above.FindStringIndex(path) {
		path = path[:at[0]] + "/" + path[at[1]:]
	}
	return "/" + strings.TrimPrefix(strings.TrimRight(path, "/"), "/")
}

// reescaped spells the escapes of a path or query.
func reescaped(text string) string {
	return notPlain.ReplaceAllStringFunc(text, func(part string) string {
		if raw, err := url.PathUnescape(strings.Replace(part, `\x`, "%", 1)); err == nil {
			part = raw
		}
		return strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	})
}
