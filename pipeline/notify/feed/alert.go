// Package feed has the data of events: the shapes of what /rest/v1/events lists, webhooks post and mails show.
package feed

import (
	"time"

	"github.com/gofrs/uuid/v5"
)

// The types of events that are mailed.
const (
	VisibilityMoved   = "visibility.moved"
	PlatformDegraded  = "platform.degraded"
	PlatformRecovered = "platform.recovered"
	TrackingSkipped   = "tracking.skipped"
	EndpointDisabled  = "webhook_endpoint.disabled"
	ReportWeekly      = "report.weekly"
)

// A Brand is named by every event about one.
type Brand struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Slug string    `json:"slug"`
}

// Days are UTC days, both included: 2026-11-09.
type Days struct {
	From string `json:"date_from"`
	To   string `json:"date_to"`
}

// A Figure is the share of answers that name somebody, in percent, with its 95 % interval.
type Figure struct {
	Rate *float64 `json:"rate"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	N    int64    `json:"n"` // answers
}

// A Judged figure stands beside an earlier one, with the verdict on both.
type Judged struct {
	Figure
	From    Figure `json:"from"`
	Verdict string `json:"verdict"` // of internal/verdict, or its Recovered
	Reach   string `json:"reach"`   // of a move: brand or prompts; else ""
	Reason  string `json:"reason"`  // why there is no verdict; else ""
	Since   string `json:"since"`   // the day of a move; else ""
}

// Moved is the data of visibility.moved.
type Moved struct {
	Brand  Brand  `json:"brand"`
	Day    string `json:"day"`
	Window Days   `json:"window"`
	Before Days   `json:"before"`
	Moves  []Move `json:"moves"`
	More   int    `json:"more"` // moves beyond the first 20

	Simulated bool `json:"simulated"` // the simulator made answers of the window or of the days before
}

// A Move has the figures of all answers, or of one platform.
type Move struct {
	Platform *string `json:"platform"`
	Judged
}

// Degraded is the data of platform.degraded, a job in which the platform gave up over 20 % of its runs, and of
// platform.recovered, which ends that.
type Degraded struct {
	IsOver   bool             `json:"-"` // it is platform.recovered's
	Platform string           `json:"platform"`
	Brands   []Brand          `json:"brands"`
	JobID    uuid.UUID        `json:"job_id"`
	Runs     int64            `json:"runs"`
	GaveUp   map[string]int64 `json:"gave_up"` // by class of error
	Since    time.Time        `json:"since"`
}

// Skipped is the data of tracking.skipped: slots of a brand that were not asked.
type Skipped struct {
	Brand     Brand      `json:"brand"`
	Reason    string     `json:"reason"` // budget, no_prompts or no_key
	Platforms []string   `json:"platforms"`
	Until     *time.Time `json:"until"` // when a budget allows more
}

// Disabled is the data of webhook_endpoint.disabled.
type Disabled struct {
	Endpoint struct {
		ID     uuid.UUID `json:"id"`
		Host   string    `json:"host"`
		Reason string    `json:"reason"` // gone or failing
	} `json:"endpoint"`
}
