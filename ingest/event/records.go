package event

import "github.com/gofrs/uuid/v5"

// Version is written into v by this build, and the newest version that it reads.
const Version = 1

// Answer is how one run ended: a platform's answer to one prompt, a surface without an answer (Finish is
// FinishNotShown), or a run that was given up (GivenUp is set). Text, Citations and Products of the latter two are
// empty. It has a snapshot of all that extract needs, so that the reading of an answer does not depend on when it is
// read.
type Answer struct {
	V              int       `json:"v"`
	ID             uuid.UUID `json:"id"` // RunID of the run's identity
	OrganizationID uuid.UUID `json:"organization_id"`
	Brand          Brand     `json:"brand"`
	Competitors    []Entity  `json:"competitors"`
	Prompt         Prompt    `json:"prompt"`

	Platform    string     `json:"platform"`               // slug, for example "openai"
	Model       string     `json:"model"`                  // requested slug, "" when the platform was not asked for one
	ServedModel string     `json:"served_model,omitempty"` // the model that answered, as the platform names it
	Provider    string     `json:"provider,omitempty"`     // slug of who captured the surface, "" for an API
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

// Prompt is the question of a run, with its prompt set and topic at that time. IsBranded nil leaves it to extract to
// decide whether Text names the brand.
type Prompt struct {
	ID        uuid.UUID  `json:"id"`
	Text      string     `json:"text"`
	SetID     uuid.UUID  `json:"set_id"`
	TopicID   *uuid.UUID `json:"topic_id,omitempty"`
	IsBranded *bool      `json:"is_branded,omitempty"`
}

// Citation is a URL of the answer. Cited is true where the answer cites it, and false where the platform only consulted
// it.
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
	Merchant      string  `json:"merchant,omitempty"`       // its name; the host of URL is its domain
	URL           string  `json:"url,omitempty"`
	ImageURL      string  `json:"image_url,omitempty"`
	Rating        float64 `json:"rating,omitempty"`
	ReviewCount   int64   `json:"review_count,omitempty"`
}

// Usage is the consumption of a run. CostUSD is a decimal number as text.
type Usage struct {
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	Searches     int64  `json:"searches,omitempty"`
	CostUSD      string `json:"cost_usd,omitempty"`
}

// GivenUp is the reason why a run has no answer.
type GivenUp struct {
	Class string `json:"class"` // error class
	Error string `json:"error,omitempty"`
}

// Classes are the error classes of a given-up run.
var Classes = []string{
	"rate_limited", "quota", "auth", "invalid", "unavailable", "timeout", "content_filtered", "changed_shape",
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

// Finish is how an answer's text ended. Not shown is an observation of its own, neither an answer nor a failure: the
// surface was seen, and had none.
type Finish string

// The finish states.
const (
	FinishComplete  Finish = "complete"
	FinishTruncated Finish = "truncated"
	FinishFiltered  Finish = "content_filtered"
	FinishNotShown  Finish = "not_shown"
)

// Visit is a beacon that the collector accepted. Its ID is a UUIDv7 made at acceptance. The visitor's address is in no
// field.
type Visit struct {
	V              int       `json:"v"`
	ID             uuid.UUID `json:"id"`
	OrganizationID uuid.UUID `json:"organization_id"`
	BrandID        uuid.UUID `json:"brand_id"`
	At             Time      `json:"at"`
	Event          VisitKind `json:"event"`
	Platform       string    `json:"platform"`              // slug of the AI platform that sent the visit
	PlatformBy     string    `json:"platform_by,omitempty"` // evidence: referrer, utm, parameter, referrer_utm, session
	Host           string    `json:"host"`
	Path           string    `json:"path"`
	ReferrerHost   string    `json:"referrer_host,omitempty"`
	Country        string    `json:"country,omitempty"`    // ISO 3166-1 alpha-2, "" unknown
	CountryBy      string    `json:"country_by,omitempty"` // database, header, time_zone
	Language       string    `json:"language,omitempty"`
	Screen         string    `json:"screen,omitempty"` // "1920x1080"
	TimeZone       string    `json:"time_zone,omitempty"`
	Session        string    `json:"session,omitempty"`     // random, per tab
	NewSession     bool      `json:"new_session,omitempty"` // first view of Session
	Visitor        uint64    `json:"visitor,omitempty"`     // salted hash that cannot be followed beyond its day
	Goal           *Goal     `json:"goal,omitempty"`        // set when Event is VisitGoal
	Simulated      bool      `json:"simulated,omitempty"`
}

// Goal is a conversion. Value is a decimal number as text, in Currency.
type Goal struct {
	Name     string `json:"name"`
	Value    string `json:"value,omitempty"`
	Currency string `json:"currency,omitempty"` // ISO 4217
}

// VisitKind separates page views from goals.
type VisitKind string

// The kinds of visit.
const (
	VisitView VisitKind = "view"
	VisitGoal VisitKind = "goal"
)

// Crawl is a request of an AI crawler for a page of a brand's site, read from an access log. The requester's address is
// in no field.
type Crawl struct {
	V              int       `json:"v"`
	ID             uuid.UUID `json:"id"`
	OrganizationID uuid.UUID `json:"organization_id"`
	BrandID        uuid.UUID `json:"brand_id"`
	At             Time      `json:"at"`
	Crawler        string    `json:"crawler"`            // name of the crawler: "GPTBot"
	Operator       string    `json:"operator,omitempty"` // the company behind it: "OpenAI"
	Platform       string    `json:"platform,omitempty"` // slug of the AI platform that it crawls for
	Purpose        Purpose   `json:"purpose"`
	Host           string    `json:"host"`
	Path           string    `json:"path"`
	Status         int       `json:"status"`             // of the response, as HTTP has it
	Bytes          int64     `json:"bytes"`              // of the response's body
	Verified       *bool     `json:"verified,omitempty"` // from an address that the operator published; null: unknown
	Simulated      bool      `json:"simulated,omitempty"`
}

// Purpose is the use that an AI crawler fetches a page for.
type Purpose string

// The purposes of crawls.
const (
	PurposeTraining Purpose = "training" // to learn from it
	PurposeSearch   Purpose = "search"   // to index it for later answers
	PurposeUser     Purpose = "user"     // because a person asked for it just now
)
