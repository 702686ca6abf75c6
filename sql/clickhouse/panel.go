package clickhouse

import "time"

// PanelFilter selects the answers of a panel in inclusive UTC days.
type PanelFilter struct {
	OrganizationID UUID `ch:"organization"`
	BrandID        UUID `ch:"brand"`
	DateFrom       Day  `ch:"date_from"`
	DateTo         Day  `ch:"date_to"`
}

// PanelDays returns a row for each platform, requested model, served model, prompt and day with runs.
var PanelDays = query[PanelFilter, PanelDay]("panel_days")

// PanelDay sums the features of the answers to a prompt on a day: each feature is 0 to 100 points an answer.
type PanelDay struct {
	Platform    string    `ch:"platform"`
	Model       string    `ch:"model"`        // requested
	ServedModel string    `ch:"served_model"` // with its provider; "": unknown, or given up
	PromptID    UUID      `ch:"prompt_id"`
	Day         time.Time `ch:"day"`
	Runs        int64     `ch:"runs"`
	GivenUp     int64     `ch:"given_up"`
	Answers     int64     `ch:"answers"`

	Names     float64 `ch:"names"`     // share of the ten control names
	Citations float64 `ch:"citations"` // 5 points each, at most 20 count
	Length    float64 `ch:"length"`    // 1 point for 60 characters, at most 6000 count
	Cites     float64 `ch:"cites"`     // 100 if any page is cited
}
