package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	usualSpendingDays = 30
	maxSpendingDays   = 731
)

// spendingBody is what a brand's tracking has cost and will cost, in US dollars.
type spendingBody struct {
	Currency string               `json:"currency"`
	DateFrom string               `json:"date_from"`
	DateTo   string               `json:"date_to"`
	Days     []spendingDay        `json:"days"`
	Cost     json.Number          `json:"cost"` // of the days
	Month    spendingMonth        `json:"month"`
	Forecast tracking.Forecast    `json:"forecast"`
	Budget   postgres.BudgetUsage `json:"budget"` // the organization's, for all platforms together
}

type spendingDay struct {
	Date     string      `json:"date"`
	Platform string      `json:"platform"`
	Runs     int64       `json:"runs"`
	NotShown int64       `json:"not_shown"` // seen without an answer
	GivenUp  int64       `json:"given_up"`
	Cost     json.Number `json:"cost"`
}

// spendingMonth is the present month, in UTC.
type spendingMonth struct {
	DateFrom string      `json:"date_from"`
	Cost     json.Number `json:"cost"`
}

// spending shows the cost of a brand's jobs by day and platform, and of what its schedule will start.
func (s *Server) spending(c *fiber.Ctx) error {
	now := s.now().UTC()
	from, to, err := spendingWindow(c, now)
	if err != nil {
		return err
	}
	id, err := parseBrandID("brand_id", c.Query("brand_id"))
	if err != nil {
		return err
	}
	brand, err := s.findBrand(c, id)
	if err != nil {
		return err
	}
	ctx, organization := c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID
	month := now.AddDate(0, 0, 1-now.Day())
	rows, err := s.db.TrackingSpending(ctx, organization, from, to, brand.ID)
	if err != nil {
		return err
	}
	monthRows, err := s.db.TrackingSpending(ctx, organization, month, now, brand.ID)
	if err != nil {
		return err
	}
	forecast, err := s.jobs.Forecast(ctx, brand, now)
	if err != nil {
		return err
	}
	budgets, err := s.db.BudgetUsage(ctx, organization, now)
	if err != nil {
		return err
	}
	body := spendingBody{
		Currency: "USD", DateFrom: from.Format(time.DateOnly), DateTo: to.Format(time.DateOnly), Days: []spendingDay{},
		Cost: json.Number(postgres.TotalCost(rows)), Month: spendingMonth{
			month.Format(time.DateOnly), json.Number(postgres.TotalCost(monthRows))},
		Forecast: forecast, Budget: budgets[0],
	}
	for _, r := range rows {
		body.Days = append(body.Days,
			spendingDay{r.Day.Format(time.DateOnly), r.Platform, r.Runs, r.NotShown, r.GivenUp, json.Number(r.Cost)})
	}
	return c.JSON(body)
}

// spendingWindow reads the days; without them it is the 30 days that end with date_to, or today.
func spendingWindow(c *fiber.Ctx, now time.Time) (from, to time.Time, err error) {
	if to, err = dayQuery(c, "date_to", now.Truncate(24*time.Hour)); err != nil {
		return from, to, err
	}
	if from, err = dayQuery(c, "date_from", to.AddDate(0, 0, 1-usualSpendingDays)); err != nil {
		return from, to, err
	}
	if days := int(to.Sub(from).Hours()/24) + 1; days < 1 || days > maxSpendingDays {
		return from, to, problem.New(problem.Invalid,
			"date_from: want a day at most %d days before date_to, %s, got %s",
			maxSpendingDays-1, to.Format(time.DateOnly), from.Format(time.DateOnly))
	}
	return from, to, nil
}

func dayQuery(c *fiber.Ctx, name string, fallback time.Time) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return fallback, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, problem.New(problem.Invalid, "%s: want a day of the calendar as YYYY-MM-DD, got %.60q", name, text)
	}
	return day, nil
}

// platforms shows how far a job is on each platform.
func (s *Server) platforms(c *fiber.Ctx) error {
	j, err := s.findJob(c)
	if err != nil {
		return err
	}
	rows, err := s.db.TrackingProgress(
		c.UserContext(), identity.FromContext(c.UserContext()).OrganizationID, j.ID, s.now())
	if err != nil {
		return err
	}
	body := struct {
		Platforms     []postgres.PlatformProgress `json:"platforms"`
		RatePerMinute *float64                    `json:"rate_per_minute"` // null until 20 runs have ended
		MinutesLeft   *int                        `json:"minutes_left"`
	}{Platforms: rows}
	if len(rows) > 0 {
		body.RatePerMinute, body.MinutesLeft = rows[0].RatePerMinute, rows[0].MinutesLeft
	}
	return c.JSON(body)
}
