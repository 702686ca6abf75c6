package tracking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/riverqueue/river"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Caller starts a job.
type Caller struct {
	UserID         *uuid.UUID // nil: a schedule, or the command line
	IdempotencyKey string     // "": none
}

// Start starts a job and returns its id. Where a running job has the same runs, or the idempotency key began a job
// within a day, it returns the id of that one. A wrong request is a problem or a *postgres.BudgetError.
func (j *Jobs) Start(ctx context.Context, brand postgres.Brand, r Request, by Caller) (uuid.UUID, error) {
	if !brand.IsActive {
		return uuid.Nil, problem.New(problem.Conflict, "brand %s is inactive: make it active first", brand.Slug)
	}
	if by.IdempotencyKey != "" {
		id, err := j.DB.TrackingByKey(ctx, brand.OrganizationID, by.IdempotencyKey)
		if !errors.Is(err, postgres.ErrNotFound) {
			return id, err
		}
	}
	draft, err := j.Draft(ctx, brand, r, nil, j.Now())
	if err != nil {
		return uuid.Nil, err
	}
	return j.enqueue(ctx, draft, by, draft.digest())
}

// StartDue starts a job for the targets of a schedule, and returns the platforms that the job leaves out. It starts no
// run twice in its slot; if there are no others, the error is postgres.ErrAsked.
func (j *Jobs) StartDue(
	ctx context.Context, brand postgres.Brand, due []Target,
) (id uuid.UUID, refused []Refusal, err error) {
	draft, err := j.Draft(ctx, brand, Request{}, due, j.Now())
	if err != nil {
		return uuid.Nil, nil, err
	}
	for _, r := range draft.Refused {
		if !slices.ContainsFunc(draft.Runs, func(run postgres.NewRun) bool { return run.Platform == r.Platform }) {
			refused = append(refused, r)
		}
	}
	id, err = j.enqueue(ctx, draft, Caller{}, nil)
	return id, refused, err
}

// enqueue stores the job with its runs, and puts it on the queue in the same transaction. A digest joins a running job
// that has the same one.
func (j *Jobs) enqueue(ctx context.Context, d *Draft, by Caller, digest []byte) (uuid.UUID, error) {
	if err := d.check(); err != nil {
		return uuid.Nil, err
	}
	request, err := json.Marshal(d.request)
	if err != nil {
		return uuid.Nil, fmt.Errorf("encode request: %w", err)
	}
	job := postgres.NewTracking{
		OrganizationID: d.brand.OrganizationID, BrandID: d.brand.ID, CreatedAt: d.createdAt, RequestedBy: by.UserID,
		Request: request, Digest: digest, Runs: d.Runs,
	}
	if by.IdempotencyKey != "" {
		job.IdempotencyKey = &by.IdempotencyKey
	}
	for _, p := range d.prompts {
		text, err := json.Marshal(answer.Prompt(p.Prompt))
		if err != nil {
			return uuid.Nil, fmt.Errorf("encode prompt %s: %w", p.ID, err)
		}
		job.Prompts = append(job.Prompts, postgres.NewRunPrompt{PromptID: p.ID, Prompt: text})
	}
	id, err := j.DB.StartTracking(ctx, job, func(tx postgres.Tx, id uuid.UUID) error {
		options := &river.InsertOpts{Queue: queueName, MaxAttempts: math.MaxInt16}
		_, err := j.queue.InsertTx(ctx, tx, jobArgs{id}, options)
		return err
	})
	if limit, full := errors.AsType[postgres.ErrLimit](err); full {
		err = problem.New(problem.TooMany, "%s", limit.Text)
	}
	if _, over := errors.AsType[*postgres.BudgetError](err); over {
		j.metrics.refused.WithLabelValues(refusedForBudget).Inc()
	}
	return id, err
}

// Target is a model of a platform that a brand's prompts are sent to, and the slot of those runs.
type Target struct {
	Platform string
	Model    string    // "": the platform's default
	Slot     time.Time // the due time of the schedule; of other jobs, when they are created
}

// Draft is a job that is not started: a run for each prompt, platform, model, region and sample.
type Draft struct {
	Runs    []postgres.NewRun
	Refused []Refusal // platforms that are left out

	brand     postgres.Brand
	request   Request
	createdAt time.Time
	prompts   []postgres.PromptToAsk
	index     map[postgres.NewRun]int // positions in Runs, by question
}

// Refusal is a platform that cannot be asked, with the reason.
type Refusal struct {
	Platform string `json:"platform"`
	Reason   string `json:"reason"`

	cause string // skippedForKey, skippedForBudget
}

// maxRuns bounds a job, which is held in memory.
const maxRuns = 50_000

// Draft returns the job that a request at an instant would start. Without targets of a schedule it has the request's. A
// wrong request is a problem.
func (j *Jobs) Draft(
	ctx context.Context, brand postgres.Brand, r Request, targets []Target, now time.Time,
) (*Draft, error) {
	d := newDraft(brand, r, now)
	platforms, err := j.availablePlatforms(ctx, brand.OrganizationID)
	if err != nil {
		return nil, err
	}
	if targets == nil {
		if targets, err = j.requestedTargets(ctx, d, platforms); err != nil {
			return nil, err
		}
	}
	if err := checkTargets(targets, r.Models, platforms); err != nil {
		return nil, err
	}
	budgets, err := j.DB.Budgets(ctx, brand.OrganizationID)
	if err != nil {
		return nil, err
	}
	if d.prompts, err = j.DB.PromptsToAsk(ctx, brand.ID, r.PromptIDs); err != nil {
		return nil, err
	}
	for _, target := range targets {
		p, _ := findPlatform(platforms, target.Platform)
		if p.Unavailable != "" {
			d.refuse(Refusal{p.Slug, p.Unavailable, skippedForKey})
			continue
		}
		for _, prompt := range d.prompts {
			d.addPrompt(target, p, prompt, limitsCost(budgets, p.Slug))
		}
	}
	if len(d.Runs) > maxRuns {
		return nil, problem.New(problem.Invalid, "the request comes to more than %d runs: "+
			"name fewer promptIds, platforms, models, regions or samples", maxRuns)
	}
	return d, nil
}

// limitsCost reports whether a budget limits what a platform costs.
func limitsCost(budgets []postgres.Budget, slug string) bool {
	return slices.ContainsFunc(budgets, func(b postgres.Budget) bool {
		return b.LimitsCost() && (b.Platform == "" || b.Platform == slug)
	})
}

func newDraft(brand postgres.Brand, r Request, now time.Time) *Draft {
	now = now.UTC().Truncate(time.Millisecond)
	return &Draft{brand: brand, request: r, createdAt: now, index: map[postgres.NewRun]int{}}
}

// availablePlatforms lists the organization's platforms. Any worker may run the job, so a key of the environment counts
// only if every worker has announced it: of a surface that the organization has an order for, the key of a provider in
// that. Without workers this process's own environment decides.
func (j *Jobs) availablePlatforms(ctx context.Context, organization uuid.UUID) ([]Platform, error) {
	platforms, err := j.ListPlatforms(ctx, organization)
	if err != nil {
		return nil, err
	}
	workers, err := j.DB.TrackingWorkers(ctx)
	if err != nil || len(workers) == 0 {
		return platforms, err
	}
	for i, p := range platforms {
		wanted := []string{p.Slug}
		if len(p.order) > 0 {
			wanted = p.order
		}
		lacksKey := func(worker []string) bool {
			return !slices.ContainsFunc(wanted, func(slug string) bool { return slices.Contains(worker, slug) })
		}
		platforms[i] = p.WithKeyStatus(!slices.ContainsFunc(workers, lacksKey))
	}
	return platforms, nil
}

// addPrompt adds the runs of a prompt. costLimited refuses models without a price.
func (d *Draft) addPrompt(target Target, p Platform, prompt postgres.PromptToAsk, costLimited bool) {
	r := d.request
	asksAll := len(r.Platforms) > 0 || len(prompt.Platforms) == 0
	if len(d.Runs) > maxRuns || !asksAll && !slices.Contains(prompt.Platforms, p.Slug) {
		return
	}
	regions := firstNonEmpty(r.Regions, countries(prompt.Regions), countries([]string{d.brand.Region}))
	if !p.TakesRegion { // it would be asked, and paid, the same for each
		regions = []string{""}
	}
	samples := cmp.Or(r.Samples, prompt.Samples, 1)
	for _, model := range target.models(p, firstNonEmpty(r.Models, prompt.Models)) {
		description := p.Description
		if costLimited && p.highestPrice != nil { // a run may fail over, and its budget holds
			description.Price = p.highestPrice
		}
		estimate := typicalCost(description, model)
		if estimate == nil && costLimited {
			const reason = "the price of model %q is not known, and the organization has a budget of cost"
			d.refuse(Refusal{p.Slug, fmt.Sprintf(reason, model), skippedForBudget})
			continue
		}
		for _, region := range regions {
			for sample := 1; sample <= samples && len(d.Runs) <= maxRuns; sample++ { // one too many is an error
				d.addRun(postgres.NewRun{
					PromptID: prompt.ID, Platform: p.Slug, Model: model, Region: region, Sample: sample,
					Slot: target.Slot, Estimate: estimate,
					AnswerID: event.RunID(event.Identity{
						BrandID: d.brand.ID, PromptText: prompt.Text, Platform: p.Slug, Model: model, Region: region,
						Sample: int64(sample), Due: target.Slot,
					}),
				})
			}
		}
	}
}

// models returns the requested models that the platform lists, or the target's own model if none is requested.
func (t Target) models(p Platform, requested []string) (models []string) {
	switch {
	case len(p.Models) == 0:
		return []string{""} // there is no choice
	case len(requested) == 0:
		return []string{cmp.Or(t.Model, p.Models[0].Slug)}
	}
	for _, m := range p.Models {
		if slices.Contains(requested, m.Slug) {
			models = append(models, m.Slug)
		}
	}
	return models
}

// addRun adds a run unless there is one with its question. Where two schedules ask the same at once, the later slot
// stays: it belongs to the shorter schedule.
func (d *Draft) addRun(r postgres.NewRun) {
	question := r
	question.Slot, question.Estimate, question.AnswerID = time.Time{}, nil, uuid.Nil
	i, ok := d.index[question]
	switch {
	case !ok:
		d.index[question] = len(d.Runs)
		d.Runs = append(d.Runs, r)
	case r.Slot.After(d.Runs[i].Slot):
		d.Runs[i] = r
	}
}

func (d *Draft) refuse(r Refusal) {
	if !slices.Contains(d.Refused, r) {
		d.Refused = append(d.Refused, r)
	}
}

// check explains why a draft without runs asks nothing.
func (d *Draft) check() error {
	switch {
	case len(d.Runs) > 0:
		return nil
	case len(d.Refused) > 0:
		var reasons []string
		for _, r := range d.Refused {
			reasons = append(reasons, r.Platform+": "+r.Reason)
		}
		return problem.New(problem.Unprocessable, "no platform can be asked: %s", strings.Join(reasons, "; "))
	}
	return problem.New(problem.Conflict, "there is nothing to ask: want an active prompt in an active prompt set, "+
		"and a platform: in the request, of the brand, or one with a key")
}

// digest is equal for drafts that ask the same questions with the same texts.
func (d *Draft) digest() []byte {
	var lines []string
	for _, p := range d.prompts {
		lines = append(lines, p.ID.String()+" "+p.Text)
	}
	for _, r := range d.Runs {
		lines = append(lines, fmt.Sprintf("%s %q %q %q %d", r.PromptID, r.Platform, r.Model, r.Region, r.Sample))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return sum[:]
}
