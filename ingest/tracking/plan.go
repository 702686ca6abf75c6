package tracking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Request is what is to be asked. What is empty is the prompt's, and what that leaves empty the brand's.
type Request struct {
	Platforms []string    `json:"platforms,omitempty"`
	Models    []string    `json:"models,omitempty"`
	PromptIDs []uuid.UUID `json:"promptIds,omitempty"`
	Regions   []string    `json:"regions,omitempty"` // countries in lower case, or ""
	Samples   int         `json:"samples,omitempty"`
}

// MaxSamples of a prompt are asked at one time.
const MaxSamples = 10

// maxRuns is how many a job may have: it is held in memory.
const maxRuns = 50_000

// Plan is what a request comes to.
type Plan struct {
	Runs    []postgres.NewRun
	Refused []Refusal // platforms that are left out

	prompts []postgres.NewRunPrompt
	texts   []string            // of the prompts, each with its id
	prices  map[target]*big.Rat // of one run; nil: not known
	index   map[question]int    // of a run in Runs
}

// Refusal is a platform that cannot be asked, with the reason.
type Refusal struct {
	Platform string `json:"platform"`
	Reason   string `json:"reason"`
}

// target is where prompts are asked.
type target struct{ platform, model string }

// question is what a run asks.
type question struct {
	prompt uuid.UUID
	target
	region string
	sample int
}

// place is a platform of a plan, with its slot.
type place struct {
	Platform
	models []string // "" is the platform's default; empty: the same
	slot   time.Time
}

// Plan says what a request asks for a brand at an instant, its slot. What is wrong with the request is a problem.
func (j *Jobs) Plan(ctx context.Context, brand postgres.Brand, r Request, now time.Time) (*Plan, error) {
	return j.plan(ctx, brand, r, nil, now)
}

func newPlan() *Plan { return &Plan{prices: map[target]*big.Rat{}, index: map[question]int{}} }

// plan plans each run once. due are the places of a schedule, each with its slot; nil: those of the request, now.
func (j *Jobs) plan(ctx context.Context, brand postgres.Brand, r Request, due []Due, now time.Time) (*Plan, error) {
	known, err := j.known(ctx, brand.OrganizationID)
	if err != nil {
		return nil, err
	}
	places, err := j.places(ctx, brand, r, due, known, now)
	if err != nil {
		return nil, err
	}
	if err := checkModels(r.Models, places); err != nil {
		return nil, err
	}
	budgets, err := j.DB.Budgets(ctx, brand.OrganizationID)
	if err != nil {
		return nil, err
	}
	prompts, err := j.DB.PromptsToAsk(ctx, brand.ID, r.PromptIDs)
	if err != nil {
		return nil, err
	}
	p := newPlan()
	for _, at := range places {
		if at.Unavailable != "" {
			p.refuse(at.Slug, at.Unavailable)
			continue
		}
		limited := slices.ContainsFunc(budgets, func(b postgres.Budget) bool { return b.LimitsCost() && (b.Platform == "" || b.Platform == at.Slug) })
		for _, prompt := range prompts {
			p.add(brand, r, at, prompt, limited)
		}
	}
	if len(p.Runs) > maxRuns {
		return nil, problem.New(problem.Invalid, "the request comes to more than %d runs: name fewer promptIds, platforms, models, regions or samples", maxRuns)
	}
	for _, prompt := range prompts {
		text, err := json.Marshal(answer.Prompt(prompt.Prompt))
		if err != nil {
			return nil, fmt.Errorf("encode prompt %s: %w", prompt.ID, err)
		}
		p.prompts = append(p.prompts, postgres.NewRunPrompt{PromptID: prompt.ID, Prompt: text})
		p.texts = append(p.texts, prompt.ID.String()+" "+prompt.Text)
	}
	return p, nil
}

// places are the platforms that are asked, with their models.
func (j *Jobs) places(ctx context.Context, brand postgres.Brand, r Request, due []Due, known []Platform, now time.Time) ([]place, error) {
	bySlug := map[string]Platform{}
	var slugs []string
	for _, k := range known {
		bySlug[k.Slug] = k
		slugs = append(slugs, k.Slug)
	}
	if due == nil {
		var err error
		if due, err = j.wanted(ctx, brand, r, known, now); err != nil {
			return nil, err
		}
	}
	var places []place
	for _, d := range due {
		k, ok := bySlug[d.Platform]
		if !ok {
			return nil, problem.New(problem.Unprocessable, "platform %.60q is unknown: want one of %s", d.Platform, strings.Join(slugs, ", "))
		}
		i := slices.IndexFunc(places, func(p place) bool { return p.Slug == d.Platform && p.slot.Equal(d.Slot) })
		if i < 0 {
			places = append(places, place{Platform: k, slot: d.Slot})
			i = len(places) - 1
		}
		places[i].models = append(places[i].models, d.Model)
	}
	return places, nil
}

// wanted are the platforms of a request: its own, else the brand's, else all that the organization has keys of.
func (j *Jobs) wanted(ctx context.Context, brand postgres.Brand, r Request, known []Platform, now time.Time) (wanted []Due, err error) {
	for _, slug := range r.Platforms {
		wanted = append(wanted, Due{Platform: slug, Slot: now})
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	rows, err := j.DB.BrandPlatforms(ctx, brand.ID)
	for _, row := range rows {
		wanted = append(wanted, Due{Platform: row.Platform, Model: row.Model, Slot: now})
	}
	if err != nil || len(wanted) > 0 {
		return wanted, err
	}
	for _, k := range known {
		if k.NeedsKey && k.Unavailable == "" {
			wanted = append(wanted, Due{Platform: k.Slug, Slot: now})
		}
	}
	return wanted, nil
}

// checkModels says which of the models no platform lists.
func checkModels(models []string, places []place) error {
	var listed []string
	choice := true
	for _, at := range places {
		choice = choice && len(at.Models) > 0
		for _, m := range at.Models {
			listed = append(listed, m.Slug)
		}
	}
	for _, m := range models {
		if !slices.Contains(listed, m) && (choice || len(listed) > 0) {
			slices.Sort(listed)
			return problem.New(problem.Unprocessable, "model %.100q is of no platform that is asked: want some of %s", m, strings.Join(slices.Compact(listed), ", "))
		}
	}
	return nil
}

// add adds the runs of a prompt at a place. limited: what has no known price is refused.
func (p *Plan) add(brand postgres.Brand, r Request, at place, prompt postgres.PromptToAsk, limited bool) {
	if len(p.Runs) > maxRuns || len(r.Platforms) == 0 && len(prompt.Platforms) > 0 && !slices.Contains(prompt.Platforms, at.Slug) {
		return
	}
	regions := first(r.Regions, countries(prompt.Regions), countries([]string{brand.Region}))
	if !at.TakesRegion { // it would be asked, and paid, the same for each
		regions = []string{""}
	}
	samples := cmp.Or(r.Samples, prompt.Samples, 1)
	for _, model := range at.modelsOf(first(r.Models, prompt.Models)) {
		price, known := p.prices[target{at.Slug, model}]
		if !known {
			price = estimateOf(at.Description, model)
			p.prices[target{at.Slug, model}] = price
		}
		if price == nil && limited {
			p.refuse(at.Slug, fmt.Sprintf("the price of model %q is not known, and the organization has a budget of cost", model))
			continue
		}
		var estimate *string
		if price != nil {
			text := decimal(price)
			estimate = &text
		}
		for _, region := range regions {
			for sample := 1; sample <= samples && len(p.Runs) <= maxRuns; sample++ { // one more run says that there are more
				p.addRun(postgres.NewRun{
					PromptID: prompt.ID, Platform: at.Slug, Model: model, Region: region, Sample: sample, Slot: at.slot, Estimate: estimate,
					AnswerID: event.RunID(event.Identity{
						BrandID: brand.ID, PromptText: prompt.Text, Platform: at.Slug, Model: model, Region: region, Sample: int64(sample), Due: at.slot,
					}),
				})
			}
		}
	}
}

// addRun adds a run, unless its question is there. Of one that two schedules of a brand ask at once, the later slot is
// kept: it is the shorter schedule's.
func (p *Plan) addRun(r postgres.NewRun) {
	asks := question{r.PromptID, target{r.Platform, r.Model}, r.Region, r.Sample}
	i, has := p.index[asks]
	switch {
	case !has:
		p.index[asks] = len(p.Runs)
		p.Runs = append(p.Runs, r)
	case r.Slot.After(p.Runs[i].Slot):
		p.Runs[i] = r
	}
}

// estimateOf is what an answer of a model typically costs; nil: its price is not known.
func estimateOf(d platform.Description, model string) *big.Rat {
	i := slices.IndexFunc(d.Models, func(m platform.Model) bool { return m.Slug == d.Requested(model) })
	if i < 0 || d.Models[i].Price == nil || d.Models[i].Price.Currency != "USD" {
		return nil
	}
	cost, ok := new(big.Rat).SetString(d.Models[i].Price.Cost(d.Models[i].Typical))
	if !ok {
		return nil
	}
	return cost
}

// decimal is an amount as tables have it.
func decimal(r *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(9), "0"), ".")
}

func (p *Plan) refuse(slug, reason string) {
	if refusal := (Refusal{slug, reason}); !slices.Contains(p.Refused, refusal) {
		p.Refused = append(p.Refused, refusal)
	}
}

// modelsOf are the models asked at a place: those of asked that the platform lists, or the place's own.
func (at place) modelsOf(asked []string) []string {
	if len(at.Models) == 0 {
		return []string{""}
	}
	var models []string
	for _, m := range at.Models {
		if slices.Contains(asked, m.Slug) {
			models = append(models, m.Slug)
		}
	}
	if len(asked) > 0 {
		return models
	}
	for _, m := range at.models {
		m = cmp.Or(m, at.Models[0].Slug)
		if !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	return models
}

// first is the first list that has something.
func first(lists ...[]string) []string {
	for _, list := range lists {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// digest is the same of plans that ask the same.
func (p *Plan) digest() []byte {
	lines := slices.Clone(p.texts) // a prompt that was edited meanwhile asks something else
	for _, r := range p.Runs {
		lines = append(lines, fmt.Sprintf("%s %q %q %q %d", r.PromptID, r.Platform, r.Model, r.Region, r.Sample))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return sum[:]
}

// Estimate is what a plan would cost.
type Estimate struct {
	Runs       int        `json:"runs"`
	Cost       *Cost      `json:"cost"` // null: a price is not known
	ByPlatform []PartCost `json:"byPlatform"`
	Refused    []Refusal  `json:"refused"`
}

// PartCost is the cost of a platform and model.
type PartCost struct {
	Platform string `json:"platform"`
	Model    string `json:"model"`
	Runs     int    `json:"runs"`
	Cost     *Cost  `json:"cost"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

// Estimate adds up the plan.
func (p *Plan) Estimate() Estimate {
	e := Estimate{Runs: len(p.Runs), ByPlatform: []PartCost{}, Refused: append([]Refusal{}, p.Refused...)}
	counts := map[target]int{}
	var order []target
	for _, r := range p.Runs {
		of := target{r.Platform, r.Model}
		if counts[of]++; counts[of] == 1 {
			order = append(order, of)
		}
	}
	sum, known := new(big.Rat), true
	for _, of := range order {
		part := PartCost{Platform: of.platform, Model: of.model, Runs: counts[of]}
		if price := p.prices[of]; price != nil {
			cost := new(big.Rat).Mul(price, big.NewRat(int64(counts[of]), 1))
			part.Cost = costOf(cost)
			sum.Add(sum, cost)
		} else {
			known = false
		}
		e.ByPlatform = append(e.ByPlatform, part)
	}
	if known {
		e.Cost = costOf(sum)
	}
	return e
}

func costOf(r *big.Rat) *Cost { return &Cost{json.Number(decimal(r)), "USD"} }
