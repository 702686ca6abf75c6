package tracking

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/text/language"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Request selects what a job asks. An empty field takes the prompt's value, and where that is empty, too, the brand's.
type Request struct {
	Platforms []string    `json:"platforms,omitempty"`
	Models    []string    `json:"models,omitempty"`
	PromptIDs []uuid.UUID `json:"promptIds,omitempty"`
	Regions   []string    `json:"regions,omitempty"` // countries in lower case, or ""
	Samples   int         `json:"samples,omitempty"`
}

// MaxSamples limits how often a job asks a prompt on one model.
const MaxSamples = 10

// IsRegion reports whether a region is "" or the code of a country (ISO 3166-1) in lower case.
func IsRegion(region string) bool { return region == country(region) }

// country returns the code of a country in lower case, "" for any other text. Britain's is gb, also of uk.
func country(text string) string {
	parsed, err := language.ParseRegion(text)
	if err != nil || len(text) != 2 || !parsed.IsCountry() {
		return ""
	}
	return strings.ToLower(parsed.Canonicalize().String())
}

// countries returns the country of each region, once.
func countries(regions []string) []string {
	var list []string
	for _, region := range regions {
		if c := country(strings.TrimSpace(region)); !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// requestedTargets returns the platforms of the request, else the brand's, else all APIs with a key. Surfaces have to
// be named: one key of a capture provider opens many.
func (j *Jobs) requestedTargets(ctx context.Context, d *Draft, platforms []Platform) (targets []Target, err error) {
	for _, slug := range d.request.Platforms {
		targets = append(targets, Target{Platform: slug, Slot: d.createdAt})
	}
	if len(targets) > 0 {
		return targets, nil
	}
	rows, err := j.DB.TrackedPlatforms(ctx, d.brand.ID)
	for _, row := range rows {
		if row.IsEnabled {
			targets = append(targets, Target{row.Platform, row.Model, d.createdAt})
		}
	}
	if err != nil || len(targets) > 0 {
		return targets, err
	}
	for _, p := range platforms {
		if p.NeedsKey && p.Unavailable == "" && !isSurface(p.Slug) {
			targets = append(targets, Target{Platform: p.Slug, Slot: d.createdAt})
		}
	}
	return targets, nil
}

// checkTargets refuses unknown platforms, and models that no target's platform lists.
func checkTargets(targets []Target, models []string, platforms []Platform) error {
	var available []string
	for _, target := range targets {
		p, ok := findPlatform(platforms, target.Platform)
		if !ok {
			return problem.New(problem.Unprocessable, "platform %.60q is unknown: want one of %s",
				target.Platform, catalog.Slugs())
		}
		for _, m := range p.Models {
			available = append(available, m.Slug)
		}
	}
	if len(available) == 0 && len(targets) > 0 {
		return nil // there is no choice of models
	}
	slices.Sort(available)
	for _, model := range models {
		if !slices.Contains(available, model) {
			return problem.New(problem.Unprocessable, "model %.100q is on no platform of the request: want some of %s",
				model, strings.Join(slices.Compact(available), ", "))
		}
	}
	return nil
}

func firstNonEmpty(lists ...[]string) []string {
	for _, list := range lists {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// Estimate is the expected cost of a draft.
type Estimate struct {
	Runs       int                `json:"runs"`
	Cost       *Cost              `json:"cost"` // null: a price is not known
	ByPlatform []PlatformEstimate `json:"byPlatform"`
	Refused    []Refusal          `json:"refused"`

	sum *big.Rat // exact, nil without Cost
}

// PlatformEstimate is the expected cost of a platform and model.
type PlatformEstimate struct {
	Platform string `json:"platform"`
	Model    string `json:"model"`
	Runs     int    `json:"runs"`
	Cost     *Cost  `json:"cost"`

	costPerRun *string
}

// Cost is an amount of money.
type Cost struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

// Estimate adds up the draft's runs.
func (d *Draft) Estimate() Estimate {
	e := Estimate{Runs: len(d.Runs), ByPlatform: []PlatformEstimate{}, Refused: append([]Refusal{}, d.Refused...)}
	for _, r := range d.Runs {
		i := slices.IndexFunc(e.ByPlatform, func(p PlatformEstimate) bool {
			return p.Platform == r.Platform && p.Model == r.Model
		})
		if i < 0 {
			i = len(e.ByPlatform)
			e.ByPlatform = append(e.ByPlatform, PlatformEstimate{r.Platform, r.Model, 0, nil, r.Estimate})
		}
		e.ByPlatform[i].Runs++
	}
	sum, complete := new(big.Rat), true
	for i := range e.ByPlatform {
		p := &e.ByPlatform[i]
		if p.costPerRun == nil {
			complete = false
			continue
		}
		cost := decimal(*p.costPerRun)
		cost.Mul(cost, big.NewRat(int64(p.Runs), 1))
		p.Cost = dollars(cost)
		sum.Add(sum, cost)
	}
	if complete {
		e.Cost, e.sum = dollars(sum), sum
	}
	return e
}

func dollars(r *big.Rat) *Cost { return &Cost{json.Number(postgres.Decimal(r)), "USD"} }

// typicalCost returns the cost of a model's typical answer in US dollars; nil where its price is not known.
func typicalCost(d platform.Description, model string) *string {
	if len(d.Models) == 0 && d.Price != nil {
		d.Models = []platform.Model{{Price: d.Price}}
	}
	i := slices.IndexFunc(d.Models, func(m platform.Model) bool { return m.Slug == d.Requested(model) })
	if i < 0 || d.Models[i].Price == nil || d.Models[i].Price.Currency != "USD" {
		return nil
	}
	cost, ok := new(big.Rat).SetString(d.Models[i].Price.Cost(d.Models[i].Typical))
	if !ok {
		return nil
	}
	return new(postgres.Decimal(cost))
}

// CheckBudget refuses a wrong budget, and brings its costs into the form that is stored.
func CheckBudget(b *postgres.Budget) error {
	if _, ok := catalog.Find(b.Platform); b.Platform != "" && !ok {
		return problem.New(problem.Invalid, "platform %.60q: want one of %s, or none for all together",
			b.Platform, catalog.Slugs())
	}
	for period, runs := range map[string]*int64{"a day": b.RunsPerDay, "a month": b.RunsPerMonth} {
		if runs != nil && *runs < 0 {
			return problem.New(problem.Invalid, "runs %s: want 0 or more, got %d", period, *runs)
		}
	}
	for period, cost := range map[string]*string{"a day": b.CostPerDay, "a month": b.CostPerMonth} {
		if cost == nil {
			continue
		}
		amount, ok := event.Decimal(*cost)
		if !ok || amount[0] == '-' {
			return problem.New(problem.Invalid, "cost %s: want an amount of US dollars such as 2.50, got %.60q",
				period, *cost)
		}
		*cost = amount
	}
	return nil
}
