package naive

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Crawlers computes /api/v1/ai-crawlers: the crawls of a brand that pass the days and platforms of f from the records
// in the order of the log. Of those with one id the first counts. Without a granularity there are no buckets.
func Crawlers(records []event.Crawl, organization, brand uuid.UUID, f Filter, granularity string) Body {
	type crawler struct{ name, operator, platform, purpose string }
	type requests struct {
		all, verified, unverified int
		bytes                     int64
	}
	known, crawlers := map[[3]uuid.UUID]bool{}, map[crawler]requests{}
	purposes, statuses, paths := map[string]int{}, map[string]int{}, map[string]int{}
	var counted []event.Crawl
	var total requests
	for _, c := range records {
		id, day := [3]uuid.UUID{c.OrganizationID, c.BrandID, c.ID}, c.At.String()[:len("2006-01-02")]
		first := !known[id]
		known[id] = true
		if !first || c.OrganizationID != organization || c.BrandID != brand || day < f.From || day > f.To || !among(f.Platforms, c.Platform) {
			continue
		}
		which := crawler{c.Crawler, c.Operator, c.Platform, string(c.Purpose)}
		of := crawlers[which]
		for _, r := range []*requests{&of, &total} {
			r.all++
			r.bytes += c.Bytes
			if c.Verified != nil && *c.Verified {
				r.verified++
			}
			if c.Verified != nil && !*c.Verified {
				r.unverified++
			}
		}
		crawlers[which] = of
		counted = append(counted, c)
		purposes[string(c.Purpose)]++
		statuses[strconv.Itoa(c.Status)]++
		paths[spelled(c.Path)]++
	}
	order := slices.SortedFunc(maps.Keys(crawlers), func(a, b crawler) int {
		return cmp.Or(crawlers[b].all-crawlers[a].all, strings.Compare(a.name, b.name), strings.Compare(a.operator, b.operator),
			strings.Compare(a.platform, b.platform), strings.Compare(a.purpose, b.purpose))
	})
	breakdown := []Body{}
	for _, c := range order {
		of := crawlers[c]
		breakdown = append(breakdown, Body{
			"crawler": c.name, "operator": unlessEmpty(c.operator), "platform": unlessEmpty(c.platform), "purpose": c.purpose,
			"requests": of.all, "verified_requests": of.verified, "unverified_requests": of.unverified,
		})
	}
	return Body{
		"buckets":        crawlBuckets(counted, granularity),
		"total_requests": total.all, "verified_requests": total.verified, "unverified_requests": total.unverified, "total_bytes": total.bytes,
		"crawler_breakdown": breakdown,
		"purpose_breakdown": rows(purposes, len(purposes), func(purpose string, n int) Body { return Body{"purpose": purpose, "requests": n} }),
		"status_breakdown": rows(statuses, len(statuses), func(text string, n int) Body {
			if status, _ := strconv.Atoi(text); status != 0 {
				return Body{"status": status, "requests": n}
			}
			return Body{"status": nil, "requests": n}
		}),
		"top_pages": rows(paths, 10, func(path string, n int) Body { return Body{"url": path, "requests": n} }),
	}
}

// crawlBuckets computes the buckets by date and purpose; nil without a granularity.
func crawlBuckets(crawls []event.Crawl, granularity string) []Body {
	if granularity == "" {
		return nil
	}
	type bucket struct{ date, purpose string }
	buckets := map[bucket]*struct{ requests, verified, unverified, errors int }{}
	for _, c := range crawls {
		key := bucket{bucketAt(c.At.UTC(), granularity), string(c.Purpose)}
		if buckets[key] == nil {
			buckets[key] = &struct{ requests, verified, unverified, errors int }{}
		}
		b := buckets[key]
		b.requests++
		switch {
		case c.Verified == nil:
		case *c.Verified:
			b.verified++
		default:
			b.unverified++
		}
		if c.Status >= 400 {
			b.errors++
		}
	}
	series := []Body{}
	for _, key := range slices.SortedFunc(maps.Keys(buckets), func(a, b bucket) int {
		return cmp.Or(strings.Compare(a.date, b.date), strings.Compare(a.purpose, b.purpose))
	}) {
		b := buckets[key]
		series = append(series, Body{
			"date": key.date, "purpose": key.purpose, "requests": b.requests,
			"verified_requests": b.verified, "unverified_requests": b.unverified,
			"unchecked_requests": b.requests - b.verified - b.unverified, "errors": b.errors,
		})
	}
	return series
}
