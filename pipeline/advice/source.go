package advice

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// SourceEvidence compares the answers that cite a domain. Its Link lists those that do not name the brand.
type SourceEvidence struct {
	Comparison
	Prompts  int       `json:"prompts"`
	Judged   int       `json:"tried"`    // domains
	Category string    `json:"category"` // the source type; "other": most of Pages are products of a shop
	Pages    []PageRow `json:"pages"`    // at most five, by answers, then by URL
}

// PageRow is a page that is cited in answers that name a competitor and not the brand.
type PageRow struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Answers int64  `json:"answers"`
	Kind    string `json:"page_kind"`
}

// findSources judges the rows of each domain.
func findSources(brand *Brand, rows []clickhouse.PromptNames) Result {
	sources := Result{Total: Total{Kind: KindSource}}
	rivals, total, largest := brand.rivals(), answersOf(rows), 0
	for from, to := 0, 0; from < len(rows); from = to {
		domain := rows[from].Domain
		for to < len(rows) && rows[to].Domain == domain {
			to++
		}
		citing, prompts := rows[from:to], int(rows[from].Prompts)
		if domain == "" {
			continue
		}
		if largest = max(largest, prompts); prompts < leastJudged {
			continue
		}
		sources.Judged++
		comparison, competitors := compare(citing, rivals)
		e := SourceEvidence{Comparison: comparison, Prompts: prompts}
		sources.ByChance += 0.005 * float64(competitors) // the rival is the best of so many
		ofBrand := func(r clickhouse.PromptNames) int64 { return r.BrandAnswers }
		ofRival := func(r clickhouse.PromptNames) (n int64) {
			if i := slices.Index(r.Rivals, clickhouse.UUID(e.Rival.ID)); i >= 0 {
				n = r.RivalAnswers[i]
			}
			return n
		}
		lead, deviation, _ := clustered(citing, func(r clickhouse.PromptNames) int64 { return ofRival(r) - ofBrand(r) })
		if lead-2.576*deviation <= 1e-9 { // 99 %, since many domains are judged
			continue
		}
		e.BrandInterval = intervalOf(clustered(citing, ofBrand))
		e.RivalInterval = intervalOf(clustered(citing, ofRival))
		e.Open = "domain=" + url.QueryEscape(domain) + "&mentioned=false"
		sources.Suggestions = append(sources.Suggestions, e.suggestion(KindSource, domain, total, &e, fmt.Sprintf(
			"%s is cited in %d answers; %s is named in %d of them, %s in %d.",
			domain, e.Answers, e.Rival.Name, e.RivalAnswers, brand.Name, e.BrandAnswers)))
	}
	sources.ByChance = tenth(sources.ByChance)
	return sources.ranked(
		Reason{KindSource, "no_competitors", len(rivals), 1},
		Reason{KindSource, "too_few_citing_prompts", largest, leastJudged})
}

// clustered returns the rate of counted answers, its standard deviation, as in answerscope_margin, and Student's t. The
// answers to a prompt are a cluster.
func clustered(
	rows []clickhouse.PromptNames, count func(clickhouse.PromptNames) int64,
) (rate, deviation, critical float64) {
	var answers, counted, spread float64
	for _, r := range rows {
		answers += float64(r.Answers)
		counted += float64(count(r))
	}
	rate = counted / answers
	for _, r := range rows {
		rest := float64(count(r)) - rate*float64(r.Answers)
		spread += rest * rest
	}
	k := float64(rows[0].Prompts)
	return rate, math.Sqrt(k/(k-1)*spread) / answers, rows[0].CriticalT
}

func intervalOf(rate, deviation, critical float64) Interval {
	return Interval{100 * max(0, rate-critical*deviation), 100 * min(1, rate+critical*deviation)}.rounded()
}

// readPages adds the pages of the suggested domains.
func (r Result) readPages(ctx context.Context, warehouse *clickhouse.Conn, filter clickhouse.ExportFilter) error {
	if len(r.Suggestions) == 0 {
		return nil
	}
	domains := clickhouse.DomainsFilter{ExportFilter: filter}
	for _, s := range r.Suggestions {
		domains.Domains = append(domains.Domains, s.Key)
	}
	pages, err := clickhouse.AdvicePages.All(ctx, warehouse, domains)
	for _, s := range r.Suggestions {
		e := s.Evidence.(*SourceEvidence)
		e.Judged, e.Pages = r.Judged, []PageRow{}
		products := 0
		for _, p := range pages {
			if p.Domain != s.Key {
				continue
			}
			row := PageRow{p.URL, quoted(p.Title), p.OnlyRivals, PageKind(p)}
			if row.Kind == "product" {
				products++
			}
			e.Category, e.Pages = p.SourceType, append(e.Pages, row)
		}
		if 2*products > len(e.Pages) {
			e.Category = "other"
		}
	}
	return err
}

// pageKinds are tried in this order on the path of a page, a blank, and its title, all in lower case.
var pageKinds = []struct {
	name    string
	matches *regexp.Regexp
}{
	{"home", regexp.MustCompile(`^ `)},
	{"product", regexp.MustCompile(`^\S*/(?:products?|dp|ip|p|shop)[/ ]`)},
	{"listicle", regexp.MustCompile(`\b(?:best|top|picks|roundup)\b|^\S* \d+ `)},
	{"comparison", regexp.MustCompile(`\b(?:vs|versus|alternatives?)\b`)},
	{"review", regexp.MustCompile(`\breviews?\b`)},
	{"howto", regexp.MustCompile(`\bhow[- ]to\b`)},
	{"category", regexp.MustCompile(`^\S*/(?:c|category|categories|collections?)[/ ]`)},
}

// PageKind classifies a page by English words.
func PageKind(p clickhouse.CitedPage) string {
	if p.SourceType == "forum" {
		return p.SourceType
	}
	path := ""
	if u, err := url.Parse(p.URL); err == nil {
		path = strings.TrimRight(u.EscapedPath(), "/")
	}
	text := strings.ReplaceAll(strings.ToLower(path+" "+p.Title), "best buy", "") // a shop
	for _, kind := range pageKinds {
		if kind.matches.MatchString(text) {
			return kind.name
		}
	}
	return "other"
}
