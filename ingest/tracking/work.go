package tracking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

var (
	errStopping  = errors.New("the process stops")
	errCancelled = errors.New("the job was cancelled")
	// errUnfinished leaves a run that has not ended after all were asked to the next worker.
	errUnfinished = errors.New("not every run has ended")
)

// worker drives one job to its end: load, ask, append, await landed, finish.
type worker struct {
	*Jobs
	log          *slog.Logger // with the job's id
	claim        postgres.TrackingClaim
	riverID      int64 // of the job in River's table
	writer       *batchWriter
	fail         context.CancelCauseFunc // ends the worker
	recordStored chan struct{}           // a record may wait to be appended

	snapshot answer.Snapshot
	prompts  map[uuid.UUID]event.Prompt
	noRecord *platform.Error // why no record can be made of the brand; nil: one can
}

// work claims a job and drives it. After an error River gives the job to the next worker.
func (j *Jobs) work(ctx context.Context, riverID int64, id uuid.UUID) error {
	claim, err := j.DB.ClaimTracking(ctx, id)
	if errors.Is(err, postgres.ErrNotFound) {
		return nil // it has finished, or its brand is gone
	}
	if err != nil {
		return err
	}
	fault.Pass(fault.Claimed)
	j.metrics.working.Inc()
	defer j.metrics.working.Dec()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	storing, stopStoring := lifecycle.Finishing(ctx, drainTimeout/2) // answers that come while the worker ends
	defer stopStoring()
	w := &worker{
		Jobs: j, log: j.log.With("job", id), claim: claim, riverID: riverID, fail: fail,
		writer: &batchWriter{claim: claim, ctx: storing}, recordStored: make(chan struct{}, 1),
	}
	asking, stopAsking := context.WithCancelCause(ctx)
	defer stopAsking(nil)
	defer context.AfterFunc(j.stopping, func() { stopAsking(errStopping) })()
	var heartbeats sync.WaitGroup
	defer heartbeats.Wait()
	defer fail(nil)
	heartbeats.Go(func() { w.sendHeartbeats(ctx, stopAsking) })
	err = w.process(ctx, asking)
	switch cause := context.Cause(ctx); {
	case errors.Is(err, postgres.ErrNotFound), errors.Is(cause, postgres.ErrNotFound):
		w.log.Info("tracking job left to another worker")
		return nil
	case cause != nil && err != nil:
		err = cause
	}
	if err != nil && !errors.Is(err, errStopping) {
		w.log.Warn("tracking job interrupted", "cause", err,
			"next", "nothing, if the cause passes: the job goes on in some seconds")
	}
	return err
}

// process sends no more requests once asking ends.
func (w *worker) process(ctx, asking context.Context) error {
	askers, err := w.load(ctx)
	if err != nil {
		return err
	}
	allAsked := make(chan struct{})
	appended := make(chan error, 1)
	go func() { appended <- w.appendAnswers(ctx, allAsked) }()
	w.askAll(ctx, asking, askers)
	close(allAsked)
	defer context.AfterFunc(w.stopping, func() { w.fail(errStopping) })()
	if err := <-appended; err != nil {
		return err
	}
	if err := w.awaitLanded(ctx, asking); err != nil {
		return err
	}
	return retry(ctx, w.claim.Finish)
}

// askAll returns once all requests have ended. When the process stops, those in flight have some seconds.
func (w *worker) askAll(ctx, asking context.Context, askers []*asker) {
	requests, done := lifecycle.Finishing(w.stopping, drainTimeout)
	defer done()
	requests, cancel := context.WithCancel(requests)
	defer context.AfterFunc(ctx, cancel)()
	var all sync.WaitGroup
	for _, a := range askers {
		all.Go(func() { a.ask(asking, requests) })
	}
	all.Wait()
	if cause := context.Cause(asking); errors.Is(cause, errCancelled) {
		if err := retry(ctx, w.claim.CancelWaiting); err != nil {
			w.fail(err)
		}
	} else if cause != nil {
		w.fail(cause)
	}
}

// adoptInterval is the mean time between the first polls of two captures that are adopted: 2,000 take ten seconds.
const adoptInterval = 5 * time.Millisecond

// load reads the runs that have not ended, and returns an asker for each of their platforms.
func (w *worker) load(ctx context.Context) ([]*asker, error) {
	runs, prompts, err := w.claim.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return nil, err
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
	w.checkRecord(runs[0])
	platforms, err := w.ListPlatforms(ctx, w.claim.OrganizationID)
	if err != nil {
		return nil, err
	}
	budgets, err := w.DB.Budgets(ctx, w.claim.OrganizationID)
	if err != nil {
		return nil, err
	}
	var askers []*asker
	bySlug := map[string]*asker{}
	for _, r := range runs {
		a := bySlug[r.Platform]
		if a == nil {
			a = w.newAsker(r.Platform, platforms, limitsCost(budgets, r.Platform))
			bySlug[r.Platform], askers = a, append(askers, a)
		}
		queued := &queuedRun{TrackingRun: r}
		if r.NextAttemptAt != nil {
			queued.notBefore = *r.NextAttemptAt
		}
		a.unended.Add(1)
		if r.SubmittedAt != nil && a.unusable == nil {
			a.adopt(queued, rand.N(time.Duration(len(runs))*adoptInterval))
			continue
		}
		a.queue.add(queued)
	}
	return askers, nil
}

// maxSnapshotBytes leaves half of a record to the answer.
const maxSnapshotBytes = event.MaxValueBytes / 2

// checkRecord tries out, before a request is paid for, whether a record of a run can be made. If the brand is too
// large, all runs are given up with records that have its name alone.
func (w *worker) checkRecord(first postgres.TrackingRun) {
	r := &queuedRun{TrackingRun: first}
	run := w.answerRun(r)
	run.EndedAt = w.endTime(r)
	gaveUp := run.GaveUp(&platform.Error{Class: platform.Unavailable})
	record, err := answer.Record(&gaveUp, w.Now())
	if err == nil && len(record.Value) > maxSnapshotBytes {
		err = fmt.Errorf("the brand and its competitors take %d bytes of each record: want at most %d",
			len(record.Value), maxSnapshotBytes)
	}
	if err == nil {
		return
	}
	err = fmt.Errorf("no record can be made of the brand: %w", err)
	w.noRecord = &platform.Error{Class: platform.Invalid, Cause: err}
	w.snapshot.Brand.Aliases, w.snapshot.Brand.Domains, w.snapshot.Competitors, w.claim.Language = nil, nil, nil, ""
}

// newAsker opens a platform. All runs of one that can no longer be asked are given up.
func (w *worker) newAsker(slug string, platforms []Platform, costLimited bool) *asker {
	p, ok := findPlatform(platforms, slug)
	if !ok {
		p.Slug, p.Unavailable = slug, unknownPlatform(slug).Error()
	}
	a := &asker{worker: w, queue: newRunQueue(), description: p.Description}
	a.givingUp.SetLimit(parallelGiveUps)
	var err error
	a.client, err = p.Open(simulator.Cast{Brand: w.snapshot.Brand.Entity, Competitors: w.snapshot.Competitors})
	if surface, ok := a.client.(*capture.Client); ok {
		a.surface, a.jobs = surface, newRunQueue()
		a.byProvider, a.prices = map[string]*rateLimit{}, map[string]*big.Rat{}
		for _, provider := range p.Providers {
			a.byProvider[provider.Slug] = w.limits.account(provider)
			if costLimited {
				price := capture.HighestPrice(slug, []capture.Account{provider.captures})
				a.prices[provider.Slug] = decimal(price.Cost(event.Usage{}))
			}
		}
	} else {
		a.limit = w.limits.account(p)
	}
	switch {
	case w.noRecord != nil:
		a.unusable = w.noRecord
	case err != nil:
		a.unusable = &platform.Error{Class: platform.Auth, Cause: err}
	}
	return a
}

// sendHeartbeats stops asking once the job is cancelled, and ends the worker once the job is another one's. While
// PostgreSQL is away no other worker can claim the job, so the requests in flight go on.
func (w *worker) sendHeartbeats(ctx context.Context, stopAsking context.CancelCauseFunc) {
	for ; ctx.Err() == nil; _ = lifecycle.Pause(ctx, w.heartbeatInterval) {
		limited, done := context.WithTimeout(ctx, w.heartbeatTimeout/3)
		cancelled, err := w.claim.Heartbeat(limited, w.riverID)
		switch {
		case errors.Is(err, postgres.ErrNotFound):
			w.fail(err)
		case cancelled:
			stopAsking(errCancelled)
		}
		done()
		w.signalRecord()
	}
}

// signalRecord wakes appendAnswers.
func (w *worker) signalRecord() {
	select {
	case w.recordStored <- struct{}{}:
	default:
	}
}
