// Package capture asks consumer surfaces: what people see in the products of AI platforms, beside what their APIs
// answer. Accounts at capture providers see it for us. table.go lists which provider captures which surface, and its
// price; a file for each provider has its requests and the reader of its payloads; job.go waits for a capture.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
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
	// read reads the payload of submit or fetch. The reply has no provider, and a cost only where the payload names
	// one. An error without a cost is paid at the list's price, unless its class is one of refusals.
	read func(r request, payload []byte) (platform.Reply, error)
	// cancel ends an abandoned job; nil: it cannot be ended.
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

// Account is an account at a provider.
type Account struct {
	Provider  string // slug
	Key       string
	BaseURL   string // the part before the version; "" the provider's own
	Zone      string // of Bright Data's SERP API; "": it captures no overviews
	CreditUSD string // what a credit of Cloro costs; "": the most expensive plan's
}

// Client asks one surface.
type Client struct {
	surface surface
	routes  []route // in the order in which they are tried
}

// route is a provider that captures the surface of a client.
type route struct {
	provider
	offer   offer
	account account
}

// Open returns the client of a surface, which tries the accounts in their order.
func Open(slug string, accounts []Account) (*Client, error) {
	client := &Client{surface: surfaces[indexOf(slug)]}
	for _, a := range accounts {
		p := findProvider(a.Provider)
		opened, err := wire.NewAccount(a.Key, a.BaseURL, p.baseURL, p.authorize)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		account := account{Account: opened, zone: a.Zone, creditUSD: cmp.Or(a.CreditUSD, defaultCredit)}
		client.routes = append(client.routes, route{*p, offerOf(slug, a.Provider), account})
	}
	return client, nil
}

// Routes names the providers that take a question, in the order in which they are tried. None is an error of class
// invalid: a prompt is never cut.
func (c *Client) Routes(q platform.Question) ([]string, error) {
	var names []string
	longest, length := 0, utf8.RuneCountInString(q.Text)
	for _, r := range c.routes {
		longest = max(longest, r.offer.maxPrompt)
		if r.offer.maxPrompt == 0 || length <= r.offer.maxPrompt {
			names = append(names, r.Slug)
		}
	}
	if len(names) == 0 {
		cause := fmt.Errorf("the prompt has %d characters: want at most %d", length, longest)
		return nil, &platform.Error{Class: platform.Invalid, Cause: cause}
	}
	return names, nil
}

// Ask tries one provider after the other, each once, and waits for its capture.
func (c *Client) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	names, err := c.Routes(q)
	if err != nil {
		return platform.Reply{}, err
	}
	var last *platform.Error
	for _, name := range names {
		reply, err := c.await(ctx, name, q)
		failure, ok := errors.AsType[*platform.Error](err)
		if !ok {
			return reply, err
		}
		if last != nil && last.RetryAfter > 0 && (failure.RetryAfter == 0 || last.RetryAfter < failure.RetryAfter) {
			failure.RetryAfter = last.RetryAfter
		}
		if last = failure; !FailsOver(failure.Class) {
			break
		}
	}
	return platform.Reply{}, last
}

// FailsOver reports whether the next provider is asked after a failure: not where the question, the reader or the money
// is at fault.
func FailsOver(class platform.Class) bool {
	return class == platform.Unavailable || class == platform.Quota || class == platform.Auth ||
		class == platform.RateLimited
}

const (
	overview  = "google-ai-overview"
	maxJobID  = 512            // bytes
	maxClosed = 24 * time.Hour // a longer pause of an account is taken for a mistake
)

// Submit sends a question to a provider once. It returns a job to wait for or, with a job without an id, the reply.
func (c *Client) Submit(
	ctx context.Context, provider string, q platform.Question, run uuid.UUID, notify string,
) (Job, platform.Reply, error) {
	r, ok := c.route(provider)
	if !ok {
		return Job{}, platform.Reply{}, missingKey(provider)
	}
	request := c.request(r, q)
	request.id, request.notify = run.String(), notify
	allowance := &platform.Allowance{}
	request.account.Allowance = allowance
	s, err := r.submit(ctx, request)
	if err == nil && (len(s.jobID) > maxJobID || strings.ContainsRune(s.jobID, 0) || !utf8.ValidString(s.jobID)) {
		err = wire.ChangedShape("the job's id is no text of at most %d bytes", maxJobID)
	}
	var reply platform.Reply
	switch failure, classified := errors.AsType[*platform.Error](err); {
	case err == nil && s.jobID == "":
		reply, err = c.read(r, request, s)
	case !classified:
	case failure.Class == platform.Timeout || failure.Class == platform.ChangedShape: // it may have been accepted
		r.charge(failure, max(s.pages, 1))
	default:
		r.charge(failure, s.pages-1) // the last page is refused
	}
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.Allowance = *allowance
		if failure.Class == platform.RateLimited {
			pause := max(allowance.ClosedFor, cmp.Or(failure.RetryAfter, minPause))
			failure.Allowance.ClosedFor = min(pause, maxClosed)
		}
	}
	reply.Allowance = *allowance
	return Job{provider, s.jobID}, reply, err
}

// Cost returns the list's price of one capture at a provider, in US dollars.
func (c *Client) Cost(provider string) string {
	if r, ok := c.route(provider); ok {
		return r.cost(1)
	}
	return ListCost(c.surface.Slug, provider)
}

// ListCost returns the price of one capture at an account of no special plan; "" if the provider captures no such
// surface.
func ListCost(slug, provider string) string {
	if !slices.Contains(Offers(slug), provider) {
		return ""
	}
	return route{offer: offerOf(slug, provider)}.cost(1)
}

// HighestPrice returns what a capture costs at most at one of the accounts, with a second page where there may be one.
func HighestPrice(slug string, accounts []Account) *platform.Price {
	highest := new(big.Rat)
	for _, a := range accounts {
		cost := offerOf(slug, a.Provider).cost(a.CreditUSD)
		if a.Provider == serpAPI.Slug && slug == overview {
			cost.Mul(cost, big.NewRat(2, 1))
		}
		if cost.Cmp(highest) > 0 {
			highest = cost
		}
	}
	return &platform.Price{Currency: "USD", Date: pricesOf, PerThousandRequests: highest.FloatString(6)}
}

// charge sets what so many pages cost by the list, unless the failure has a cost.
func (r route) charge(failure *platform.Error, pages int) {
	if pages > 0 && failure.CostUSD == "" {
		failure.CostUSD = r.cost(pages)
	}
}

// cost returns the list's price of so many pages.
func (r route) cost(pages int) string {
	sum := r.offer.cost(r.account.creditUSD)
	cost, _ := event.Decimal(sum.Mul(sum, big.NewRat(int64(pages), 1000)).FloatString(9))
	return cost
}

func (c *Client) route(provider string) (r route, ok bool) {
	i := slices.IndexFunc(c.routes, func(r route) bool { return r.Slug == provider })
	if i < 0 {
		return route{}, false
	}
	return c.routes[i], true
}

func missingKey(provider string) *platform.Error {
	cause := fmt.Errorf("there is no key of %s any more", provider)
	return &platform.Error{Class: platform.Unavailable, Cause: cause}
}

func (c *Client) request(r route, q platform.Question) request {
	return request{Question: q, surface: c.surface.Slug, source: r.offer.source, account: r.account}
}

// read reads a payload, and adds what the reader does not know.
func (c *Client) read(r route, request request, s submission) (platform.Reply, error) {
	reply, err := r.read(request, s.payload)
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.Raw = s.payload
		if !failure.Class.Refused() {
			r.charge(failure, max(s.pages, 1))
		}
	}
	if err != nil {
		return platform.Reply{}, err
	}
	reply.Provider, reply.Surface, reply.Raw = r.Slug, event.SurfaceConsumer, s.payload
	usage := event.Usage{}
	if reply.Usage != nil {
		usage = *reply.Usage
	}
	if usage.CostUSD == "" {
		usage.CostUSD = r.cost(max(s.pages, 1))
	}
	reply.Usage = &usage
	return reply, nil
}
