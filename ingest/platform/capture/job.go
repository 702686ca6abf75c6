package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	firstPoll   = 2 * time.Second // after the submission; half as much more before each further one
	maxPoll     = 10 * time.Second
	pollTimeout = 30 * time.Second
	askInterval = time.Second      // of Ask
	minPause    = time.Minute      // after a refusal for the rate that names no pause
	maxPause    = 10 * time.Minute // between two polls, also where the provider asks for more

	// MaxRunning and MaxWaiting limit a job from its beginning and from its submission.
	MaxRunning = 15 * time.Minute
	MaxWaiting = time.Hour
)

// Job is a capture that a provider has accepted.
type Job struct{ Provider, ID string }

// Progress is what a poll tells of a job.
type Progress struct {
	Ended   bool
	Running bool            // the provider has begun
	Lost    *platform.Error // why this poll tells nothing of the job; nil: it does
}

// IsHeard reports whether the provider answered, also with something else than the state of the job.
func (p Progress) IsHeard() bool { return p.Lost == nil || !p.Lost.Class.Retryable() }

// Poll asks once for a job. Only a job that failed and a payload end it, and the loss of the account's key. Until then
// there is no error but the end of ctx: a poll that is lost is repeated.
func (c *Client) Poll(ctx context.Context, j Job, q platform.Question) (platform.Reply, Progress, error) {
	r, ok := c.route(j.Provider)
	if !ok {
		failure := missingKey(j.Provider)
		failure.CostUSD = c.Cost(j.Provider)
		return platform.Reply{}, Progress{Ended: true}, failure
	}
	limited, done := context.WithTimeout(ctx, pollTimeout)
	defer done()
	payload, state, err := r.fetch(limited, r.account, j.ID)
	failure, classified := errors.AsType[*platform.Error](err)
	switch {
	case err != nil && ctx.Err() != nil:
		return platform.Reply{}, Progress{}, context.Cause(ctx)
	case classified && state != failed:
		if failure.Class == platform.RateLimited {
			failure.RetryAfter = cmp.Or(failure.RetryAfter, maxPoll)
		}
		failure.RetryAfter = min(failure.RetryAfter, maxPause)
		return platform.Reply{}, Progress{Lost: failure}, nil
	case err == nil && state != ready:
		return platform.Reply{}, Progress{Running: state == running}, nil
	case err != nil:
		return platform.Reply{}, Progress{Ended: true}, err
	}
	reply, err := c.read(r, c.request(r, q), submission{payload: payload})
	return reply, Progress{Ended: true}, err
}

// Cancel ends an abandoned job, where the provider can.
func (c *Client) Cancel(ctx context.Context, j Job) error {
	r, ok := c.route(j.Provider)
	if !ok || r.cancel == nil {
		return nil // without the key it cannot be ended
	}
	limited, done := context.WithTimeout(context.WithoutCancel(ctx), pollTimeout)
	defer done()
	return r.cancel(limited, r.account, j.ID)
}

// pause returns how long a provider asks for no poll.
func (p Progress) pause() time.Duration {
	if p.Lost == nil {
		return 0
	}
	return p.Lost.RetryAfter
}

// PollDelay returns the pause before the next poll after so many.
func PollDelay(polls int, p Progress) time.Duration {
	if pause := p.pause(); pause > 0 {
		return pause
	}
	delay := firstPoll
	for range min(polls, 10) { // by then it is the longest
		delay = min(delay*3/2, maxPoll)
	}
	return time.Duration(float64(delay) * (0.8 + 0.4*rand.Float64()))
}

// await submits a question to a provider and waits for the reply.
func (c *Client) await(ctx context.Context, provider string, q platform.Question) (platform.Reply, error) {
	job, reply, err := c.Submit(ctx, provider, q, uuid.Must(uuid.NewV4()), "")
	if err != nil || job.ID == "" {
		return reply, err
	}
	var p Progress
	for {
		err := lifecycle.Pause(ctx, max(askInterval, p.pause()))
		if err == nil {
			reply, p, err = c.Poll(ctx, job, q)
		}
		switch {
		case p.Ended:
			return reply, err
		case err != nil:
			_ = c.Cancel(ctx, job) // the answer is not waited for in any case
			if errors.Is(err, context.DeadlineExceeded) {
				cause := fmt.Errorf("no capture came within the time limit from %s", provider)
				if p.Lost != nil {
					cause = fmt.Errorf("%w; the last poll: %w", cause, p.Lost)
				}
				err = &platform.Error{Class: platform.Timeout, Cause: cause}
			}
			return platform.Reply{}, err
		}
	}
}
