package naive

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Body is the body of a response, or a part of one.
type Body = map[string]any

// Traffic computes /api/v1/ai-traffic: the traffic of a brand that passes the days and platforms of f from the records
// in the order of the log. Of those with one id the first counts.
func Traffic(records []event.Visit, organization, brand uuid.UUID, f Filter) Body {
	known := map[[3]uuid.UUID]bool{}
	platforms, paths, countries, landings := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	visits, sessions := 0, 0
	var goals []event.Goal
	for _, v := range records {
		id, day := [3]uuid.UUID{v.OrganizationID, v.BrandID, v.ID}, v.At.String()[:len("2006-01-02")]
		first := !known[id]
		known[id] = true
		switch {
		case !first || v.OrganizationID != organization || v.BrandID != brand || day < f.From || day > f.To || !among(f.Platforms, v.Platform):
			continue
		case v.Event == event.VisitGoal:
			goals = append(goals, *v.Goal)
			continue
		}
		visits++
		platforms[v.Platform]++
		paths[v.Path]++
		countries[v.Country]++
		if v.NewSession {
			sessions++
			landings[v.Path]++
		}
	}
	list := goalRows(goals)
	return Body{
		"total_visits":       visits,
		"platform_breakdown": rows(platforms, len(platforms), func(name string, n int) Body { return Body{"platform": name, "visits": n} }),
		"top_pages":          rows(paths, 10, func(path string, n int) Body { return Body{"url": path, "visits": n} }),
		"country_breakdown":  rows(countries, len(countries), func(code string, n int) Body { return Body{"country": unlessEmpty(code), "visits": n} }),
		"sessions":           sessions,
		"goals":              list[:min(len(list), 100)],
		"total_goals":        len(list),
		"landing_pages":      rows(landings, 10, func(path string, n int) Body { return Body{"url": path, "sessions": n} }),
	}
}

// rows makes a row of each name, of the highest count first; of equal counts by name in code-point order.
func rows(counts map[string]int, most int, row func(name string, n int) Body) []Body {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	made := []Body{}
	for _, name := range names[:min(most, len(names))] {
		made = append(made, row(name, counts[name]))
	}
	return made
}

// goalRows has a row for each name and currency, of the most goals first, then by name and currency. The value is the
// exact sum.
func goalRows(goals []event.Goal) []Body {
	type key struct{ name, currency string }
	counts, worth := map[key]int{}, map[key]*big.Rat{}
	for _, g := range goals {
		k := key{g.Name, g.Currency}
		if counts[k]++; worth[k] == nil {
			worth[k] = new(big.Rat)
		}
		if value, ok := new(big.Rat).SetString(g.Value); ok {
			worth[k].Add(worth[k], value)
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a.name, b.name), strings.Compare(a.currency, b.currency))
	})
	made := []Body{}
	for _, k := range keys {
		value := strings.TrimSuffix(strings.TrimRight(worth[k].FloatString(6), "0"), ".")
		made = append(made, Body{"name": k.name, "count": counts[k], "value": json.Number(value), "currency": unlessEmpty(k.currency)})
	}
	return made
}

func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
