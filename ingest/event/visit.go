package event

import "github.com/gofrs/uuid/v5"

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
	PlatformBy     string    `json:"platform_by,omitempty"` // how it is known: referrer, utm, parameter, referrer_utm, session
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
