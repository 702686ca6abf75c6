// Package capture asks consumer surfaces: what people see in the products of AI platforms, beside what their APIs
// answer. Accounts at capture providers see it for us. table.go says which provider captures which surface, and at which
// price; a file for each provider has its requests and the reader of its payloads; job.go waits for a capture.
package capture

import (
	"context"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// provider captures surfaces. One that answers at once has no fetch.
type provider struct {
	platform.Description // slug, name, limits of a new account
	baseURL              string
	authorize            wire.Authorization
	hasUser              bool // its key has the form user:password

	// submit sends one request for a capture (the page of a deferred overview is a second one). Its error is a
	// *platform.Error, or the end of ctx.
	submit func(ctx context.Context, r request) (submission, error)
	// fetch asks once for the state of a job, and for its payload. Its error is a *platform.Error, or the end of ctx; a
	// failed job is an error of the state failed.
	fetch func(ctx context.Context, a account, jobID string) ([]byte, state, error)
	// read reads the payload of submit or fetch. The reply has no provider and, unless the payload says it, no cost.
	read func(r request, payload []byte) (platform.Reply, error)
	// cancel ends a job that nobody waits for; nil: it cannot be ended.
	cancel func(ctx context.Context, a account, jobID string) error
}

// account is an account at a provider.
type account struct {
	wire.Account
	zone      string // Bright Data: of its SERP API
	creditUSD string // Cloro: what a credit costs, a decimal number
}

// request is one capture.
type request struct {
	platform.Question
	surface string // such as "google-ai-mode"
	source  string // the provider's own name of the surface: an engine, source, data set or type of task
	id      string // of the run: a provider that knows idempotency keys gets it
	notify  string // the URL that the provider calls once the capture is there; "": none
	account account
}

// submission is what a provider answers to a request: a job to wait for, or the payload.
type submission struct {
	jobID   string
	payload []byte
	pages   int // that are paid for; 0 is one
}

// state is the state of a job.
type state int

const (
	queued  state = iota // the provider has not begun
	running              // also a state that is not known
	ready                // the payload is there
	failed               // without a charge
)
