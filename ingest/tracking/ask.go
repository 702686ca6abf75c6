package tracking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/postgres"
)

// asker asks the runs of one job and platform.
type asker struct {
	*worker
	description platform.Description
	platform    platform.Platform
	unusable    *platform.Error // why the platform cannot be asked; nil: it can
	gate        *gate
	runs        *runs
}

// ask asks until every run has ended, or asking has; then it waits for the requests in flight.
func (a *asker) ask(ctx, asking, requests context.Context) {
	if a.unusable != nil {
		a.giveUpAll(asking)
		return
	}
	var inFlight sync.WaitGroup
	defer inFlight.Wait()
	for {
		r, ok := a.runs.next(asking, a.Now)
		if !ok {
			return
		}
		expected, err := a.enter(asking, r)
		if err != nil {
			if asking.Err() == nil { // its time is over
				a.giveUp(r, lastFailure(r))
			}
			continue
		}
		inFlight.Go(func() { a.askOnce(ctx, requests, r, expected) })
	}
}

// enter waits until a run may be asked, and returns how many tokens are expected of it. The error is that of asking, or
// that the run's time is over.
func (a *asker) enter(asking context.Context, r *run) (expected int, err error) {
	left := r.deadline().Sub(a.Now())
	if left <= 0 {
		return 0, context.DeadlineExceeded
	}
	within, done := context.WithTimeout(asking, left)
	defer done()
	if err := a.Room(within); err != nil {
		return 0, err
	}
	return a.gate.enter(within)
}

// askOnce sends a request of a run, of which so many tokens are expected, leaves the gate, and stores what comes of it.
func (a *asker) askOnce(ctx, requests context.Context, r *run, expected int) {
	may, err := a.ledger.ask(r.ID)
	if err != nil || !may {
		a.gate.leave(expected, 0)
		a.notAsked(r, err)
		return
	}
	r.Attempts++
	limited, done := context.WithTimeout(requests, min(attemptTimeout, r.deadline().Sub(a.Now())))
	defer done()
	began := time.Now()
	question := a.runOf(r).Question()
	reply, err := a.platform.Ask(limited, question)
	took := time.Since(began)
	a.gate.leave(expected, tokensOf(reply)) // and not after the write: PostgreSQL's time is none of the platform's
	fault.Pass(fault.Asked)
	if requests.Err() != nil && err != nil {
		return // the process stops, and does not know what becomes of the request
	}
	failure := failureOf(limited, err)
	a.metrics.observe(a.description.Slug, took, reply, failure)
	if failure == nil {
		failure = a.answered(ctx, r, reply, took)
	}
	if failure != nil {
		a.failed(r, failure)
	}
}

// notAsked gives back a run that was not asked: it has ended elsewhere, or its question is being asked.
func (a *asker) notAsked(r *run, err error) {
	if err != nil {
		a.fail(err)
		return
	}
	a.runs.setWaiting(r)
}

// tokensOf is how many tokens an answer took; 0: not known.
func tokensOf(reply platform.Reply) int {
	if reply.Usage == nil {
		return 0
	}
	return int(reply.Usage.InputTokens + reply.Usage.OutputTokens)
}

// failureOf is why a request failed; nil if it did not.
func failureOf(limited context.Context, err error) *platform.Error {
	failure, ok := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		return nil
	case ok:
		return failure
	case limited.Err() != nil:
		return &platform.Error{Class: platform.Timeout, Cause: fmt.Errorf("no answer within %s", attemptTimeout)}
	}
	return &platform.Error{Class: platform.Unavailable, Cause: err}
}

// answered stores the record of an answer, for runs of other jobs too that wait with the same question. The failure is
// that it makes no record.
func (a *asker) answered(ctx context.Context, r *run, reply platform.Reply, took time.Duration) *platform.Error {
	ended := a.runOf(r)
	ended.EndedAt, ended.Latency = a.endOf(r), took
	record := ended.Answered(a.description.Priced(reply, r.Model))
	cost := ""
	if record.Usage != nil {
		cost = record.Usage.CostUSD
	}
	encoded, err := answer.Record(&record, ended.EndedAt)
	if err != nil {
		return &platform.Error{Class: platform.ChangedShape, Cause: err}
	}
	outcome := postgres.RunOutcome{ID: r.ID, State: "answered", Answer: string(encoded.Value), Cost: cost}
	others, err := a.ledger.end(outcome)
	if err != nil {
		a.fail(err)
		return nil
	}
	fault.Pass(fault.Answered)
	a.runs.done()
	a.signal()
	if others {
		a.answerSame(ctx, r, record)
	}
	return nil
}

// answerSame stores the answer for runs of other jobs that wait with the same question, each under its own id.
func (a *asker) answerSame(ctx context.Context, r *run, record event.Answer) {
	same, err := a.claim.IdenticalRuns(ctx, r.ID)
	if err != nil {
		a.log.Warn("other jobs with the same question unknown", "job", a.claim.ID, "cause", err, "next", "nothing: they ask it themselves")
		return
	}
	for _, s := range same {
		record.ID, record.JobID, record.Usage = s.AnswerID, &s.JobID, nil // what it cost is counted once
		encoded, err := answer.Record(&record, a.Now())
		if err == nil {
			outcome := postgres.RunOutcome{ID: s.ID, State: "answered", Answer: string(encoded.Value), Cost: "0"}
			err = a.claim.EndIdenticalRun(ctx, s.JobID, outcome)
		}
		if err != nil {
			a.log.Warn("answer not given to another job with the same question", "job", s.JobID, "cause", err, "next", "nothing: it asks itself")
		}
	}
}

// failed stores that a request failed: the run is asked again later, or given up.
func (a *asker) failed(r *run, failure *platform.Error) {
	r.Failures++
	if failure.Class == platform.RateLimited {
		r.RateLimited++
	}
	at, ok := again(failure, r.Failures, r.RateLimited, a.Now(), r.deadline())
	if !ok {
		a.giveUp(r, failure)
		return
	}
	r.at, r.ErrorClass, r.Error = at, string(failure.Class), causeOf(failure)
	outcome := postgres.RunOutcome{ID: r.ID, State: "queued", ErrorClass: r.ErrorClass, Error: r.Error, NextAttemptAt: &at}
	if _, err := a.ledger.end(outcome); err != nil {
		a.fail(err)
		return
	}
	a.runs.retry(r)
}

// giveUp stores the record of a run that ends without an answer.
func (a *asker) giveUp(r *run, failure *platform.Error) {
	outcome, err := a.gaveUp(r, failure)
	if err == nil {
		_, err = a.ledger.end(outcome)
	}
	if err != nil {
		a.fail(fmt.Errorf("give up run %s: %w", r.ID, err))
		return
	}
	a.runs.done()
	a.signal()
}

// giveUpAll gives up every run, hundreds a transaction.
func (a *asker) giveUpAll(asking context.Context) {
	for asking.Err() == nil {
		var outcomes []postgres.RunOutcome
		for size := 0; len(outcomes) < 500 && size < maxBatch; size += len(outcomes[len(outcomes)-1].Answer) {
			r := a.runs.takeAny()
			if r == nil {
				break
			}
			outcome, err := a.gaveUp(r, a.unusable)
			if err != nil {
				a.fail(fmt.Errorf("give up run %s: %w", r.ID, err))
				return
			}
			outcomes = append(outcomes, outcome)
		}
		if len(outcomes) == 0 {
			return
		}
		if err := a.ledger.endAll(outcomes); err != nil {
			a.fail(fmt.Errorf("give up runs of %s: %w", a.description.Slug, err))
			return
		}
		a.metrics.requests.WithLabelValues(a.description.Slug, string(a.unusable.Class)).Add(float64(len(outcomes)))
		a.signal()
	}
}

// gaveUp is how a run ends without an answer.
func (a *asker) gaveUp(r *run, failure *platform.Error) (postgres.RunOutcome, error) {
	failure = &platform.Error{Class: failure.Class, Cause: errors.New(causeOf(failure))}
	ended := a.runOf(r)
	ended.EndedAt = a.endOf(r)
	record := ended.GaveUp(failure)
	encoded, err := answer.Record(&record, a.Now())
	return postgres.RunOutcome{ID: r.ID, State: "gave_up", Answer: string(encoded.Value), ErrorClass: string(failure.Class), Error: causeOf(failure)}, err
}

// runOf is a run as its record is made of.
func (w *worker) runOf(r *run) answer.Run {
	return answer.Run{
		Snapshot: w.snapshot, Prompt: w.prompts[r.PromptID], Platform: r.Platform, Model: r.Model, Region: r.Region,
		Language: w.claim.Language, Sample: int64(r.Sample), Due: r.Slot, JobID: &w.claim.ID, Attempts: r.Attempts,
	}
}

// endOf is when a run that ends now does so, as records take it: within a day of its slot. Later, no process was there
// to give it up in time; before, the clock of the process that started it is ahead.
func (w *worker) endOf(r *run) time.Time {
	now := w.Now()
	switch {
	case now.Before(r.Slot):
		return r.Slot
	case now.After(r.deadline()):
		return r.deadline()
	}
	return now
}

// lastFailure is why the last request of a run failed; that it was not asked in time, if there was none.
func lastFailure(r *run) *platform.Error {
	if r.ErrorClass == "" {
		return &platform.Error{Class: platform.Unavailable, Cause: fmt.Errorf("not asked within %s", runTimeout)}
	}
	return &platform.Error{Class: platform.Class(r.ErrorClass), Cause: errors.New(r.Error)}
}

// causeOf is a failure's cause as records take it.
func causeOf(failure *platform.Error) string {
	if failure.Cause == nil {
		return ""
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(failure.Cause.Error(), "\uFFFD"), "\x00", "\uFFFD")
	for len(text) > event.MaxTitle {
		text = strings.ToValidUTF8(text[:event.MaxTitle], "")
	}
	return text
}

func (m *metrics) observe(slug string, took time.Duration, reply platform.Reply, failure *platform.Error) {
	outcome := outcomeAnswered
	if failure != nil {
		outcome = string(failure.Class)
	}
	m.requests.WithLabelValues(slug, outcome).Inc()
	m.seconds.WithLabelValues(slug).Observe(took.Seconds())
	m.unknown.WithLabelValues(slug).Add(float64(len(reply.Unknown)))
}
