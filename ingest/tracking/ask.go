package tracking

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	runTimeout     = 24 * time.Hour          // from its slot to its end
	requestTimeout = platform.DefaultTimeout // of one request
	maxFailures    = 6                       // of a run's requests, without those that were refused for a rate limit
	firstDelay     = time.Second             // before the second request; it doubles
	maxDelay       = time.Minute

	parallelGiveUps = 50
)

// asker asks the runs of one job on one platform.
type asker struct {
	*worker
	description platform.Description
	client      platform.Platform
	unusable    *platform.Error // why the platform cannot be asked; nil: it can
	limit       *rateLimit
	queue       *runQueue
	unended     atomic.Int64       // runs
	stop        context.CancelFunc // ends asking once all runs have ended
	inFlight    sync.WaitGroup
	givingUp    errgroup.Group // of runs, whose records may have 2 MB each

	surface    *capture.Client       // nil: an API is asked
	byProvider map[string]*rateLimit // limits of the accounts that capture the surface
	prices     map[string]*big.Rat   // the highest price of a capture by provider; empty: no budget limits cost
	jobs       *runQueue             // runs that a provider has accepted
}

// ask returns when every run has ended, or when asking is cancelled and the requests in flight have ended.
func (a *asker) ask(asking, requests context.Context) {
	askingRuns, stop := context.WithCancel(asking)
	defer stop()
	a.stop = stop
	a.inFlight.Go(func() { a.unblockRuns(askingRuns) })
	switch {
	case a.unusable != nil:
		a.giveUpAll(asking)
		stop()
	case a.surface != nil:
		a.askSurface(asking, askingRuns, requests)
	default:
		defer a.limit.join(a.claim.OrganizationID)()
		a.sendRequests(askingRuns, requests, a.queue, "")
	}
	a.inFlight.Wait()
	_ = a.givingUp.Wait() // giveUp reports its errors itself
}

// end counts runs that have ended.
func (a *asker) end(runs int) {
	if a.unended.Add(int64(-runs)) == 0 {
		a.stop()
	}
}

// sendRequests sends the runs of a queue as the limits allow, to a provider or an API, until askingRuns ends.
func (a *asker) sendRequests(askingRuns, requests context.Context, queue *runQueue, provider string) {
	for r := range queue.runs(askingRuns, a.Now) {
		switch reserved, err := a.acquire(askingRuns, r, provider); {
		case err == nil:
			a.inFlight.Go(func() { a.sendRequest(requests, r, reserved) })
		case errors.Is(err, errClosed):
			a.queue.add(r)
		case askingRuns.Err() == nil:
			a.giveUpUnasked(r, lastFailure(r), "") // its deadline is over
		}
	}
}

// unblockRuns readies runs whose question no other job asks any more, until ctx ends.
func (a *asker) unblockRuns(ctx context.Context) {
	for lifecycle.Pause(ctx, a.heartbeatInterval) == nil {
		ids := a.queue.blockedIDs()
		if len(ids) == 0 {
			continue
		}
		limited, done := context.WithTimeout(ctx, statementTimeout)
		if free, err := a.claim.Free(limited, ids); err == nil { // else the next look tries again
			a.end(a.queue.unblock(ids, free))
		}
		done()
	}
}

// acquire waits until a run may be asked. It fails when askingRuns ends, or at the run's deadline.
func (a *asker) acquire(askingRuns context.Context, r *queuedRun, provider string) (reserved float64, err error) {
	timeLeft := r.deadline().Sub(a.Now())
	if timeLeft <= 0 {
		return 0, context.DeadlineExceeded
	}
	limited, done := context.WithTimeout(askingRuns, timeLeft)
	defer done()
	if err := a.Room(limited); err != nil {
		return 0, err
	}
	if a.surface == nil {
		r.limit = a.limit
		return a.limit.acquire(limited, true)
	}
	if names, _, _ := a.candidates(r); len(names) == 0 || names[0] != provider {
		return 0, errClosed
	}
	r.Provider, r.limit = provider, a.byProvider[provider]
	return r.limit.acquire(limited, false)
}

// sendRequest sends a request of a run, and stores its outcome.
func (a *asker) sendRequest(requests context.Context, r *queuedRun, reserved float64) {
	granted, err := a.writer.ask(r.ID)
	if err != nil || !granted {
		r.limit.cancel(reserved)
		if err != nil {
			a.fail(err)
		} else {
			a.queue.block(r)
		}
		return
	}
	r.Attempts++
	limited, done := context.WithTimeout(requests, min(requestTimeout, r.deadline().Sub(a.Now())))
	defer done()
	began := time.Now()
	var reply platform.Reply
	if a.surface == nil {
		reply, err = a.client.Ask(limited, a.answerRun(r).Question())
	} else {
		var job capture.Job
		q := a.answerRun(r).Question()
		job, reply, err = a.surface.Submit(limited, r.Provider, q, submissionID(r), a.callbackURL(r))
		if err == nil && job.ID != "" {
			r.limit.learn(reply.Allowance)
			a.storeJob(r, job)
			return
		}
	}
	a.endRequest(requests, r, time.Since(began), reserved, reply, err)
}

// endRequest stores the outcome of a request that has ended.
func (a *asker) endRequest(
	requests context.Context, r *queuedRun, took time.Duration, reserved float64, reply platform.Reply, err error,
) {
	r.limit.release(reserved, reply, err) // before the write: PostgreSQL's time is not the platform's
	fault.Pass(fault.Asked)
	if requests.Err() != nil && err != nil {
		return // the process stops, and the request's outcome is unknown
	}
	failure, classified := errors.AsType[*platform.Error](err)
	if err != nil && !classified {
		failure = &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	if failure != nil {
		failure.Raw = nil // it is large, and may be kept until the run ends
	}
	a.metrics.observe(a.description.Slug, r.Provider, took, reply, failure)
	if a.surface != nil {
		r.limit.observe(failure)
	}
	if failure == nil {
		failure = a.storeAnswer(r, reply, took)
	}
	if failure != nil {
		a.storeFailure(r, failure)
	}
}

// storeAnswer stores the record of an answer, also for runs of other jobs with the same question. It fails if no record
// can be made of it.
func (a *asker) storeAnswer(r *queuedRun, reply platform.Reply, took time.Duration) *platform.Error {
	run := a.answerRun(r)
	run.EndedAt, run.Latency = a.endTime(r), took
	answered := run.Answered(a.description.Priced(reply, r.Model))
	cost := r.replacedCost
	if cost == "" && answered.Usage != nil {
		cost = answered.Usage.CostUSD
	}
	record, err := answer.Record(&answered, run.EndedAt)
	if err != nil {
		return &platform.Error{Class: platform.ChangedShape, Cause: err, CostUSD: cost}
	}
	outcome := postgres.RunOutcome{
		ID: r.ID, State: "answered", Answer: string(record.Value), Cost: cost, Provider: answered.Provider,
		NotShown: answered.Finish == event.FinishNotShown,
	}
	otherJobs, err := a.writer.end(outcome)
	if err == nil && otherJobs { // while the run is being asked, none of them asks its question
		a.shareAnswer(r, answered)
		fault.Pass(fault.Shared)
		outcome.Shared = true
		_, err = a.writer.end(outcome)
	}
	if err != nil {
		a.fail(err)
		return nil
	}
	fault.Pass(fault.Answered)
	a.end(1)
	a.signalRecord()
	a.cancelJobs(r)
	return nil
}

// shareAnswer stores the answer for runs of other jobs that wait with the same question, each under its own id.
func (a *asker) shareAnswer(r *queuedRun, answered event.Answer) {
	runs, err := retryRead(a.writer.ctx, func(ctx context.Context) ([]postgres.IdenticalRun, error) {
		return a.claim.IdenticalRuns(ctx, r.ID)
	})
	if err != nil {
		a.log.Warn("other jobs with the same question unknown", "cause", err, "next", "nothing: they ask it themselves")
		return
	}
	for _, other := range runs {
		answered.ID, answered.JobID, answered.Usage = other.AnswerID, &other.JobID, nil // its cost is counted once
		record, err := answer.Record(&answered, a.Now())
		if err == nil {
			outcome := postgres.RunOutcome{ID: other.ID, State: "answered", Answer: string(record.Value), Cost: "0",
				NotShown: answered.Finish == event.FinishNotShown}
			err = retry(a.writer.ctx, func(ctx context.Context) error {
				return a.claim.EndIdenticalRun(ctx, other.JobID, outcome)
			})
		}
		if err != nil {
			a.log.Warn("answer not given to another job with the same question", "other_job", other.JobID, "cause", err,
				"next", "nothing: it asks itself")
		}
	}
}

// storeFailure stores when a run is asked again after a failed request, or gives it up. Where another provider captures
// the surface, it is asked at once.
func (a *asker) storeFailure(r *queuedRun, failure *platform.Error) {
	r.Failures++
	cost := failure.CostUSD
	r.pay(cost)
	isAccepted := cost != "" || r.SubmittedAt != nil // what may be paid for is not repeated without end
	r.SubmittedAt, r.polls, r.answeredPolls, r.runningSince = nil, 0, 0, time.Time{}
	at, ok := a.Now(), a.failOver(r, failure)
	uncounted := !isAccepted &&
		(failure.Class == platform.RateLimited || ok || a.surface != nil && r.limit.isAway())
	if !ok && r.retryable != nil && !failure.Class.Retryable() {
		failure = r.retryable
	}
	if uncounted {
		r.RateLimited++
	}
	if !ok {
		r.tried, r.retryable = nil, nil
		at, ok = nextAttempt(failure, r.Failures, r.RateLimited, a.Now(), r.deadline())
	}
	if !ok {
		a.giveUp(r, failure, cost)
		return
	}
	r.notBefore, r.ErrorClass, r.Error = at, string(failure.Class), causeText(failure)
	if _, err := a.writer.end(postgres.RunOutcome{
		ID: r.ID, State: "queued", ErrorClass: r.ErrorClass, Error: r.Error, NextAttemptAt: &at,
		Cost: cost, Uncounted: uncounted, Provider: r.Provider,
	}); err != nil {
		a.fail(err)
		return
	}
	fault.Pass(fault.Failed)
	a.queue.add(r)
}

// nextAttempt returns when a run is asked again after so many failures, of which some do not count; false: it is given
// up.
func nextAttempt(last *platform.Error, failures, uncounted int, now, deadline time.Time) (at time.Time, ok bool) {
	isFree := last.Class == platform.RateLimited && last.CostUSD == ""
	if !last.Class.Retryable() || !isFree && failures-uncounted >= maxFailures {
		return time.Time{}, false
	}
	delay := min(firstDelay<<min(failures-1, 6), maxDelay) // 1 s · 2⁶ is longer
	at = now.Add(max(delay, last.RetryAfter))
	return at, at.Before(deadline)
}

// giveUp stores the record of a run that ends without an answer, and reports whether it did.
func (a *asker) giveUp(r *queuedRun, failure *platform.Error, cost string) bool {
	class, cause := failure.Class, causeText(failure)
	run := a.answerRun(r)
	run.EndedAt = a.endTime(r)
	gaveUp := run.GaveUp(&platform.Error{Class: class, Cause: errors.New(cause)})
	record, err := answer.Record(&gaveUp, a.Now())
	if err == nil {
		_, err = a.writer.end(postgres.RunOutcome{
			ID: r.ID, State: "gave_up", ErrorClass: string(class), Error: cause, Provider: r.Provider, Cost: cost,
			Answer: string(record.Value),
		})
	}
	if err != nil {
		a.fail(fmt.Errorf("give up run %s: %w", r.ID, err))
		return false
	}
	a.end(1)
	a.signalRecord()
	a.cancelJobs(r)
	return true
}

// giveUpUnasked gives up a run without a request. Those that are given up at once share a write.
func (a *asker) giveUpUnasked(r *queuedRun, failure *platform.Error, cost string) {
	a.givingUp.Go(func() error {
		if a.giveUp(r, failure, cost) && failure == a.unusable {
			a.metrics.requests.WithLabelValues(a.description.Slug, r.Provider, string(failure.Class)).Inc()
		}
		return nil
	})
}

// giveUpAll gives up every run of an unusable platform.
func (a *asker) giveUpAll(asking context.Context) {
	for _, r := range a.queue.takeAll() {
		if asking.Err() != nil {
			break
		}
		cost := ""
		if r.SubmittedAt != nil { // its capture is paid for
			cost = capture.ListCost(r.Platform, r.Provider)
		}
		a.giveUpUnasked(r, a.unusable, cost)
	}
}

// answerRun returns a run in the form that records are made of.
func (w *worker) answerRun(r *queuedRun) answer.Run {
	return answer.Run{
		Snapshot: w.snapshot, Prompt: w.prompts[r.PromptID], Platform: r.Platform, Model: r.Model, Region: r.Region,
		Language: w.claim.Language, Sample: int64(r.Sample), Due: r.Slot, JobID: &w.claim.ID, Attempts: r.Attempts,
	}
}

// endTime returns the end of a run that ends now, within the day after its slot that records accept. Later, no process
// was there to give it up in time; earlier, the clock of the process that started it is ahead.
func (w *worker) endTime(r *queuedRun) time.Time {
	now := w.Now()
	switch {
	case now.Before(r.Slot):
		return r.Slot
	case now.After(r.deadline()):
		return r.deadline()
	}
	return now
}

// lastFailure returns why the last request of a run failed, or that no request was sent in time.
func lastFailure(r *queuedRun) *platform.Error {
	if r.ErrorClass == "" {
		return &platform.Error{Class: platform.Unavailable, Cause: fmt.Errorf("not asked within %s", runTimeout)}
	}
	return &platform.Error{Class: platform.Class(r.ErrorClass), Cause: errors.New(r.Error)}
}

// causeText returns a failure's cause in the length and characters that records accept.
func causeText(failure *platform.Error) string {
	if failure.Cause == nil {
		return ""
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(failure.Cause.Error(), "\uFFFD"), "\x00", "\uFFFD")
	return strings.ToValidUTF8(text[:min(len(text), event.MaxTitle)], "")
}
