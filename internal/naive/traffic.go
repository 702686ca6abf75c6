package naive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// TrafficBody is the body of /api/v1/ai-traffic.
type TrafficBody struct {
	TotalVisits       int               `json:"total_visits"`
	PlatformBreakdown []PlatformTraffic `json:"platform_breakdown"`
	TopPages          []PageTraffic     `json:"top_pages"`
	CountryBreakdown  []CountryTraffic  `json:"country_breakdown"`
}

// PlatformTraffic is the visits that one platform sent.
type PlatformTraffic struct {
	Platform string `json:"platform"`
	Visits   int    `json:"visits"`
}

// PageTraffic is the visits of one path, on whatever host.
type PageTraffic struct {
	URL    string `json:"url"`
	Visits int    `json:"visits"`
}

// CountryTraffic is the visits from one country; nil is unknown.
type CountryTraffic struct {
	Country *string `json:"country"`
	Visits  int     `json:"visits"`
}

// Traffic computes the traffic of a brand between two inclusive days from the
// records in the order in which they were told. Of those with one id the first
// counts.
func Traffic(told []event.Visit, organization, brand uuid.UUID, from, to string) TrafficBody {
	known := map[[3]uuid.UUID]bool{}
	platforms, paths, countries := map[string]int{}, map[string]int{}, map[string]int{}
	body := TrafficBody{PlatformBreakdown: []PlatformTraffic{}, TopPages: []PageTraffic{}, CountryBreakdown: []CountryTraffic{}}
	for _, v := range told {
		id, day := [3]uuid.UUID{v.OrganizationID, v.BrandID, v.ID}, v.At.String()[:len("2006-01-02")]
		first := !known[id]
		known[id] = true
		if !first || v.OrganizationID != organization || v.BrandID != brand || v.Event != event.VisitView || day < from || day > to {
			continue
		}
		body.TotalVisits++
		platforms[v.Platform]++
		paths[v.Path]++
		countries[v.Country]++
	}
	for _, name := range byVisits(platforms) {
		body.PlatformBreakdown = append(body.PlatformBreakdown, PlatformTraffic{name, platforms[name]})
	}
	for _, path := range byVisits(paths) {
		if len(body.TopPages) < 10 {
			body.TopPages = append(body.TopPages, PageTraffic{path, paths[path]})
		}
	}
	for _, code := range byVisits(countries) {
		c := CountryTraffic{Visits: countries[code]}
		if code != "" {
			c.Country = &code
		}
		body.CountryBreakdown = append(body.CountryBreakdown, c)
	}
	return body
}

// byVisits orders names by their visits, the most first; those with as many by
// name in code-point order, which is that of UTF-8.
func byVisits(visits map[string]int) []string {
	var names []string
	for name := range visits {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(visits[b], visits[a]), strings.Compare(a, b))
	})
	return names
}
