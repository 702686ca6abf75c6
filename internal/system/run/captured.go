package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Lamps are the brands of a captured file. Each has the next one as its competitor.
var Lamps = []string{
	"Lumen", "Glow", "Solis", "Aurora", "Ember", "Halo", "Prism", "Candela", "Lantern", "Torch", "Wick", "Flare",
	"Gleam", "Spark",
}

// BrandsOf is a brands file with the first lamps.
func BrandsOf(t *testing.T, count int) string {
	t.Helper()
	return Written(t, "brands.json", []byte(LampsFile(t, count)))
}

// LampsFile is the text of a brands file with the first lamps.
func LampsFile(t *testing.T, count int) string {
	t.Helper()
	type brand struct {
		Name        string   `json:"name"`
		Slug        string   `json:"slug,omitempty"`
		Domains     []string `json:"domains"`
		Competitors []brand  `json:"competitors,omitempty"`
	}
	entity := func(b int) brand { return brand{Name: Lamps[b], Domains: []string{DomainOf(b)}} }
	var file struct {
		Brands []brand `json:"brands"`
	}
	for b := range count {
		it := entity(b)
		it.Slug, it.Competitors = strings.ToLower(Lamps[b]), []brand{entity(RivalOf(b))}
		file.Brands = append(file.Brands, it)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// DomainOf is the domain of a lamp.
func DomainOf(b int) string { return strings.ToLower(Lamps[b]) + ".example" }

// RivalOf is the competitor of a lamp.
func RivalOf(b int) int { return (b + 1) % len(Lamps) }

// Names reports whether line n names a lamp.
func Names(n, b int) bool { return (n+b)%3 != 0 }

// Cites reports whether line n cites the page of a lamp.
func Cites(n, b int) bool { return n%len(Lamps) == b }

// Count is for how many of the first lines something holds of a lamp.
func Count(lines, b int, holds func(n, b int) bool) (n uint64) {
	for line := range lines {
		if holds(line, b) {
			n++
		}
	}
	return n
}

// Months are those of captured answers: each is a part of every table that an insert fills.
func Months() int {
	if LongRun() {
		return 6
	}
	return 2
}

// Captured is a file of so many answers of a few KB each, which cite one page and show one product. Its months change
// every other line, so that a few lines are some parts for every table.
func Captured(t *testing.T, lines int) string {
	t.Helper()
	return CapturedFrom(t, 0, lines)
}

// CapturedFrom is what such a file has from one line to another.
func CapturedFrom(t *testing.T, from, to int) string {
	t.Helper()
	var file bytes.Buffer
	for n := from; n < to; n++ {
		at := time.Date(2026, time.Month(n/2%Months()+1), n%28+1, 0, 0, n, 0, time.UTC)
		page := n % len(Lamps)
		line, err := json.Marshal(map[string]any{
			"platform": "chatgpt-web", "model": fmt.Sprintf("m%d", n%3),
			"prompt": fmt.Sprintf("best lamp for room %d?", n%20),
			"topic":  "lamps", "sample": n + 1, "answered_at": at.Format(time.RFC3339), "text": advice(n),
			"citations": []map[string]any{{"url": fmt.Sprintf("https://%s/%d", DomainOf(page), n%30),
				"title": "Light"}},
			"products": []map[string]any{{"title": "A light", "price_amount": "12.50", "price_currency": "EUR"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	return Written(t, "answers.ndjson", file.Bytes())
}

// advice is the text of line n, always the same: it names its lamps once, among much that compresses badly.
func advice(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 0))
	var text strings.Builder
	for b, name := range Lamps {
		if Names(n, b) {
			fmt.Fprintf(&text, "%s is a fine one. ", name)
		}
	}
	for range 500 {
		fmt.Fprintf(&text, "%06x ", random.IntN(1<<24))
	}
	return text.String()
}

// OwnNames is how many of the first lines name a lamp.
func OwnNames(lines, b int) uint64 { return Count(lines, b, Names) }

// Window asks for every day of the file.
func Window(brand string) string {
	return "?brand_id=" + url.QueryEscape(brand) + "&date_from=2026-01-01&date_to=2026-06-30"
}

// Compared says what the comparison has of the mentions of lamp b, which is that brand, and those of its
// competitors, unless that is what the file has.
func Compared(t *testing.T, s *Server, key string, b int, brand string, lines int, competitors ...int) string {
	t.Helper()
	var got struct {
		Brand struct {
			Total uint64 `json:"total_mentions"`
		}
		Competitors []struct {
			Name  string
			Total uint64 `json:"total_mentions"`
		}
	}
	status, body := Fetch(t, s.URL+"/api/v1/competitor-comparison"+Window(brand), key)
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("comparison: %d %s, %v", status, body, err)
	}
	named := map[string]uint64{}
	for _, c := range got.Competitors {
		named[c.Name] = c.Total
	}
	right := got.Brand.Total == OwnNames(lines, b) && len(named) == len(competitors)
	for _, rival := range competitors {
		right = right && named[Lamps[rival]] == Count(lines, rival, Names)
	}
	if !right {
		return "the comparison is " + body
	}
	return ""
}
