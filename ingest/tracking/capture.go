package tracking

import (
	"context"
	"errors"
	"math/big"
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

// askSurface hands the runs to providers, and polls those that are accepted, until askingRuns ends. The next worker
// polls the others, unless the job was cancelled.
func (a *asker) askSurface(asking, askingRuns, requests context.Context) {
	for _, limit := range a.byProvider {
		defer limit.join(a.claim.OrganizationID)()
	}
	polling, stop := context.WithCancel(requests)
	defer stop()
	defer context.AfterFunc(askingRuns, stop)()
	var polls sync.WaitGroup
	polls.Go(func() {
		for r := range a.jobs.runs(polling, a.Now) {
			polls.Go(func() { a.poll(polling, r) })
		}
	})
	a.routeRuns(askingRuns, requests)
	a.inFlight.Wait()
	polls.Wait()
	var abandoned errgroup.Group
	abandoned.SetLimit(maxPolls)
	for _, r := range a.jobs.takeAll() {
		a.endWait(r)
		r.limit.settle(0, platform.Allowance{})
		if errors.Is(context.Cause(asking), errCancelled) {
			abandoned.Go(func() error {
				r.addLateJob(capture.Job{Provider: r.Provider, ID: r.ProviderJob})
				cost := a.surface.Cost(r.Provider) // it is paid for
				_, err := a.writer.end(postgres.RunOutcome{ID: r.ID, State: "cancelled", Cost: cost})
				a.cancelJobs(r)
				return err
			})
		}
	}
	if err := abandoned.Wait(); err != nil {
		a.fail(err)
	}
}

// routes names the providers that take a run's prompt and cost no more than is left of its estimate, where a budget
// limits cost. The first request may cost what the cheapest one takes: since the job's start they may be others.
func (a *asker) routes(r *queuedRun) ([]string, *platform.Error) {
	names, err := a.surface.Routes(a.answerRun(r).Question())
	if failure, ok := errors.AsType[*platform.Error](err); ok || len(a.prices) == 0 {
		return names, failure
	}
	byPrice := func(x, y string) int { return a.prices[x].Cmp(a.prices[y]) }
	limit := decimal(r.Estimate)
	if cheapest := a.prices[slices.MinFunc(names, byPrice)]; cheapest.Cmp(limit) > 0 {
		limit = cheapest
	}
	left := new(big.Rat).Sub(limit, decimal(r.Cost))
	names = slices.DeleteFunc(names, func(name string) bool { return a.prices[name].Cmp(left) > 0 })
	if len(names) == 0 {
		return nil, lastFailure(r)
	}
	return names, nil
}

// candidates names the providers that a run can be sent to now, and how long until one more takes requests.
func (a *asker) candidates(r *queuedRun) (names []string, wait time.Duration, failure *platform.Error) {
	routes, failure := a.routes(r)
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
	return names, wait, failure
}

// routeRuns hands each run to the first provider that takes it now, until askingRuns ends. Only the runs of the same
// provider wait for one that is busy.
func (a *asker) routeRuns(askingRuns, requests context.Context) {
	queues := map[string]*runQueue{}
	for name := range a.byProvider {
		queue := newRunQueue()
		queues[name] = queue
		a.inFlight.Go(func() { a.sendRequests(askingRuns, requests, queue, name) })
	}
	for r := range a.queue.runs(askingRuns, a.Now) {
		names, wait, failure := a.candidates(r)
		timeLeft := r.deadline().Sub(a.Now())
		switch {
		case failure != nil:
			a.giveUpUnasked(r, failure, "") // no provider takes the prompt, or none is cheap enough
		case timeLeft <= 0:
			a.giveUpUnasked(r, lastFailure(r), "")
		case len(names) > 0:
			queues[names[0]].add(r)
		default:
			if len(r.tried) > 0 { // the others are away, so that those which failed are asked again
				r.tried, r.retryable, wait = nil, nil, firstDelay
			}
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
		r.limit.settle(0, platform.Allowance{}) // another worker waits for it, if any
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

// endWait ends the wait for a run.
func (a *asker) endWait(r *queuedRun) {
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
	late, isLate := a.pollLate(ctx, r, progress)
	now := a.Now()
	switch {
	case progress.Ended:
	case isLate:
		reply, r.replacedCost = late, a.surface.Cost(job.Provider)
		r.addLateJob(job) // not waited for either
	case ctx.Err() != nil:
		a.jobs.add(r)
		return
	case a.isOverdue(r, progress, now):
		r.addLateJob(job)
		cause := errors.New("no capture came in time from " + r.Provider)
		err = &platform.Error{Class: platform.Timeout, Cause: cause, CostUSD: a.surface.Cost(r.Provider)}
	default:
		r.polledAt, r.notBefore = now, now.Add(capture.PollDelay(r.polls, progress))
		r.polls++
		a.jobs.add(r)
		return
	}
	a.endWait(r)
	a.endRequest(ctx, r, now.Sub(*r.SubmittedAt), 0, reply, err)
}

// fetch polls a job, unless its provider takes no polls. An error ends the job.
func (a *asker) fetch(
	ctx context.Context, r *queuedRun, job capture.Job,
) (reply platform.Reply, progress capture.Progress, err error) {
	progress.Lost = a.accountOf(job.Provider).poll(ctx, func() *platform.Error {
		reply, progress, err = a.surface.Poll(ctx, job, a.answerRun(r).Question())
		reply.Raw = nil // it is large, and no record has it
		if ctx.Err() == nil {
			a.metrics.polls.WithLabelValues(job.Provider, outcomeOf(progress.Lost)).Inc()
		}
		return progress.Lost
	})
	return reply, progress, err
}

// addLateJob adds a job whose capture the run does not wait for.
func (r *queuedRun) addLateJob(job capture.Job) {
	r.LateJobs = append(r.LateJobs, job.Provider+" "+job.ID)
}

// cancelJobs ends the jobs of a run that is stored as ended, where their providers can end jobs and take polls. Others
// end by themselves.
func (a *asker) cancelJobs(r *queuedRun) {
	ctx := context.WithoutCancel(a.writer.ctx)
	for _, text := range r.LateJobs {
		provider, id, _ := strings.Cut(text, " ")
		if a.surface == nil || !capture.Cancels(provider) || a.accountOf(provider).losesPolls() {
			continue
		}
		_ = a.accountOf(provider).poll(ctx, func() *platform.Error { // its cost is counted in any case
			err := a.surface.Cancel(ctx, capture.Job{Provider: provider, ID: id})
			failure, _ := errors.AsType[*platform.Error](err)
			return failure
		})
	}
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
// lost nothing is known of it. A job that goes on is waited for until the run's deadline if another one is too
// expensive.
func (a *asker) isOverdue(r *queuedRun, p capture.Progress, now time.Time) bool {
	if p.Running && r.runningSince.IsZero() {
		r.runningSince = now
	}
	if p.IsAnswered() {
		r.answeredPolls++
	}
	tookTooLong := now.Sub(*r.SubmittedAt) > capture.MaxWaiting ||
		!r.runningSince.IsZero() && now.Sub(r.runningSince) > capture.MaxRunning
	tookTooLong = tookTooLong && p.IsAnswered() && r.answeredPolls >= minAnswered
	if tookTooLong && p.Lost == nil {
		next := *r
		next.pay(a.surface.Cost(r.Provider))
		_, failure := a.routes(&next)
		tookTooLong = failure == nil
	}
	return tookTooLong || now.After(r.deadline())
}
