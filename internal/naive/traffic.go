package naive

import (
	"cmp"
	"encoding/json"
	"math/big"
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
	Sessions          int               `json:"sessions"`
	Goals             []GoalTraffic     `json:"goals"`
	LandingPages      []LandingTraffic  `json:"landing_pages"`
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

// GoalTraffic is how often a goal was reached, and the exact sum of what it was
// worth in one currency; nil is none that was told.
type GoalTraffic struct {
	Name     string      `json:"name"`
	Count    int         `json:"count"`
	Value    json.Number `json:"value"`
	Currency *string     `json:"currency"`
}

// LandingTraffic is the sessions that began on one path, on whatever host.
type LandingTraffic struct {
	URL      string `json:"url"`
	Sessions int    `json:"sessions"`
}

// Traffic computes the traffic of a brand between two inclusive days from the
// records in the order in which they were told. Of those with one id the first
// counts.
func Traffic(told []event.Visit, organization, brand uuid.UUID, from, to string) TrafficBody {
	known := map[[3]uuid.UUID]bool{}
	platforms, paths, countries, landings := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	body := TrafficBody{PlatformBreakdown: []PlatformTraffic{}, TopPages: []PageTraffic{}, CountryBreakdown: []CountryTraffic{}, LandingPages: []LandingTraffic{}}
	var goals []event.Goal
	for _, v := range told {
		id, day := [3]uuid.UUID{v.OrganizationID, v.BrandID, v.ID}, v.At.String()[:len("2006-01-02")]
		first := !known[id]
		known[id] = true
		switch {
		case !first || v.OrganizationID != organization || v.BrandID != brand || day < from || day > to:
			continue
		case v.Event == event.VisitGoal:
			goals = append(goals, *v.Goal)
			continue
		}
		body.TotalVisits++
		platforms[v.Platform]++
		paths[v.Path]++
		countries[v.Country]++
		if v.NewSession {
			body.Sessions++
			landings[v.Path]++
		}
	}
	for _, name := range byVisits(platforms) {
		body.PlatformBreakdown = append(body.PlatformBreakdown, PlatformTraffic{name, platforms[name]})
	}
	for _, path := range topTen(paths) {
		body.TopPages = append(body.TopPages, PageTraffic{path, paths[path]})
	}
	for _, code := range byVisits(countries) {
		body.CountryBreakdown = append(body.CountryBreakdown, CountryTraffic{unlessEmpty(code), countries[code]})
	}
	for _, page := range topTen(landings) {
		body.LandingPages = append(body.LandingPages, LandingTraffic{page, landings[page]})
	}
	body.Goals = goalTraffic(goals)
	return body
}

// goalTraffic has a row for each name and currency, that of the most goals first,
// then by name and currency: a hundred at most.
func goalTraffic(goals []event.Goal) []GoalTraffic {
	rows := []GoalTraffic{}
	slices.SortStableFunc(goals, func(a, b event.Goal) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Currency, b.Currency))
	})
	for len(goals) > 0 {
		row, worth := GoalTraffic{Name: goals[0].Name, Currency: unlessEmpty(goals[0].Currency)}, new(big.Rat)
		currency := goals[0].Currency
		for len(goals) > 0 && goals[0].Name == row.Name && goals[0].Currency == currency {
			if value, ok := new(big.Rat).SetString(goals[0].Value); ok {
				worth.Add(worth, value)
			}
			row.Count++
			goals = goals[1:]
		}
		row.Value = json.Number(strings.TrimSuffix(strings.TrimRight(worth.FloatString(6), "0"), "."))
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b GoalTraffic) int { return cmp.Compare(b.Count, a.Count) })
	return rows[:min(len(rows), 100)]
}

func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func topTen(visits map[string]int) []string {
	names := byVisits(visits)
	return names[:min(10, len(names))]
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
