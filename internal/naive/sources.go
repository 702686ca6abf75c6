package naive

import (
	"cmp"
	"maps"
	"slices"

	"golang.org/x/net/publicsuffix"
)

// CitationsBody is the body of /api/v1/citations.
type CitationsBody struct {
	Totals     CitationTotals `json:"totals"`
	Breakdown  []TypeCount    `json:"source_type_breakdown"`
	TopDomains []CitedDomain  `json:"top_domains"`
	TopURLs    []CitedURL     `json:"top_urls"`
}

// CitationTotals are over the citations that pass the source filter, but the
// average is over all answers of the window.
type CitationTotals struct {
	Domains               int    `json:"domains"`
	URLs                  int    `json:"urls"`
	Citations             int    `json:"citations"`
	ResultsWithCitations  int    `json:"results_with_citations"`
	AvgCitationsPerResult figure `json:"avg_citations_per_result"`
}

// TypeCount is how many domains have a source type.
type TypeCount struct {
	Category string `json:"category"`
	Count    int    `json:"count"`
	Pct      figure `json:"pct"`
}

// CitedDomain is a registrable domain.
type CitedDomain struct {
	Domain string `json:"domain"`
	usage
	Models []string `json:"models"`
}

// CitedURL is a page.
type CitedURL struct {
	URL    string `json:"url"`
	Domain string `json:"domain"`
	Title  string `json:"title"`
	usage
}

type usage struct {
	Category       string `json:"category"`
	TotalCitations int    `json:"total_citations"`
	ResultsCiting  int    `json:"results_citing"`
	UsagePct       figure `json:"usage_pct"`
}

// SourceTypes are in the order in which the first that fits is a source's.
var SourceTypes = []string{"owned", "competitor", "forum", "social", "review", "institutional", "editorial"}

// A citation is one URL that one answer cites.
type citation struct {
	answer             int // ordinal
	url, domain, title string
	kind, model        string
}

// Citations computes what the answers cite. listed says of a host which source
// type the lists and rules of hosts give it; they are data and no definition.
func Citations(readings []Reading, f Filter, source string, limit int, listed func(host string) string) CitationsBody {
	all := answers(f.runs(readings))
	var passed []citation
	for i, r := range all {
		for _, c := range r.citations(listed) {
			if c.answer = i; source == "all" || source == c.kind || source == "external" && c.kind != "owned" && c.kind != "competitor" {
				passed = append(passed, c)
			}
		}
	}
	byDomain := grouped(passed, func(c citation) string { return c.domain })
	byURL := grouped(passed, func(c citation) string { return c.url })
	body := CitationsBody{
		Totals: CitationTotals{
			Domains: len(byDomain), URLs: len(byURL), Citations: len(passed), ResultsWithCitations: citing(passed),
			AvgCitationsPerResult: rounded(rat(len(passed)), len(all), 1),
		},
		TopDomains: []CitedDomain{}, TopURLs: []CitedURL{},
	}
	for _, kind := range SourceTypes {
		n := 0
		for _, citations := range byDomain {
			if firstType(citations) == kind {
				n++
			}
		}
		body.Breakdown = append(body.Breakdown, TypeCount{kind, n, rounded(rat(100*n), len(byDomain), 1)})
	}
	for _, domain := range most(byDomain, limit) {
		c := byDomain[domain]
		body.TopDomains = append(body.TopDomains, CitedDomain{domain, citedBy(c, len(all)), distinct(c, func(c citation) string { return c.model })})
	}
	for _, url := range most(byURL, limit) {
		c := byURL[url]
		title := ""
		if titles := distinct(c, func(c citation) string { return c.title }); len(titles) > 0 {
			title = cmp.Or(titles...) // the first that is not empty
		}
		body.TopURLs = append(body.TopURLs, CitedURL{url, c[0].domain, title, citedBy(c, len(all))})
	}
	return body
}

// citations are the URLs that an answer cites, each once. One that is told twice
// is cited when one of them is, and has the first title that is not empty.
func (r Reading) citations(listed func(host string) string) []citation {
	hosts := cited(r.Answer.Citations)
	var all []citation
	for _, url := range slices.Sorted(maps.Keys(hosts)) {
		c := citation{url: url, domain: registrable(hosts[url]), kind: listed(hosts[url]), model: r.Answer.Model}
		one := map[string]string{url: hosts[url]}
		for _, competitor := range r.Answer.Competitors {
			if under(one, competitor.Domains) > 0 {
				c.kind = "competitor"
			}
		}
		if under(one, r.Answer.Brand.Domains) > 0 {
			c.kind = "owned"
		}
		for _, told := range r.Answer.Citations {
			if same, _ := normalise(told.URL); same == url && c.title == "" {
				c.title = told.Title
			}
		}
		all = append(all, c)
	}
	return all
}

func registrable(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

func grouped(citations []citation, by func(citation) string) map[string][]citation {
	groups := map[string][]citation{}
	for _, c := range citations {
		groups[by(c)] = append(groups[by(c)], c)
	}
	return groups
}

// most are the names with the most citations, of equals the first by name.
func most(groups map[string][]citation, limit int) []string {
	names := slices.Sorted(maps.Keys(groups))
	slices.SortStableFunc(names, func(a, b string) int { return len(groups[b]) - len(groups[a]) })
	return names[:min(len(names), limit)]
}

func citedBy(citations []citation, answers int) usage {
	n := citing(citations)
	return usage{firstType(citations), len(citations), n, rounded(rat(100*n), answers, 1)}
}

// citing counts the answers that citations are of.
func citing(citations []citation) int {
	answers := map[int]bool{}
	for _, c := range citations {
		answers[c.answer] = true
	}
	return len(answers)
}

func firstType(citations []citation) string {
	for _, kind := range SourceTypes {
		if slices.ContainsFunc(citations, func(c citation) bool { return c.kind == kind }) {
			return kind
		}
	}
	return ""
}

func distinct(citations []citation, of func(citation) string) []string {
	var values []string
	for _, c := range citations {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return slices.Compact(values)
}
