package platform

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/answerscope/answerscope/ingest/event"
)

// Description is what a platform declares of itself. It is data in the platform's package.
type Description struct {
	Slug        string // as in records, for example "openai"
	Name        string // for people, for example "OpenAI"
	NeedsKey    bool
	TakesRegion bool    // asks for the region of the question; the others ignore it
	Models      []Model // the first is the default; none: there is no choice, and a run names no model
	Limits      Limits
}

// Model is a model that may be requested.
type Model struct {
	Slug    string
	Price   *Price      // nil: unknown, which is not free
	Typical event.Usage // of one answer, for estimates
}

// Price is what a model costs, in decimal numbers as text; "" is nothing.
type Price struct {
	Currency               string // ISO 4217
	Date                   string // YYYY-MM-DD, the day on which the platform's list said so
	PerMillionInputTokens  string
	PerMillionOutputTokens string
	PerThousandSearches    string
	PerThousandRequests    string
}

// Limits are those of one account at the platform; 0 is none. All processes of an installation share them.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	InFlight          int // requests at one time
}

// String says the limits to people.
func (l Limits) String() string {
	if l.RequestsPerMinute == 0 {
		return "none"
	}
	tokens := ""
	if l.TokensPerMinute > 0 {
		tokens = fmt.Sprintf(" and %d tokens", l.TokensPerMinute)
	}
	return fmt.Sprintf("%d requests%s a minute, %d at a time", l.RequestsPerMinute, tokens, l.InFlight)
}

// Requested is the model of a question: slug, or the default; "" where there is no choice.
func (d Description) Requested(slug string) string {
	if slug == "" && len(d.Models) > 0 {
		return d.Models[0].Slug
	}
	return slug
}

// Priced adds what the answer of a model cost, by the list of prices, where the platform does not say it itself.
func (d Description) Priced(reply Reply, model string) Reply {
	i := slices.IndexFunc(d.Models, func(m Model) bool { return m.Slug == d.Requested(model) })
	if i < 0 || d.Models[i].Price == nil || reply.Usage == nil || reply.Usage.CostUSD != "" || d.Models[i].Price.Currency != "USD" {
		return reply
	}
	usage := *reply.Usage
	usage.CostUSD = d.Models[i].Price.Cost(usage)
	reply.Usage = &usage
	return reply
}

// Cost is what one answer costs, as a decimal number with at most 6 digits after the point.
func (p Price) Cost(of event.Usage) string {
	sum := new(big.Rat)
	for _, part := range []struct {
		price string
		n, of int64
	}{
		{p.PerMillionInputTokens, of.InputTokens, 1_000_000}, {p.PerMillionOutputTokens, of.OutputTokens, 1_000_000},
		{p.PerThousandSearches, of.Searches, 1000}, {p.PerThousandRequests, 1, 1000},
	} {
		if price, ok := new(big.Rat).SetString(part.price); ok {
			sum.Add(sum, price.Mul(price, big.NewRat(part.n, part.of)))
		}
	}
	cost, _ := event.Decimal(sum.FloatString(9)) // of prices and counts of one answer it is a number
	return cost
}
