package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	firstPoll   = 2 * time.Second // after the submission; half as much more before each further one
	maxPoll     = 10 * time.Second
	pollTimeout = 30 * time.Second
	askInterval = time.Second      // of Ask
	ratePause   = time.Minute      // after a 429 that names no pause
	maxPause    = 10 * time.Minute // between two polls, also where the provider asks for more

	// MaxRunning and MaxWaiting limit a job from its beginning and from its submission.
	MaxRunning = 15 * time.Minute
	MaxWaiting = time.Hour
)

// Job is a capture that a provider has accepted.
type Job struct{ Provider, ID string }

// Progress is the state of a job, as a poll reports it.
type Progress struct {
	Ended   bool
	Running bool            // the provider has begun
	Lost    *platform.Error // why this poll has no state; nil: it has one
}

// IsAnswered reports whether the provider answered, also with something else than the state of the job.
func (p Progress) IsAnswered() bool { return p.Lost == nil || !p.Lost.Class.Retryable() }

// Poll asks once for a job. Only a job that failed and a payload end it, and the loss of the account's key. Until then
// there is no error: a poll that is lost, also by the end of ctx, is repeated.
func (c *Client) Poll(ctx context.Context, j Job, q platform.Question) (platform.Reply, Progress, error) {
	r, err := c.request(j.Provider, q)
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.CostUSD = c.Cost(j.Provider)
		return platform.Reply{}, Progress{Ended: true}, failure
	}
	limited, done := context.WithTimeout(ctx, pollTimeout)
	defer done()
	payload, state, err := r.fetch(limited, j.ID)
	switch {
	case state == ready:
		reply, err := r.reply(payload, 1)
		return reply, Progress{Ended: true}, err
	case err == nil:
		return platform.Reply{}, Progress{Running: state == running}, nil
	case state == failed:
		return platform.Reply{}, Progress{Ended: true}, err
	}
	lost, ok := errors.AsType[*platform.Error](err)
	if !ok { // ctx has ended
		lost = &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	if lost.Class == platform.RateLimited {
		lost.RetryAfter = cmp.Or(lost.RetryAfter, maxPoll)
	}
	lost.RetryAfter = min(lost.RetryAfter, maxPause)
	return platform.Reply{}, Progress{Lost: lost}, nil
}

// jobs describes the polls of a provider.
type jobs struct {
	job      string                    // the path of a job, which its id ends
	status   string                    // the field of a job with its status
	states   map[string]state          // by status; one that is not listed is running
	result   string                    // the path of a payload, with %s for the job's id; "": the job is the payload
	isNotice func(payload []byte) bool // reports whether the payload comes later; nil: it never does
	cancel   string                    // the path that ends a job, with %s for its id; "": it cannot be ended
}

// state is the state of a job.
type state int

const (
	running state = iota
	queued        // the provider has not begun
	ready         // the payload is there
	failed        // without a charge
)

// fetch asks once for the state of a job, and for its payload. Its error is a *platform.Error, or the end of ctx; that
// of a failed job has the state failed.
func (r request) fetch(ctx context.Context, jobID string) ([]byte, state, error) {
	id := url.PathEscape(jobID)
	payload, err := r.account.Get(ctx, r.jobs.job+id)
	if err != nil || len(payload) == 0 {
		return nil, running, err
	}
	job, err := wire.Decode(payload)
	status := job.Text(r.jobs.status)
	switch state := r.jobs.states[status]; {
	case err != nil:
		return nil, running, err
	case state == failed:
		return nil, failed, r.account.Unavailable("the job is %s: %s", status, cmp.Or(reason(job), "no reason"))
	case state == ready && r.jobs.result == "":
		return payload, ready, nil
	case state != ready:
		return nil, state, nil
	}
	payload, err = r.account.Get(ctx, fmt.Sprintf(r.jobs.result, id))
	if err != nil || len(payload) == 0 || r.jobs.isNotice != nil && r.jobs.isNotice(payload) {
		return nil, running, err
	}
	return payload, ready, nil
}

// Cancel ends an abandoned job, where the provider can.
func (c *Client) Cancel(ctx context.Context, j Job) error {
	r, err := c.request(j.Provider, platform.Question{})
	if err != nil || r.jobs.cancel == "" {
		return err
	}
	limited, done := context.WithTimeout(context.WithoutCancel(ctx), pollTimeout)
	defer done()
	_, err = r.account.Post(limited, fmt.Sprintf(r.jobs.cancel, url.PathEscape(j.ID)), wire.Object{})
	return err
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
	for lifecycle.Pause(ctx, max(askInterval, p.pause())) == nil {
		if reply, p, err = c.Poll(ctx, job, q); p.Ended {
			return reply, err
		}
	}
	_ = c.Cancel(ctx, job) // the answer is not waited for in any case
	err = context.Cause(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		cause := fmt.Errorf("no capture came within the time limit from %s", provider)
		if p.Lost != nil {
			cause = fmt.Errorf("%w; the last poll: %w", cause, p.Lost)
		}
		err = &platform.Error{Class: platform.Timeout, Cause: cause}
	}
	return platform.Reply{}, err
}
