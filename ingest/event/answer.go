package event

import "github.com/gofrs/uuid/v5"

// Version is what this build writes into v, and the newest that it reads.
const Version = 1

// Answer is how one run ended: a platform's answer to one prompt, or a run that was given up (GivenUp is set and Text,
// Citations, Products are empty). It has a snapshot of all that extract needs, so that the reading of an answer does
// not depend on when it is read.
type Answer struct {
	V              int       `json:"v"`
	ID             uuid.UUID `json:"id"` // RunID of the run's identity
	OrganizationID uuid.UUID `json:"organization_id"`
	Brand          Brand     `json:"brand"`
	Competitors    []Entity  `json:"competitors"`
	Prompt         Prompt    `json:"prompt"`

	Platform    string     `json:"platform"`               // slug, for example "openai"
	Model       string     `json:"model"`                  // requested slug, "" when the platform was not asked for one
	ServedModel string     `json:"served_model,omitempty"` // what the platform says answered
	Region      string     `json:"region"`                 // "" when none was asked for
	Language    string     `json:"language,omitempty"`
	Surface     Surface    `json:"surface,omitempty"`
	Sample      int64      `json:"sample"` // 1-based
	JobID       *uuid.UUID `json:"job_id,omitempty"`
	Simulated   bool       `json:"simulated,omitempty"` // no platform was asked

	AnsweredAt Time   `json:"answered_at"` // for a given-up run: when it was given up
	LatencyMS  int64  `json:"latency_ms,omitempty"`
	Attempts   int    `json:"attempts,omitempty"`
	Finish     Finish `json:"finish,omitempty"`
	Text       string `json:"text,omitempty"`

	Citations     []Citation `json:"citations,omitempty"` // as returned, in order
	SearchQueries []string   `json:"search_queries,omitempty"`
	Products      []Product  `json:"products,omitempty"`
	Usage         *Usage     `json:"usage,omitempty"`

	GivenUp *GivenUp `json:"given_up,omitempty"`
	Reread  *Reread  `json:"reread,omitempty"`
}

// Entity is a brand or competitor: any of its names and aliases mentions it, a citation under any of its domains is its
// own.
type Entity struct {
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name"`
	Aliases []string  `json:"aliases,omitempty"`
	Domains []string  `json:"domains,omitempty"` // hosts: lower case, punycode
}

// Brand is the entity that the answer is read for. Revision rises with every edit of its names, aliases, domains or
// competitors.
type Brand struct {
	Entity
	Revision int64 `json:"revision"`
}

// Prompt is what was asked, with the prompt set and topic of that time. IsBranded nil leaves it to extract to decide
// whether Text names the brand.
type Prompt struct {
	ID        uuid.UUID  `json:"id"`
	Text      string     `json:"text"`
	SetID     uuid.UUID  `json:"set_id"`
	TopicID   *uuid.UUID `json:"topic_id,omitempty"`
	IsBranded *bool      `json:"is_branded,omitempty"`
}

// Citation is a URL of the answer. Cited says that the answer cites it; false, that the platform only consulted it.
type Citation struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Cited bool   `json:"cited"`
}

// Product is one shopping card as the platform showed it. PriceAmount is a decimal number as text, so that no cent is
// lost to floating point.
type Product struct {
	Title         string  `json:"title"`
	Position      int     `json:"position,omitempty"` // 1-based; 0: the order of the list
	Brand         string  `json:"brand,omitempty"`
	PriceAmount   string  `json:"price_amount,omitempty"`
	PriceCurrency string  `json:"price_currency,omitempty"` // ISO 4217
	URL           string  `json:"url,omitempty"`
	ImageURL      string  `json:"image_url,omitempty"`
	Rating        float64 `json:"rating,omitempty"`
	ReviewCount   int64   `json:"review_count,omitempty"`
}

// Usage is what the run consumed. CostUSD is a decimal number as text.
type Usage struct {
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	Searches     int64  `json:"searches,omitempty"`
	CostUSD      string `json:"cost_usd,omitempty"`
}

// GivenUp says why a run has no answer.
type GivenUp struct {
	Class string `json:"class"` // rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered, changed_shape
	Error string `json:"error,omitempty"`
}

// Reread marks a kept answer that is appended again with the brand's present names. A reader older than
// MinExtractVersion leaves it to a newer one.
type Reread struct {
	MinExtractVersion int `json:"min_extract_version"`
}

// Surface is where an answer was taken: from the platform's API, or as its consumers see it. Figures can be separated
// by it.
type Surface string

// The surfaces.
const (
	SurfaceAPI      Surface = "api"
	SurfaceConsumer Surface = "consumer"
)

// Finish is how an answer's text ended.
type Finish string

// The finish states.
const (
	FinishComplete  Finish = "complete"
	FinishTruncated Finish = "truncated"
	FinishFiltered  Finish = "content_filtered"
)
