package extract

import (
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// owners has the entities by domain, in ascending order; the brand is 0.
type owners map[string][]int

func ownersOf(brand *event.Entity, competitors []event.Entity) owners {
	o := owners{}
	o.add(0, brand)
	for i := range competitors {
		o.add(1+i, &competitors[i])
	}
	return o
}

func (o owners) add(entity int, e *event.Entity) {
	for _, domain := range e.Domains {
		if host := asciiHost(ownDomain(domain)); host != "" {
			o[host] = append(o[host], entity)
		}
	}
}

// citationsOf reads the URLs of an answer, each once, and counts the cited ones: all, and for each entity the URLs
// under its domains.
func citationsOf(
	a *event.Answer, sourceOf func(*event.Citation) source,
) (citations []CitationReading, cited uint32, byEntity []uint32) {
	byEntity = make([]uint32, 1+len(a.Competitors))
	if len(a.Citations) == 0 {
		return nil, 0, byEntity
	}
	citations = make([]CitationReading, 0, len(a.Citations))
	index := make(map[string]int, len(a.Citations))
	for i := range a.Citations {
		raw := &a.Citations[i]
		page := sourceOf(raw)
		if page.host == "" {
			continue
		}
		at, seen := index[page.url]
		if !seen {
			at = len(citations)
			index[page.url] = at
			citations = append(citations, CitationReading{URL: page.url, Host: page.host})
		}
		c := &citations[at]
		c.Cited = c.Cited || page.cited
		if c.Title == "" {
			c.Title = raw.Title
		}
	}
	owned := ownersOf(&a.Brand.Entity, a.Competitors)
	counted := make([]int, len(byEntity)) // the last citation counted for each entity, 1-based
	for i := range citations {
		c := &citations[i]
		c.Domain = registrable(c.Host)
		c.Listed = sourceType(c.Host)
		for suffix := range suffixes(c.Host) {
			for _, entity := range owned[suffix] {
				if c.Cited && counted[entity] != i+1 {
					counted[entity] = i + 1
					byEntity[entity]++
				}
				if entity == 0 {
					c.Owned = true
				} else if c.CompetitorID == uuid.Nil {
					c.CompetitorID = a.Competitors[entity-1].ID
				}
			}
		}
		if c.Cited {
			cited++
		}
	}
	return citations, cited, byEntity
}
