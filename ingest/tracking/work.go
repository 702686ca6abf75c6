package tracking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Why nothing more is asked.
var (
	errStopping  = errors.New("the process stops")
	errCancelled = errors.New("the job was cancelled")
)

// errUnfinished says that not every run has ended when all were asked, which the next worker mends.
var errUnfinished = errors.New("not every run has ended")

// work drives a job to its end.
func (j *Jobs) work(ctx context.Context, queued int64, id uuid.UUID) error {
	claim, err := j.DB.ClaimTracking(ctx, id)
	if errors.Is(err, postgres.ErrNotFound) {
		return nil // it is over, or its brand is gone
	}
	if err != nil {
		return err
	}
	fault.Pass(fault.Claimed)
	j.metrics.working.Inc()
	defer j.metrics.working.Dec()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	storing, stored := lifecycle.Finishing(ctx, finishing/2) // answers that have come, when the worker ends
	defer stored()
	w := &worker{Jobs: j, claim: claim, queued: queued, ledger: &ledger{claim: claim, ctx: storing}, fail: fail, ended: make(chan struct{}, 1)}
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(j.stopping, func() { stop(errStopping) })()
	var beating sync.WaitGroup
	defer beating.Wait()
	defer fail(nil)
	beating.Go(func() { w.beat(ctx, stop) })
	err = w.run(ctx, asking)
	switch cause := context.Cause(ctx); {
	case errors.Is(err, postgres.ErrNotFound), errors.Is(cause, postgres.ErrNotFound):
		j.log.Info("tracking job left to another worker", "job", id)
		return nil
	case cause != nil && err != nil:
		err = cause
	}
	if err != nil && !errors.Is(err, errStopping) {
		j.log.Warn("tracking job interrupted", "job", id, "cause", err, "next", "nothing, if the cause passes: the job goes on in some seconds")
	}
	return err
}

// worker works on one job.
type worker struct {
	*Jobs
	claim  postgres.TrackingClaim
	queued int64 // id of the queue's job
	ledger *ledger
	fail   context.CancelCauseFunc // ends everything
	ended  chan struct{}           // a record may be stored that is to be appended

	snapshot     answer.Snapshot
	prompts      map[uuid.UUID]event.Prompt
	unrecordable *platform.Error // why no record can be made of the brand; nil: one can

	mu    sync.Mutex
	lists []*runs // one a platform, once they are loaded
}

// run asks what is to be asked, appends the answers, waits until they have landed, and finishes the job. Asking is cut
// short when asking ends.
func (w *worker) run(ctx, asking context.Context) error {
	platforms, err := w.load(ctx)
	if err != nil {
		return err
	}
	asked := make(chan struct{})
	appended := make(chan error, 1)
	go func() { appended <- w.appendAnswers(ctx, asked) }()
	requests, done := lifecycle.Finishing(w.stopping, finishing)
	defer done()
	requests, cancel := context.WithCancel(requests)
	defer context.AfterFunc(ctx, cancel)()
	var all sync.WaitGroup
	for _, p := range platforms {
		all.Go(func() { p.ask(ctx, asking, requests) })
	}
	all.Wait()
	if cause := context.Cause(asking); errors.Is(cause, errCancelled) {
		if err := retry(ctx, w.claim.CancelWaiting); err != nil {
			w.fail(err)
		}
	} else if cause != nil {
		w.fail(cause)
	}
	close(asked)
	defer context.AfterFunc(w.stopping, func() { w.fail(errStopping) })()
	if err := <-appended; err != nil {
		return err
	}
	return w.land(ctx, asking)
}

// load reads what is to be asked, by platform.
func (w *worker) load(ctx context.Context) ([]*asker, error) {
	list, prompts, err := w.claim.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, nil
	}
	w.prompts = make(map[uuid.UUID]event.Prompt, len(prompts))
	for id, text := range prompts {
		var p event.Prompt
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, fmt.Errorf("decode prompt %s of tracking job %s: %w", id, w.claim.ID, err)
		}
		w.prompts[id] = p
	}
	if w.snapshot, err = answer.ReadSnapshot(ctx, w.DB, w.claim.BrandID); err != nil {
		return nil, err
	}
	w.checkRecord(list[0])
	known, err := w.Platforms.List(ctx, w.claim.OrganizationID)
	if err != nil {
		return nil, err
	}
	var askers []*asker
	bySlug := map[string]*asker{}
	for _, r := range list {
		a := bySlug[r.Platform]
		if a == nil {
			if a, err = w.asker(ctx, r.Platform, known); err != nil {
				return nil, err
			}
			bySlug[r.Platform], askers = a, append(askers, a)
		}
		next := &run{TrackingRun: r}
		if r.NextAttemptAt != nil {
			next.at = *r.NextAttemptAt
		}
		a.runs.add(next)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range askers {
		w.lists = append(w.lists, a.runs)
	}
	return askers, nil
}

// mostSnapshot leaves half of a record to the answer.
const mostSnapshot = event.MaxValueBytes / 2

// checkRecord tries out, before anything is asked and paid, whether a run's record can be made. If the brand is too
// large, its runs are given up with records that have its name alone.
func (w *worker) checkRecord(first postgres.TrackingRun) {
	r := &run{TrackingRun: first}
	ended := w.runOf(r)
	ended.EndedAt = w.endOf(r)
	record := ended.GaveUp(&platform.Error{Class: platform.Unavailable})
	encoded, err := answer.Record(&record, w.Now())
	if err == nil && len(encoded.Value) > mostSnapshot {
		err = fmt.Errorf("the brand and its competitors take %d bytes of each record: want at most %d", len(encoded.Value), mostSnapshot)
	}
	if err == nil {
		return
	}
	w.unrecordable = &platform.Error{Class: platform.Invalid, Cause: fmt.Errorf("no record can be made of the brand: %w", err)}
	w.snapshot.Brand.Aliases, w.snapshot.Brand.Domains, w.snapshot.Competitors, w.claim.Language = nil, nil, nil, ""
}

// asker opens a platform. One that cannot be asked, any more, fails every run; the error is of what says whether it
// can.
func (w *worker) asker(ctx context.Context, slug string, known []Platform) (*asker, error) {
	a := &asker{worker: w, runs: newRuns(), description: platform.Description{Slug: slug}}
	account := ""
	for _, k := range known {
		if k.Slug == slug {
			a.description, account = k.Description, k.Account
		}
	}
	a.gate = w.gates.gate(a.description, account)
	cast := simulator.Cast{Brand: w.snapshot.Brand.Entity, Competitors: w.snapshot.Competitors}
	opened, err := w.Platforms.Open(ctx, w.claim.OrganizationID, slug, cast)
	if _, unusable := errors.AsType[*problem.Error](err); unusable {
		a.unusable = &platform.Error{Class: platform.Auth, Cause: err}
	} else if err != nil {
		return nil, err
	}
	a.platform = opened
	if w.unrecordable != nil {
		a.unusable = w.unrecordable
	}
	return a, nil
}

// beat sends heartbeats, and hears of a cancelled job. It ends the worker once the job is another one's. While PostgreSQL
// is away nobody can take the job, so that the requests in flight go on.
func (w *worker) beat(ctx context.Context, stop context.CancelCauseFunc) {
	for ctx.Err() == nil {
		w.beatOnce(ctx, stop)
		_ = lifecycle.Pause(ctx, w.beatInterval)
	}
}

func (w *worker) beatOnce(ctx context.Context, stop context.CancelCauseFunc) {
	limited, done := context.WithTimeout(ctx, w.silence/3)
	defer done()
	cancelled, err := w.claim.Heartbeat(limited, w.queued)
	switch {
	case errors.Is(err, postgres.ErrNotFound):
		w.fail(err)
	case cancelled:
		stop(errCancelled)
	}
	if err == nil {
		w.resumeWaiting(limited)
	}
	w.signal()
}

// resumeWaiting has waiting runs asked once no other job asks their questions any more.
func (w *worker) resumeWaiting(ctx context.Context) {
	w.mu.Lock()
	lists := w.lists
	w.mu.Unlock()
	for _, list := range lists {
		ids := list.waitingIDs()
		if len(ids) == 0 {
			continue
		}
		if free, err := w.claim.Free(ctx, ids); err == nil { // else the next beat tries again
			list.resume(ids, free)
		}
	}
}

// signal has stored records appended.
func (w *worker) signal() {
	select {
	case w.ended <- struct{}{}:
	default:
	}
}
