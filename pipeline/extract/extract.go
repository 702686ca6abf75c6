// Package extract reads an answer: the entities that it names, how often and in which order, its citations and their
// source types, its tone, and the products that it shows. It is pure: the same record and version always give the same
// reading.
package extract

import (
	"slices"

	"github.com/answerscope/answerscope/ingest/event"
)

// Read is the reader of version Version. It takes time linear in the answer.
func Read(a *event.Answer) Reading { return current.read(a) }

func (r *rules) read(a *event.Answer) Reading {
	tracked := r.namesOf(&a.Brand.Entity, a.Competitors)
	entities := entitiesOf(a, tracked)
	reading := Reading{
		Branded:         branded(&a.Prompt, tracked),
		Cards:           cardsOf(a, tracked, r.source),
		SentimentMethod: SentimentMethod,
	}
	citations, cited, byEntity := citationsOf(a, r.source)
	reading.Citations = citations
	for i := range entities {
		e := &entities[i]
		e.Citations = byEntity[i]
		e.VisibilityScore = visibilityScore(e, cited, i == 0)
	}
	reading.Brand, reading.Competitors = entities[0], entities[1:]
	return reading
}

// branded reports whether the prompt is about the brand: by its field, else by whether its text names the brand.
func branded(p *event.Prompt, tracked *names) bool {
	if p.IsBranded != nil {
		return *p.IsBranded
	}
	return tracked.named(p.Text, 0)
}

// entitiesOf reads the text: the brand first, then the competitors, without their citations and scores.
func entitiesOf(a *event.Answer, tracked *names) []EntityReading {
	entities := make([]EntityReading, tracked.entities)
	text := tracked.prose(a.Text)
	english := isEnglish(a.Language, text)
	p := tracked.passageOf(text, english)
	cut := sentences{all: p.sentences}

	tones := make([]tone, len(entities))
	counted := make([]int, len(entities)) // the last sentence counted for each entity, 1-based
	firsts := make([]int, len(entities))  // where its first mention starts
	tracked.mentions(&p, func(entity, at, _ int, is kind) {
		if is != counts {
			return
		}
		if entities[entity].Mentions == 0 {
			firsts[entity] = at
		}
		entities[entity].Mentions++
		if !english {
			return
		}
		if n := 1 + cut.moveTo(at); n != counted[entity] {
			counted[entity] = n
			tones[entity].sum += cut.currentCompound()
			tones[entity].sentences++
		}
	})
	for i := range entities {
		entities[i].ID = a.Brand.ID
		if i > 0 {
			entities[i].ID = a.Competitors[i-1].ID
		}
		entities[i].Sentiment = tones[i].sentiment()
	}
	setPositions(entities, firsts)
	return entities
}

// setPositions ranks the named entities by their first mention: 1 + the number of entities that start earlier, so
// entities that start together share a position.
func setPositions(entities []EntityReading, firsts []int) {
	var starts []int
	for i := range entities {
		if entities[i].Mentions > 0 {
			starts = append(starts, firsts[i])
		}
	}
	slices.Sort(starts)
	for i := range entities {
		if entities[i].Mentions > 0 {
			earlier, _ := slices.BinarySearch(starts, firsts[i])
			entities[i].Position = uint32(1 + earlier)
		}
	}
}

// visibilityScore is an intensity, 0..100: up to 40 for mentions, 30 for citations of the entity's domains, 15 for
// their share of all citations, rounded half away from zero, and 15 for tone; a competitor's tone counts as neutral.
func visibilityScore(e *EntityReading, cited uint32, brand bool) uint8 {
	score := min(10*uint64(e.Mentions), 40) + min(15*uint64(e.Citations), 30)
	if all := uint64(cited); all > 0 {
		score += (2*15*uint64(e.Citations) + all) / (2 * all)
	}
	switch {
	case brand && e.Sentiment == Positive:
		score += 15
	case brand && e.Sentiment == Neutral, !brand && e.Mentions > 0:
		score += 7
	}
	return uint8(score)
}
