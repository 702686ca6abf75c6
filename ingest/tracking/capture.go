package tracking

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/postgres"
)

// awaitCaptures polls the runs that providers have accepted. finish returns when all have ended, or the process stops:
// a cancelled job waits for them, as for other requests in flight.
func (a *asker) awaitCaptures(asking, requests context.Context) (finish func()) {
	var leave []func()
	for _, limit := range a.byProvider {
		leave = append(leave, limit.join(a.claim.OrganizationID))
	}
	polling, stop := context.WithCancel(requests)
	detach := context.AfterFunc(asking, func() {
		if !errors.Is(context.Cause(asking), errCancelled) {
			stop()
		}
	})
	var polls sync.WaitGroup
	polls.Go(func() {
		for {
			r, ok := a.jobs.next(polling, a.Now)
			if !ok {
				return
			}
			polls.Go(func() { a.poll(polling, r) })
		}
	})
	return func() {
		a.jobs.close()
		polls.Wait()
		for _, r := range a.jobs.takeAll() { // which the next worker polls
			a.awaited.Delete(r.ID)
			r.limit.settle(0, platform.Allowance{})
		}
		detach()
		stop()
		for _, f := range leave {
			f()
		}
	}
}

// candidates names the providers that a run can be sent to now, and how long until one more takes requests.
func (a *asker) candidates(r *queuedRun) (names []string, wait time.Duration, err error) {
	routes, err := a.surface.Routes(a.answerRun(r).Question())
	wait = time.Hour
	for _, name := range routes {
		closed := a.byProvider[name].closedFor()
		switch {
		case slices.Contains(r.tried, name):
		case closed > 0:
			wait = min(wait, closed)
		default:
			names = append(names, name)
		}
	}
	return names, wait, err
}

// acquireProvider waits until a provider takes a request of a run. It passes over those that fail or are closed, not
// those that are busy.
func (a *asker) acquireProvider(ctx context.Context, r *queuedRun) (reserved float64, err error) {
	for {
		names, wait, err := a.candidates(r)
		if err != nil {
			return 0, err
		}
		var changed <-chan struct{}
		if len(names) > 0 {
			r.Provider, r.limit = names[0], a.byProvider[names[0]]
			if reserved, wait, changed = r.limit.tryAcquire(); wait == 0 {
				return reserved, nil
			}
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-changed:
		case <-time.After(min(wait, leaseRetry)):
		}
	}
}

// failOver reports whether another provider is asked at once.
func (a *asker) failOver(r *queuedRun, failure *platform.Error) bool {
	if a.surface == nil || !capture.FailsOver(failure.Class) {
		return false
	}
	r.tried = append(r.tried, r.Provider)
	if failure.Class.Retryable() {
		r.retryable = failure
	}
	names, _, _ := a.candidates(r)
	return len(names) > 0
}

// failureCost returns the price of a capture that was paid for in vain; "" nothing.
func (a *asker) failureCost(r *queuedRun, failure *platform.Error) string {
	paid := failure.Class == platform.Timeout || failure.Class == platform.ChangedShape ||
		failure.Class == platform.ContentFiltered
	if a.surface == nil || !paid {
		return ""
	}
	return a.surface.Cost(r.Provider)
}

// submissionID names a submission to a provider that knows idempotency keys: it is the same again after an unknown
// outcome, and another one after a failure.
func submissionID(r *queuedRun) uuid.UUID {
	if r.Failures == 0 {
		return r.ID
	}
	return uuid.NewV5(r.ID, strconv.Itoa(r.Failures))
}

// storeJob stores the job that a provider has accepted. From then on it is waited for, also after a restart.
func (a *asker) storeJob(r *queuedRun, job capture.Job) {
	now := a.Now()
	r.ProviderJob, r.SubmittedAt = job.ID, &now
	fault.Pass(fault.Asked)
	if _, err := a.writer.end(postgres.RunOutcome{
		ID: r.ID, State: "asking", Provider: r.Provider, ProviderJob: job.ID, SubmittedAt: &now,
	}); err != nil {
		a.fail(err)
		return
	}
	fault.Pass(fault.Accepted)
	a.await(r)
}

// await adds a run that a provider has accepted to those that are polled.
func (a *asker) await(r *queuedRun) {
	r.notBefore = a.Now().Add(capture.PollDelay(r.polls, capture.Progress{}))
	a.awaited.Store(r.ID, a.jobs)
	a.jobs.add(r)
}

// adopt goes on with a run that a provider has accepted under an earlier claim.
func (a *asker) adopt(r *queuedRun) {
	if r.limit = a.byProvider[r.Provider]; r.limit == nil { // the key is gone, which the poll finds
		for _, limit := range a.byProvider {
			r.limit = limit
		}
	}
	r.limit.adopt()
	a.queue.adopt()
	a.await(r)
}

// poll asks once for the job of a run.
func (a *asker) poll(ctx context.Context, r *queuedRun) {
	job := capture.Job{Provider: r.Provider, ID: r.ProviderJob}
	reply, progress, err := a.surface.Poll(ctx, job, a.answerRun(r).Question())
	now := a.Now()
	switch {
	case progress.Ended:
	case err != nil:
		a.jobs.retry(r)
		return
	case a.isOverdue(r, progress, now):
		_ = a.surface.Cancel(ctx, job) // else it ends by itself
		err = &platform.Error{Class: platform.Timeout, Cause: errors.New("no capture came in time from " + r.Provider)}
	default:
		r.polledAt, r.notBefore = now, now.Add(capture.PollDelay(r.polls, progress))
		r.polls++
		a.jobs.retry(r)
		return
	}
	a.awaited.Delete(r.ID)
	a.endRequest(ctx, r, now.Sub(*r.SubmittedAt), 0, reply, err)
	a.jobs.done()
}

// isOverdue reports whether a job has taken too long since its provider began, or since its submission.
func (a *asker) isOverdue(r *queuedRun, p capture.Progress, now time.Time) bool {
	if p.Running && r.runningSince.IsZero() {
		r.runningSince = now
	}
	return now.Sub(*r.SubmittedAt) > capture.MaxWaiting || now.After(r.deadline()) ||
		!r.runningSince.IsZero() && now.Sub(r.runningSince) > capture.MaxRunning
}
