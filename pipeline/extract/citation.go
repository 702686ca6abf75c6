package extract

import (
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// owners are the entities by domain, the brand 0, ascending.
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

// citationsOf reads the URLs of an answer, each once, and counts those that are cited: all, and by entity those under
// its own domains.
func citationsOf(a *event.Answer) (citations []CitationReading, cited uint32, own []uint32) {
	own = make([]uint32, 1+len(a.Competitors))
	if len(a.Citations) == 0 {
		return nil, 0, own
	}
	citations = make([]CitationReading, 0, len(a.Citations))
	index := make(map[string]int, len(a.Citations))
	for i := range a.Citations {
		given := &a.Citations[i]
		url, host, ok := normalise(given.URL)
		if !ok {
			continue
		}
		at, known := index[url]
		if !known {
			at = len(citations)
			index[url] = at
			citations = append(citations, CitationReading{URL: url, Host: host})
		}
		c := &citations[at]
		c.Cited = c.Cited || given.Cited
		if c.Title == "" {
			c.Title = given.Title
		}
	}
	owned := ownersOf(&a.Brand.Entity, a.Competitors)
	counted := make([]int, len(own)) // the last citation counted for each entity, 1-based
	for i := range citations {
		c := &citations[i]
		c.Domain = registrable(c.Host)
		c.Listed = sourceType(c.Host)
		for suffix := range suffixes(c.Host) {
			for _, entity := range owned[suffix] {
				if c.Cited && counted[entity] != i+1 {
					counted[entity] = i + 1
					own[entity]++
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
	return citations, cited, own
}
