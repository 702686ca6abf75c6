package tracking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/postgres"
)

// awaitCaptures polls the runs that providers have accepted while running goes on. finish ends the polls: the next
// worker goes on with the others, unless the job was cancelled.
func (a *asker) awaitCaptures(asking, running, requests context.Context) (finish func()) {
	var leave []func()
	for _, limit := range a.byProvider {
		leave = append(leave, limit.join(a.claim.OrganizationID))
	}
	polling, stop := context.WithCancel(requests)
	detach := context.AfterFunc(running, stop)
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
		polls.Wait()
		var left errgroup.Group
		left.SetLimit(maxPolls)
		for _, r := range a.jobs.takeAll() {
			a.leave(r)
			r.limit.settle(0, platform.Allowance{})
			if errors.Is(context.Cause(asking), errCancelled) {
				left.Go(func() error { a.abandon(requests, r); return nil })
			}
		}
		_ = left.Wait() // abandon reports its errors itself
		detach()
		stop()
		for _, f := range leave {
			f()
		}
	}
}

// abandon ends a run of a cancelled job whose capture is paid for.
func (a *asker) abandon(ctx context.Context, r *queuedRun) {
	_ = a.surface.Cancel(ctx, capture.Job{Provider: r.Provider, ID: r.ProviderJob}) // else it ends by itself
	_, err := a.writer.end(postgres.RunOutcome{ID: r.ID, State: "cancelled", Cost: a.surface.Cost(r.Provider)})
	if err != nil {
		a.fail(err)
	}
}

// candidates names the providers that a run can be sent to now, and how long until one more takes requests.
func (a *asker) candidates(r *queuedRun) (names []string, wait time.Duration, err error) {
	routes, err := a.surface.Routes(a.answerRun(r).Question())
	tooDear := func(name string) bool { return !r.canPay(a.prices[name]) }
	if routes = slices.DeleteFunc(routes, tooDear); err == nil && len(routes) == 0 {
		err = lastFailure(r)
	}
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

// routeRuns hands each run to the first provider that takes it now, until running ends. Only the runs of the same
// provider wait for one that is busy.
func (a *asker) routeRuns(running, requests context.Context) {
	lanes := map[string]*runQueue{}
	for name := range a.byProvider {
		lane := newRunQueue()
		lanes[name] = lane
		a.inFlight.Go(func() { a.sendRequests(running, requests, lane, name) })
	}
	for {
		r, ok := a.queue.next(running, a.Now)
		if !ok {
			return
		}
		names, wait, err := a.candidates(r)
		timeLeft := r.deadline().Sub(a.Now())
		switch failure, ok := errors.AsType[*platform.Error](err); {
		case ok:
			a.giveUp(r, failure, "") // no provider takes the prompt, or none is cheap enough
		case timeLeft <= 0:
			a.giveUp(r, lastFailure(r), "")
		case len(names) > 0:
			lanes[names[0]].add(r)
		default:
			r.notBefore = a.Now().Add(min(wait, timeLeft))
			a.queue.add(r)
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

// submissionID names a submission to a provider that knows idempotency keys: it is another one only after a job of the
// run has ended or was paid for. The outcome of other failures may be unknown.
func submissionID(r *queuedRun) uuid.UUID {
	if r.ProviderJob == "" && decimal(r.Cost).Sign() == 0 {
		return r.ID
	}
	return uuid.NewV5(r.ID, r.ProviderJob+" "+r.Cost)
}

// storeJob stores the job that a provider has accepted. From then on it is waited for, also after a restart.
func (a *asker) storeJob(r *queuedRun, job capture.Job) {
	now := a.Now()
	r.ProviderJob, r.SubmittedAt = job.ID, &now
	fault.Pass(fault.Asked)
	if _, err := a.writer.end(postgres.RunOutcome{
		ID: r.ID, State: "asking", Provider: r.Provider, ProviderJob: job.ID, SubmittedAt: &now,
	}); err != nil {
		r.limit.settle(0, platform.Allowance{}) // another worker waits for it, or nobody
		a.fail(err)
		return
	}
	fault.Pass(fault.Accepted)
	a.await(r, capture.PollDelay(0, capture.Progress{}))
}

// await adds a run that a provider has accepted to those that are polled.
func (a *asker) await(r *queuedRun, delay time.Duration) {
	r.notBefore = a.Now().Add(delay)
	a.awaited.Store(r.ID, a.jobs)
	a.metrics.awaited.WithLabelValues(r.Provider).Inc()
	a.jobs.add(r)
}

// leave ends the wait for a run.
func (a *asker) leave(r *queuedRun) {
	a.awaited.Delete(r.ID)
	a.metrics.awaited.WithLabelValues(r.Provider).Dec()
}

// adopt goes on with a run that a provider has accepted under an earlier claim, after a delay.
func (a *asker) adopt(r *queuedRun, delay time.Duration) {
	r.limit = a.accountOf(r.Provider)
	r.limit.adopt()
	a.await(r, delay)
}

// accountOf returns the limit of a provider's account, also of one whose key is gone, which the poll finds.
func (a *asker) accountOf(provider string) *rateLimit {
	if limit := a.byProvider[provider]; limit != nil {
		return limit
	}
	return a.limits.account(Platform{Description: platform.Description{Slug: provider}})
}

// poll asks once for the job of a run, and for those that took too long.
func (a *asker) poll(ctx context.Context, r *queuedRun) {
	job := capture.Job{Provider: r.Provider, ID: r.ProviderJob}
	reply, progress, err := a.fetch(ctx, r, job)
	if late, ok := a.pollLate(ctx, r, progress); ok {
		_ = a.surface.Cancel(ctx, job)                    // else it ends by itself
		late.Usage.CostUSD = a.surface.Cost(job.Provider) // its own is counted
		reply, progress.Ended, err = late, true, nil
	}
	now := a.Now()
	switch {
	case progress.Ended:
	case err != nil:
		a.jobs.add(r)
		return
	case a.isOverdue(r, progress, now):
		_ = a.surface.Cancel(ctx, job) // else it ends by itself
		r.LateJobs = append(r.LateJobs, job.Provider+" "+job.ID)
		cause := errors.New("no capture came in time from " + r.Provider)
		err = &platform.Error{Class: platform.Timeout, Cause: cause, CostUSD: a.surface.Cost(r.Provider)}
	default:
		r.polledAt, r.notBefore = now, now.Add(capture.PollDelay(r.polls, progress))
		r.polls++
		a.jobs.add(r)
		return
	}
	a.leave(r)
	a.endRequest(ctx, r, now.Sub(*r.SubmittedAt), 0, reply, err)
}

// fetch polls a job, unless its provider takes no polls.
func (a *asker) fetch(
	ctx context.Context, r *queuedRun, job capture.Job,
) (reply platform.Reply, progress capture.Progress, err error) {
	limit := a.accountOf(job.Provider)
	if err := limit.polling.Acquire(ctx, 1); err != nil {
		return reply, progress, context.Cause(ctx)
	}
	defer limit.polling.Release(1)
	if progress.Lost = limit.beginPoll(); progress.Lost != nil {
		return reply, progress, nil
	}
	reply, progress, err = a.surface.Poll(ctx, job, a.answerRun(r).Question())
	reply.Raw = nil // it is large, and no record has it
	if err != nil && !progress.Ended {
		limit.cancelPoll() // ctx has ended, which says nothing of the provider
		return reply, progress, err
	}
	limit.endPoll(progress.Lost)
	a.metrics.polls.WithLabelValues(job.Provider, outcomeOf(progress.Lost)).Inc()
	return reply, progress, err
}

// pollLate returns the capture of a job that took too long, if it comes before the next one's.
func (a *asker) pollLate(
	ctx context.Context, r *queuedRun, next capture.Progress,
) (reply platform.Reply, ok bool) {
	for i, text := range slices.Backward(r.LateJobs) {
		if next.Ended || !next.IsAnswered() {
			break
		}
		provider, id, _ := strings.Cut(text, " ")
		reply, progress, err := a.fetch(ctx, r, capture.Job{Provider: provider, ID: id})
		if progress.Ended {
			r.LateJobs = slices.Delete(r.LateJobs, i, i+1)
		}
		if progress.Ended && err == nil {
			return reply, true
		}
	}
	return platform.Reply{}, false
}

// minAnswered is how many polls are answered before a job is given up: after a restart it may have ended long ago.
const minAnswered = 10

// isOverdue reports whether a job has taken too long since its provider began, or since its submission. While polls are
// lost nothing is known of it.
func (a *asker) isOverdue(r *queuedRun, p capture.Progress, now time.Time) bool {
	if p.Running && r.runningSince.IsZero() {
		r.runningSince = now
	}
	if p.IsAnswered() {
		r.answered++
	}
	tookTooLong := now.Sub(*r.SubmittedAt) > capture.MaxWaiting ||
		!r.runningSince.IsZero() && now.Sub(r.runningSince) > capture.MaxRunning
	return now.After(r.deadline()) || tookTooLong && p.IsAnswered() && r.answered >= minAnswered
}
