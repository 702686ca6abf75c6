package system

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// lamps are the brands of a captured file. Each has the next one as its competitor.
var lamps = []string{"Lumen", "Glow", "Solis", "Aurora", "Ember", "Halo", "Prism", "Candela", "Lantern", "Torch", "Wick", "Flare", "Gleam", "Spark"}

// brandsOf is a brands file with the first lamps.
func brandsOf(t *testing.T, count int) string {
	t.Helper()
	return written(t, "brands.json", []byte(lampsFile(t, count)))
}

// lampsFile is its text.
func lampsFile(t *testing.T, count int) string {
	t.Helper()
	type brand struct {
		Name        string   `json:"name"`
		Slug        string   `json:"slug,omitempty"`
		Domains     []string `json:"domains"`
		Competitors []brand  `json:"competitors,omitempty"`
	}
	entity := func(b int) brand { return brand{Name: lamps[b], Domains: []string{domainOf(b)}} }
	var file struct {
		Brands []brand `json:"brands"`
	}
	for b := range count {
		it := entity(b)
		it.Slug, it.Competitors = strings.ToLower(lamps[b]), []brand{entity(rivalOf(b))}
		file.Brands = append(file.Brands, it)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func domainOf(b int) string { return strings.ToLower(lamps[b]) + ".example" }
func rivalOf(b int) int     { return (b + 1) % len(lamps) }

// names says whether line n names a lamp, and cites whether it cites its page.
func names(n, b int) bool { return (n+b)%3 != 0 }
func cites(n, b int) bool { return n%len(lamps) == b }

// count is for how many of the first lines something holds of a lamp.
func count(lines, b int, holds func(n, b int) bool) (n uint64) {
	for line := range lines {
		if holds(line, b) {
			n++
		}
	}
	return n
}

// months are those of captured answers: each is a part of every table that an insert fills.
func months() int {
	if longRun() {
		return 6
	}
	return 2
}

// captured is a file of so many answers of a few KB each, which cite one page and show one product. Its months change
// every other line, so that a few lines are some parts for every table.
func captured(t *testing.T, lines int) string {
	t.Helper()
	return capturedFrom(t, 0, lines)
}

// capturedFrom is what such a file has from one line to another.
func capturedFrom(t *testing.T, from, to int) string {
	t.Helper()
	var file bytes.Buffer
	for n := from; n < to; n++ {
		at := time.Date(2026, time.Month(n/2%months()+1), n%28+1, 0, 0, n, 0, time.UTC)
		page := n % len(lamps)
		line, err := json.Marshal(map[string]any{
			"platform": "chatgpt-web", "model": fmt.Sprintf("m%d", n%3), "prompt": fmt.Sprintf("best lamp for room %d?", n%20),
			"topic": "lamps", "sample": n + 1, "answered_at": at.Format(time.RFC3339), "text": advice(n),
			"citations": []map[string]any{{"url": fmt.Sprintf("https://%s/%d", domainOf(page), n%30), "title": "Light"}},
			"products":  []map[string]any{{"title": "A light", "price_amount": "12.50", "price_currency": "EUR"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	return written(t, "answers.ndjson", file.Bytes())
}

// advice is the text of line n, always the same: it names its lamps once, among much that compresses badly.
func advice(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 0))
	var text strings.Builder
	for b, name := range lamps {
		if names(n, b) {
			fmt.Fprintf(&text, "%s is a fine one. ", name)
		}
	}
	for range 500 {
		fmt.Fprintf(&text, "%06x ", random.IntN(1<<24))
	}
	return text.String()
}

func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tableCheck is a question to one table, and what it is to find of a brand when so many lines have been counted once.
type tableCheck struct {
	sql  string // brand, number
	want func(lines, b int) uint64
}

func everyLine(lines, _ int) uint64  { return uint64(lines) }
func everyVisit(lines, _ int) uint64 { return uint64(lines) * visitsALine }
func everyCrawl(lines, _ int) uint64 { return uint64(lines) * crawlsALine }
func ownNames(lines, b int) uint64   { return count(lines, b, names) }
func ownPages(lines, b int) uint64   { return count(lines, b, cites) }
func rivalNames(lines, b int) uint64 { return count(lines, rivalOf(b), names) }
func rivalPages(lines, b int) uint64 { return count(lines, rivalOf(b), cites) }
func perBrand(what, from string) string {
	return "SELECT toString(brand_id), toUInt64(" + what + ") FROM " + from + " GROUP BY brand_id"
}

// tableChecks ask the landing table and the target of every view.
var tableChecks = slices.Concat(
	[]tableCheck{
		{perBrand("sum(sign)", "answers"), everyLine},
		{perBrand("uniqExact(id)", "answers"), everyLine},
		{perBrand("countIf(text != '')", "answers"), everyLine}, // first readings
		{perBrand("count()", "visits"), everyVisit},
		{perBrand("uniqExact(id)", "visits"), everyVisit},
		{perBrand("sum(visits)", "visit_daily"), everyVisit},
		{perBrand("count()", "crawls"), everyCrawl},
		{perBrand("uniqExact(id)", "crawls"), everyCrawl},
		{perBrand("sum(requests)", "crawl_daily"), everyCrawl},
		{perBrand("sum(sign)", "citations"), everyLine},
		{perBrand("uniqExact(answer_id)", "citations"), everyLine},
		{perBrand("sum(answers)", "citation_daily"), everyLine},
		{perBrand("sum(citations)", "citation_daily"), everyLine},
		{perBrand("sum(sign)", "shopping_cards"), everyLine},
		{perBrand("sum(mentions)", "entity_prompt_daily WHERE entity_id != brand_id"), rivalNames},
		{perBrand("sum(citations)", "entity_prompt_daily WHERE entity_id != brand_id"), rivalPages},
	},
	sums("answer_daily"), sums("entity_prompt_daily WHERE entity_id = brand_id"),
)

func sums(table string) []tableCheck {
	return []tableCheck{
		{perBrand("sum(runs)", table), everyLine},
		{perBrand("sum(answers)", table), everyLine},
		{perBrand("sum(mentions)", table), ownNames},
		{perBrand("sum(mention_answers)", table), ownNames},
		{perBrand("sum(citations)", table), ownPages},
	}
}
