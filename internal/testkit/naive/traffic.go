package naive

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Body is the body of a response, or a part of one.
type Body = map[string]any

// Traffic computes /api/v1/ai-traffic: the traffic of a brand that passes the days and platforms of f from the records
// in the order of the log. Of those with one id the first counts. Without a granularity there are no buckets, without
// compare no comparison.
func Traffic(records []event.Visit, organization, brand uuid.UUID, f Filter, granularity string, compare bool) Body {
	body := traffic(records, organization, brand, f)
	body["buckets"], body["comparison"] = nil, nil
	if granularity != "" {
		body["buckets"] = trafficBuckets(records, organization, brand, f, granularity)
	}
	if compare {
		before := f.before()
		earlier := traffic(records, organization, brand, before)
		change := func(name string) Body {
			return Body{"before": earlier[name], "difference": body[name].(int) - earlier[name].(int)}
		}
		body["comparison"] = Body{
			"window": Body{"date_from": before.From, "date_to": before.To},
			"visits": change("total_visits"), "sessions": change("sessions"), "goals": change("reached"), "buckets": nil,
		}
		if granularity != "" {
			body["comparison"].(Body)["buckets"] = trafficTotals(records, organization, brand, before, granularity)
		}
	}
	delete(body, "reached")
	return body
}

// before is the same filter over as many days before.
func (f Filter) before() Filter {
	from, to := parseDay(f.From), parseDay(f.To)
	f.From, f.To = from.Add(from.Sub(to)).AddDate(0, 0, -1).Format(time.DateOnly), from.AddDate(0, 0, -1).Format(time.DateOnly)
	return f
}

func parseDay(text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return day
}

// days are those of the window, by bucket.
func (f Filter) days(granularity string) map[string][]string {
	days := map[string][]string{}
	for day := parseDay(f.From); !day.After(parseDay(f.To)); day = day.AddDate(0, 0, 1) {
		bucket := bucketAt(day, granularity)
		days[bucket] = append(days[bucket], day.Format(time.DateOnly))
	}
	return days
}

// trafficTotals computes the traffic of every bucket over all platforms, as if it were all.
func trafficTotals(records []event.Visit, organization, brand uuid.UUID, f Filter, granularity string) []Body {
	days, totals := f.days(granularity), []Body{}
	for _, date := range slices.Sorted(maps.Keys(days)) {
		f.From, f.To = days[date][0], days[date][len(days[date])-1]
		all := traffic(records, organization, brand, f)
		totals = append(totals, Body{
			"date": date, "visits": all["total_visits"], "sessions": all["sessions"], "goals": all["reached"],
			"values": goalValues(all["goals"].([]Body)),
		})
	}
	return totals
}

// trafficBuckets computes the traffic of each bucket by platform, as if it were all.
func trafficBuckets(records []event.Visit, organization, brand uuid.UUID, f Filter, granularity string) []Body {
	days, platforms := f.days(granularity), map[string]bool{}
	for _, v := range records {
		platforms[v.Platform] = platforms[v.Platform] || among(f.Platforms, v.Platform)
	}
	buckets := []Body{}
	for _, date := range slices.Sorted(maps.Keys(days)) {
		for _, platform := range slices.Sorted(maps.Keys(platforms)) {
			first, last := days[date][0], days[date][len(days[date])-1]
			all := traffic(records, organization, brand, Filter{From: first, To: last, Platforms: []string{platform}})
			if !platforms[platform] || all["total_visits"].(int)+all["reached"].(int) == 0 {
				continue
			}
			buckets = append(buckets, Body{
				"date": date, "platform": platform, "visits": all["total_visits"], "sessions": all["sessions"],
				"goals": all["reached"], "values": goalValues(all["goals"].([]Body)),
			})
		}
	}
	return buckets
}

// goalValues sums the values of goals by currency, and leaves out sums of 0.
func goalValues(goals []Body) []Body {
	sums := map[string]*big.Rat{}
	for _, g := range goals {
		currency := ""
		if text := g["currency"].(*string); text != nil {
			currency = *text
		}
		value, _ := new(big.Rat).SetString(g["value"].(json.Number).String())
		sums[currency] = new(big.Rat).Add(cmp.Or(sums[currency], new(big.Rat)), value)
	}
	values := []Body{}
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if sums[currency].Sign() != 0 {
			values = append(values, Body{"currency": unlessEmpty(currency), "value": decimalText(sums[currency])})
		}
	}
	return values
}

func decimalText(r *big.Rat) json.Number {
	return json.Number(strings.TrimSuffix(strings.TrimRight(r.FloatString(6), "0"), "."))
}

// traffic computes the body without buckets and comparison; "reached" is how many goals were.
func traffic(records []event.Visit, organization, brand uuid.UUID, f Filter) Body {
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
		paths[spelled(v.Path)]++
		countries[v.Country]++
		if v.NewSession {
			sessions++
			landings[spelled(v.Path)]++
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
		"reached":            len(goals),
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
		made = append(made, Body{"name": k.name, "count": counts[k], "value": decimalText(worth[k]), "currency": unlessEmpty(k.currency)})
	}
	return made
}

func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
