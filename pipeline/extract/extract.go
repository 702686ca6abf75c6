package extract

import "github.com/answerscope/answerscope/ingest/event"

// SentimentMethod names how Sentiment was found.
const SentimentMethod = "vader-en/govader-20250429"

// Read is the reader of version Version.
func Read(a *event.Answer) Reading {
	r := Reading{
		Brand:           EntityReading{ID: a.Brand.ID, Sentiment: Unknown},
		Competitors:     make([]EntityReading, len(a.Competitors)),
		SentimentMethod: SentimentMethod,
	}
	for i := range a.Competitors {
		r.Competitors[i] = EntityReading{ID: a.Competitors[i].ID, Sentiment: Unknown}
	}
	return r
}
