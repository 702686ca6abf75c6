package tracking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Due is where a brand is to be asked.
type Due struct {
	Platform string
	Model    string    // "": the platform's default
	Slot     time.Time // when its schedule says
}

// Caller is who starts a job.
type Caller struct {
	UserID         *uuid.UUID // nil: a schedule, or the command line
	IdempotencyKey string     // "": none
}

// Start starts a job, and returns its id: a new one, or that of a running job that asks the same, or of one that the
// key began within a day. What is wrong is a problem, or a *postgres.BudgetError.
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
	now := j.Now().UTC().Truncate(time.Millisecond)
	plan, err := j.plan(ctx, brand, r, nil, now)
	if err != nil {
		return uuid.Nil, err
	}
	if err := plan.check(); err != nil {
		return uuid.Nil, err
	}
	return j.start(ctx, brand, plan, r, by, now, plan.digest())
}

// StartDue starts a job of what a schedule says is due. What was asked in its slot is not asked again: the error is
// postgres.ErrAsked where that is all. refused are the platforms that the job leaves out.
func (j *Jobs) StartDue(ctx context.Context, brand postgres.Brand, due []Due) (id uuid.UUID, refused []Refusal, err error) {
	now := j.Now().UTC().Truncate(time.Millisecond)
	plan, err := j.plan(ctx, brand, Request{}, due, now)
	if err != nil {
		return uuid.Nil, nil, err
	}
	if err := plan.check(); err != nil {
		return uuid.Nil, nil, err
	}
	for _, r := range plan.Refused {
		if !slices.ContainsFunc(plan.Runs, func(run postgres.NewRun) bool { return run.Platform == r.Platform }) {
			refused = append(refused, r)
		}
	}
	id, err = j.start(ctx, brand, plan, Request{}, Caller{}, now, nil)
	return id, refused, err
}

// check says why a plan asks nothing.
func (p *Plan) check() error {
	switch {
	case len(p.Runs) > 0:
		return nil
	case len(p.Refused) > 0:
		var why []string
		for _, r := range p.Refused {
			why = append(why, r.Platform+": "+r.Reason)
		}
		return problem.New(problem.Unprocessable, "no platform can be asked: %s", strings.Join(why, "; "))
	}
	return problem.New(problem.Conflict, "there is nothing to ask: want an active prompt in an active prompt set, and a platform: in the request, of the brand, or one with a key")
}

func (j *Jobs) start(ctx context.Context, brand postgres.Brand, plan *Plan, r Request, by Caller, now time.Time, digest []byte) (uuid.UUID, error) {
	asked, err := json.Marshal(r)
	if err != nil {
		return uuid.Nil, fmt.Errorf("encode request: %w", err)
	}
	var key *string
	if by.IdempotencyKey != "" {
		key = &by.IdempotencyKey
	}
	id, err := j.DB.StartTracking(ctx, postgres.NewTracking{
		OrganizationID: brand.OrganizationID, BrandID: brand.ID, RequestedBy: by.UserID, IdempotencyKey: key, Request: asked, Plan: digest,
		CreatedAt: now, Runs: plan.Runs, Prompts: plan.prompts,
	}, j.enqueue(ctx))
	if _, over := errors.AsType[*postgres.BudgetError](err); over {
		j.metrics.refused.WithLabelValues(refusedForBudget).Inc()
	}
	return id, err
}
