package platform

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
)

// Description describes a platform. It is data in the platform's file.
type Description struct {
	Slug        string // as in records, for example "openai"
	Name        string // for people, for example "OpenAI"
	NeedsKey    bool
	TakesRegion bool    // asks for the region of the question; the others ignore it
	Models      []Model // the first is the default; none: there is no choice, and a run names no model
	Limits      Limits
	Price       *Price // of an answer, where there is no choice of models; nil: unknown
}

// Model is a model that may be requested.
type Model struct {
	Slug    string      `json:"model"`
	Price   *Price      `json:"price"` // nil: unknown, which is not free
	Typical event.Usage `json:"-"`     // of one answer, for estimates
}

// Price is the price of a model, in decimal numbers as text; "" is free.
type Price struct {
	Currency               string `json:"currency"` // ISO 4217
	Date                   string `json:"date"`     // YYYY-MM-DD, the day of the platform's list
	PerMillionInputTokens  string `json:"per_million_input_tokens,omitempty"`
	PerMillionOutputTokens string `json:"per_million_output_tokens,omitempty"`
	PerThousandSearches    string `json:"per_thousand_searches,omitempty"`
	PerThousandRequests    string `json:"per_thousand_requests,omitempty"`
}

// Limits apply to one account at the platform; 0 is none. All processes of an installation share them.
type Limits struct {
	RequestsPerMinute int `json:"requests_per_minute"`
	TokensPerMinute   int `json:"tokens_per_minute"`
	InFlight          int `json:"in_flight"` // requests at one time
}

// String describes the limits to people.
func (l Limits) String() string {
	var text []string
	add := func(limit int, format string) {
		if limit > 0 {
			text = append(text, fmt.Sprintf(format, limit))
		}
	}
	add(l.RequestsPerMinute, "%d requests")
	add(l.TokensPerMinute, "%d tokens")
	if len(text) > 0 {
		text = []string{strings.Join(text, " and ") + " a minute"}
	}
	add(l.InFlight, "%d at a time")
	return cmp.Or(strings.Join(text, ", "), "none")
}

// Requested returns the model of a question: slug, or the default; "" where there is no choice.
func (d Description) Requested(slug string) string {
	if slug == "" && len(d.Models) > 0 {
		return d.Models[0].Slug
	}
	return slug
}

// Priced adds the cost of a model's answer by the list of prices, unless the platform has given it.
func (d Description) Priced(reply Reply, model string) Reply {
	i := slices.IndexFunc(d.Models, func(m Model) bool { return m.Slug == d.Requested(model) })
	if i < 0 || reply.Usage == nil || reply.Usage.CostUSD != "" {
		return reply
	}
	price := d.Models[i].Price
	if price == nil || price.Currency != "USD" {
		return reply
	}
	usage := *reply.Usage
	usage.CostUSD = price.Cost(usage)
	reply.Usage = &usage
	return reply
}

// Cost returns the cost of one answer, as a decimal number with at most 6 digits after the point.
func (p Price) Cost(usage event.Usage) string {
	sum := new(big.Rat)
	for _, part := range []struct {
		price  string
		n, per int64
	}{
		{p.PerMillionInputTokens, usage.InputTokens, 1_000_000},
		{p.PerMillionOutputTokens, usage.OutputTokens, 1_000_000},
		{p.PerThousandSearches, usage.Searches, 1000},
		{p.PerThousandRequests, 1, 1000},
	} {
		if price, ok := new(big.Rat).SetString(part.price); ok {
			sum.Add(sum, price.Mul(price, big.NewRat(part.n, part.per)))
		}
	}
	cost, _ := event.Decimal(sum.FloatString(9)) // of prices and counts of one answer it is a number
	return cost
}
