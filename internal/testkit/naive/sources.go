package naive

import (
	"cmp"
	"maps"
	"slices"

	"golang.org/x/net/publicsuffix"
)

// SourceTypes are in the order in which the first that fits is a source's.
var SourceTypes = []string{"owned", "competitor", "forum", "social", "review", "institutional", "editorial"}

// A citation is one URL that one answer cites.
type citation struct {
	answer             int // ordinal
	url, domain, title string
	kind, model        string
}

// Citations computes /api/v1/citations: what the answers cite; mentioned, unless nil, which of them count. listed says
// of a host which source type the lists and rules of hosts give it; they are data and no definition.
func Citations(readings []Reading, f Filter, mentioned *bool, source string, limit int, listed func(host string) string) Body {
	all := answers(f.runs(readings))
	if mentioned != nil {
		all = slices.DeleteFunc(all, func(r Reading) bool { return *mentioned != (r.Brand.Mentions > 0) })
	}
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
	breakdown, domains, urls := []Body{}, []Body{}, []Body{}
	for _, kind := range SourceTypes {
		n := 0
		for _, citations := range byDomain {
			if firstType(citations) == kind {
				n++
			}
		}
		breakdown = append(breakdown, Body{"category": kind, "count": n, "pct": rounded(rat(100*n), len(byDomain), 1)})
	}
	for _, domain := range most(byDomain, limit) {
		c := byDomain[domain]
		row := citedBy(c, len(all))
		row["domain"], row["models"] = domain, distinct(c, func(c citation) string { return c.model })
		domains = append(domains, row)
	}
	for _, url := range most(byURL, limit) {
		c := byURL[url]
		row := citedBy(c, len(all))
		row["url"], row["domain"], row["title"] = url, c[0].domain, cmp.Or(distinct(c, func(c citation) string { return c.title })...)
		urls = append(urls, row)
	}
	return Body{
		"totals": Body{
			"domains": len(byDomain), "urls": len(byURL), "citations": len(passed), "results_with_citations": citing(passed),
			"avg_citations_per_result": rounded(rat(len(passed)), len(all), 1), // of all answers of the window
		},
		"source_type_breakdown": breakdown, "top_domains": domains, "top_urls": urls,
	}
}

// citations are the URLs that an answer cites, each once, with the first title that is not empty.
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
		for _, given := range r.Answer.Citations {
			if same, _ := normalise(given.URL); same == url && c.title == "" {
				c.title = given.Title
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

func citedBy(citations []citation, answers int) Body {
	n := citing(citations)
	return Body{
		"category": firstType(citations), "total_citations": len(citations), "results_citing": n,
		"usage_pct": rounded(rat(100*n), answers, 1),
	}
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
