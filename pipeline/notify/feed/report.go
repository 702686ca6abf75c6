package feed

import "github.com/gofrs/uuid/v5"

// A Report is the data of report.weekly: a brand's ISO week of UTC days. Its figures are rounded as in /api/v1;
// null is a figure without data. As JSON it has at most 20,000 bytes and 20 rows a list, as every event.
type Report struct {
	Brand       Brand        `json:"brand"`
	Week        string       `json:"week"`      // 2026-W46
	Window      Days         `json:"window"`    // Monday to Sunday
	Before      Days         `json:"before"`    // the days that the verdicts compare with
	Answers     int64        `json:"answers"`   // 0: the rest is empty but for Overviews, Failures and Visits
	Simulated   bool         `json:"simulated"` // the simulator made answers of the week or of the days before
	Overall     Judged       `json:"overall"`
	Platforms   []Row        `json:"platforms"`
	Moves       []Row        `json:"moves"`        // that moved: platforms, topics, competitors
	More        int          `json:"more"`         // moves beyond those
	NotCompared []Row        `json:"not_compared"` // with any other verdict but within_noise
	Competitors []Competitor `json:"competitors"`  // at most 5, the highest rate first
	NewSources  []Source     `json:"new_sources"`  // at most 5, most answers first; not cited in the 4 weeks before
	Overviews   []Overview   `json:"overviews"`    // of platforms that did not always show one
	Failures    Failures     `json:"failures"`
	Visits      *Visits      `json:"visits"`              // null without a pixel
	Truncated   bool         `json:"truncated,omitempty"` // it was too long: its lists are empty
}

// A Row is a part of the brand's answers, or a competitor, with its verdict.
type Row struct {
	Dimension string `json:"dimension"` // platform, topic or competitor
	Key       string `json:"key"`       // slug of a platform, else an id
	Name      string `json:"name"`
	Judged
}

// A Competitor is how often answers name one.
type Competitor struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Figure
}

// A Source is a cited domain.
type Source struct {
	Domain  string `json:"domain"`
	Answers int64  `json:"answers"`
}

// An Overview is how often a platform showed its overview.
type Overview struct {
	Platform string   `json:"platform"`
	Shown    int64    `json:"shown"`
	Captures int64    `json:"captures"`
	Low      *float64 `json:"low"` // 95 % interval of the share, in percent
	High     *float64 `json:"high"`
}

// Failures are the runs that brought no answer.
type Failures struct {
	GaveUp   []GaveUp  `json:"gave_up"`
	Degraded []Outage  `json:"degraded"` // platforms that gave up over 20 % of a day's runs
	Skipped  []Skipped `json:"skipped"`
}

// A GaveUp counts runs that were given up for one class of error.
type GaveUp struct {
	Platform string `json:"platform"`
	Class    string `json:"class"`
	Runs     int64  `json:"runs"`
}

// An Outage lists a platform's degraded days.
type Outage struct {
	Platform string   `json:"platform"`
	Days     []string `json:"days"`
}

// Visits counts what AI platforms sent.
type Visits struct {
	Visits int64 `json:"visits"`
	Before int64 `json:"before"` // in the week before
}
