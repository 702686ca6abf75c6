package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/queryapi/metrics"
)

// metricFlags select a figure of a brand.
type metricFlags struct {
	Brand  string `arg:"" help:"Slug of the brand."`
	Org    string `placeholder:"SLUG" help:"Whose brand (default: the only one's that has it)."`
	Metric string `default:"score" enum:"score,mention_rate,citation_rate" help:"{verdict_metric}"`
}

// question returns the API that answers about the figure, the caller, and the parameters that name it.
func (f metricFlags) question(
	ctx context.Context, on databases,
) (api *metrics.API, caller identity.Identity, params url.Values, err error) {
	brand, err := findAnyBrand(ctx, on.DB, f.Org, f.Brand)
	return metrics.New(metrics.Config{}, on.DB, on.Warehouse, time.Now),
		identity.Identity{OrganizationID: brand.OrganizationID},
		url.Values{"brand_id": {brand.ID.String()}, "metric": {f.Metric}}, err
}

// verdictCmd is the command verdict.
type verdictCmd struct {
	metricFlags
	By   []string `default:"platform" enum:"platform,topic,prompt,competitor" placeholder:"P" help:"{verdict_by}"`
	From string   `placeholder:"DAY" help:"First day of the window, UTC (default: of the 30 that end with --to)."`
	To   string   `placeholder:"DAY" help:"Last day (default: today)."`
	JSON bool     `name:"json" help:"One JSON document, the body of /api/v1/visibility-changes."`
}

func (c *verdictCmd) Run(ctx context.Context, p *process, on databases) error {
	if _, _, err := parseDays(c.From, c.To); err != nil {
		return usageError{err}
	}
	api, caller, params, err := c.question(ctx, on)
	if err != nil {
		return err
	}
	params.Set("group_by", strings.Join(c.By, ","))
	for name, day := range map[string]string{"date_from": c.From, "date_to": c.To} {
		if day != "" {
			params.Set(name, day)
		}
	}
	body, err := api.Changes(ctx, caller, params)
	if err != nil {
		return err
	}
	lines := []string{body.Brand.Name + ": " + changeText(body.Change)}
	for _, r := range body.Changes {
		name := r.Key
		if r.Name != nil {
			name = *r.Name
		}
		lines = append(lines, r.Dimension+" "+strings.ReplaceAll(name, "\n", " ")+": "+changeText(r.Change))
	}
	return p.printResult(c.JSON, body, strings.Join(lines, "\n"))
}

// changeText writes a verdict in words.
func changeText(c metrics.Change) string {
	words := strings.ReplaceAll(c.Verdict, "_", " ")
	switch c.Verdict {
	case verdict.MovedUp, verdict.MovedDown:
		day, _ := time.Parse(time.DateOnly, c.Since.Day) // ours
		words += " since " + day.Format("2 January 2006") + ", " + pointsText(c.Since.Difference, c.Since.Interval)
		if *c.Reach == verdict.ReachBrand {
			return words + ", the brand; e-value " + grouped(*c.EValue)
		}
		return words + ", these prompts; e-days " + grouped(*c.EDays)
	case verdict.WithinNoise:
		words += ", " + pointsText(*c.Difference, c.Interval)
		if c.Detectable == nil {
			return words + "; it moved, but among so many rows that may be chance"
		}
		return fmt.Sprintf("%s; a change of %.1f would be seen", words, *c.Detectable)
	case verdict.TooLittleData:
		return words + ": " + cmp.Or(map[string]string{
			verdict.NoRuns:     "no runs in the window, or none before it",
			verdict.FewDays:    fmt.Sprintf("%d days before and %d after, want 7 and 3", c.DaysBefore, c.DaysAfter),
			verdict.FewPrompts: fmt.Sprintf("%d prompts, want 5", c.Prompts),
			verdict.Coarse:     "a change of 20 points could be missed",
		}[*c.Reason], *c.Reason)
	}
	return fmt.Sprintf("%s (%s): over half of a window cannot be compared", words, *c.Reason)
}

func pointsText(difference float64, interval *metrics.ChangeBounds) string {
	text := fmt.Sprintf("%.1f points", difference)
	if interval != nil {
		text += fmt.Sprintf(" (%.1f to %.1f)", interval.Low, interval.High)
	}
	return strings.ReplaceAll(text, "-", "−")
}

// grouped writes an e-value with commas between thousands: 357,700.
func grouped(e float64) string {
	digits := strconv.FormatFloat(e, 'f', -1, 64)
	for i := strings.IndexByte(digits+".", '.') - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
