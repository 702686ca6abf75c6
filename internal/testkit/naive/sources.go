package naive

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gofrs/uuid/v5"
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

// CitationFilter is what the parameters of /api/v1/citations say beside the common ones.
type CitationFilter struct {
	Filter
	Mentioned   *bool
	Consulted   bool // pages that were only consulted
	Source      string
	Granularity string // "": no buckets
	Limit       int
}

// Citations computes /api/v1/citations: what the answers cite. listed says of a host which source type the lists and
// rules of hosts give it; they are data and no definition.
func Citations(readings []Reading, f CitationFilter, listed func(host string) string) Body {
	all := slices.DeleteFunc(answers(f.runs(readings)), func(r Reading) bool {
		return f.Mentioned != nil && *f.Mentioned != (r.Brand.Mentions > 0)
	})
	var passed []citation
	pages := Reading.citations
	if f.Consulted {
		pages = Reading.consulted
	}
	for i, r := range all {
		for _, c := range pages(r, listed) {
			external := c.kind != "owned" && c.kind != "competitor"
			if c.answer = i; f.Source == "all" || f.Source == c.kind || f.Source == "external" && external {
				passed = append(passed, c)
			}
		}
	}
	byDomain := grouped(passed, func(c citation) string { return c.domain })
	byURL := grouped(passed, func(c citation) string { return c.url })
	breakdown, domains, urls := []Body{}, []Body{}, []Body{}
	byKind := grouped(passed, func(c citation) string { return c.kind })
	for _, kind := range SourceTypes {
		n := 0
		for _, citations := range byDomain {
			if firstType(citations) == kind {
				n++
			}
		}
		breakdown = append(breakdown, Body{
			"category": kind, "count": n, "pct": rounded(rat(100*n), len(byDomain), 1),
			"citations": len(byKind[kind]), "citations_pct": rounded(rat(100*len(byKind[kind])), len(passed), 1),
		})
	}
	for _, domain := range most(byDomain, f.Limit) {
		c := byDomain[domain]
		row := citedBy(c, len(all))
		row["domain"], row["models"] = domain, distinct(c, func(c citation) string { return c.model })
		domains = append(domains, row)
	}
	for _, url := range most(byURL, f.Limit) {
		c := byURL[url]
		row := citedBy(c, len(all))
		row["url"], row["domain"], row["title"] = url, c[0].domain, cmp.Or(distinct(c, func(c citation) string { return c.title })...)
		urls = append(urls, row)
	}
	body := Body{
		"totals": Body{
			"domains": len(byDomain), "urls": len(byURL), "citations": len(passed), "results_with_citations": citing(passed),
			"avg_citations_per_result": rounded(rat(len(passed)), len(all), 1), // of all answers of the window
		},
		"source_type_breakdown": breakdown, "top_domains": domains, "top_urls": urls, "buckets": []Body{},
	}
	if f.Granularity != "" {
		body["buckets"] = citationBuckets(all, passed, f.Granularity)
	}
	return body
}

func citationBuckets(answers []Reading, citations []citation, granularity string) []Body {
	buckets := []Body{}
	byDate := grouped(citations, func(c citation) string { return bucketOf(answers[c.answer], granularity) })
	for _, date := range slices.Sorted(maps.Keys(byDate)) {
		byKind := grouped(byDate[date], func(c citation) string { return c.kind })
		for _, kind := range SourceTypes {
			if n := len(byKind[kind]); n > 0 {
				buckets = append(buckets, Body{
					"date": date, "category": kind, "citations": n, "citing_answers": citing(byKind[kind]),
					"citations_pct": rounded(rat(100*n), len(byDate[date]), 1),
				})
			}
		}
	}
	return buckets
}

// citations are the URLs that an answer cites.
func (r Reading) citations(listed func(host string) string) []citation {
	return r.pages(cited(r.Answer.Citations), listed)
}

// consulted are the URLs of an answer that it does not cite.
func (r Reading) consulted(listed func(host string) string) []citation {
	all := slices.Clone(r.Answer.Citations)
	for i := range all {
		all[i].Cited = true
	}
	hosts, without := cited(all), cited(r.Answer.Citations)
	maps.DeleteFunc(hosts, func(url, _ string) bool { return without[url] != "" })
	return r.pages(hosts, listed)
}

// pages are URLs of an answer by their hosts, each once, with the first title that is not empty.
func (r Reading) pages(hosts map[string]string, listed func(host string) string) []citation {
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

// SourceMatrix computes /api/v1/source-matrix: of the domains that most answers cite, whom the answers name that cite
// one.
func SourceMatrix(
	readings []Reading, f Filter, who Live, competitors []Live, limit int, listed func(host string) string,
) Body {
	all := answers(f.runs(readings))
	var cited []citation
	for i, r := range all {
		for _, c := range r.citations(listed) {
			c.answer = i
			cited = append(cited, c)
		}
	}
	byDomain := grouped(cited, func(c citation) string { return c.domain })
	names := slices.SortedFunc(maps.Keys(byDomain), func(a, b string) int {
		return cmp.Or(citing(byDomain[b])-citing(byDomain[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), limit)]
	named := map[uuid.UUID]int{}
	rows := []Body{}
	for _, name := range names {
		var with []Reading
		for i, r := range all {
			if slices.ContainsFunc(byDomain[name], func(c citation) bool { return c.answer == i }) {
				with = append(with, r)
			}
		}
		ours := count(with, brand)
		entities := []Body{matrixEntity(who, "brand", ours, nil)}
		for _, c := range competitors {
			theirs := count(with, rival(c.ID))
			named[c.ID] += theirs.mentionAnswers
			entities = append(entities, matrixEntity(c, "competitor", theirs, gap(ours, theirs)))
		}
		rows = append(rows, Body{
			"domain": name, "category": firstType(byDomain[name]), "answers": len(with), "prompt_count": len(ours.asked),
			"usage_pct": rounded(rat(100*len(with)), len(all), 1), "entities": entities,
		})
	}
	for _, row := range rows {
		slices.SortFunc(row["entities"].([]Body)[1:], func(a, b Body) int {
			return cmp.Or(named[b["id"].(uuid.UUID)]-named[a["id"].(uuid.UUID)],
				cmp.Compare(a["name"].(string), b["name"].(string)))
		})
	}
	return Body{"domains": rows}
}

func matrixEntity(e Live, role string, c counts, gap any) Body {
	return Body{
		"id": e.ID, "name": e.Name, "role": role, "named": c.mentionAnswers, "mention_rate_pct": c.mentionRate(),
		"mention_rate_interval": c.mentionRateInterval(), "gap": gap,
	}
}
