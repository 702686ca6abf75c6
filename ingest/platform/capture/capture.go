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
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/text/language"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// provider captures surfaces.
type provider struct {
	platform.Description // slug, name, limits of a new account
	baseURL              string
	authorize            wire.Authorization
	hasUser              bool          // its key has the form user:password
	minPause             time.Duration // the shortest after a 429

	// submit sends one request for a capture (the page of a deferred overview is a second one). Its error is a
	// *platform.Error, or the end of ctx.
	submit func(ctx context.Context, r request) (submission, error)
	jobs   jobs // of a provider that does not answer at once
	// read reads the payload of submit or of a job. An error costs what the provider reports, else the list's price,
	// unless it is a refusal.
	read func(a *answer) error
	// ignored names lists of pages and cards that no answer rests on, and kinds of items that hold such lists.
	ignored []string
}

// account is an opened account at a provider.
type account struct {
	wire.Account
	settings Account
}

// request is one capture.
type request struct {
	platform.Question
	route
	surface string          // such as "google-ai-mode"
	country language.Region // of the question; the United States without one
	id      string          // of the run: a provider that knows idempotency keys gets it
	notify  string          // the URL that the provider calls once the capture is there; "": none
}

// submission is what a provider answers to a request: a job to wait for, or the payload.
type submission struct {
	jobID     string
	payload   []byte
	pages     int // that are paid for; 0 is one
	perMinute int // requests that the account may send; 0: the provider does not say
}

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
	client := &Client{surface: findSurface(slug)}
	for _, a := range accounts {
		p := findProvider(a.Provider)
		opened, err := wire.NewAccount(a.Key, a.BaseURL, p.baseURL, p.authorize)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		opened.MinPause = p.minPause
		account := account{opened, a}
		client.routes = append(client.routes, route{p, client.surface.offer(a.Provider), account})
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
		return nil, invalid("the prompt has %d characters: want at most %d", length, longest)
	}
	return names, nil
}

func invalid(format string, arguments ...any) *platform.Error {
	return &platform.Error{Class: platform.Invalid, Cause: fmt.Errorf(format, arguments...)}
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

// FailsOver reports whether the next provider is asked after a failure: where this one is away, busy, out of budget or
// refuses the key. It is not asked what no provider will answer (Invalid, ContentFiltered), what the reader here cannot
// read (ChangedShape), and what this one may have captured and charged for (Timeout).
func FailsOver(class platform.Class) bool {
	return class == platform.Unavailable || class == platform.Quota || class == platform.Auth ||
		class == platform.RateLimited
}

// maxClosed is the longest pause of an account: a longer one is taken for a mistake.
const maxClosed = 24 * time.Hour

// Submit sends a question to a provider once. It returns a job to wait for or, with a job without an id, the reply.
func (c *Client) Submit(
	ctx context.Context, provider string, q platform.Question, run uuid.UUID, notify string,
) (Job, platform.Reply, error) {
	r, err := c.request(provider, q)
	if err != nil {
		return Job{}, platform.Reply{}, err
	}
	r.id, r.notify = run.String(), notify
	allowance := &platform.Allowance{}
	r.account.Allowance = allowance
	s, err := r.submit(ctx, r)
	allowance.RequestsPerMinute = cmp.Or(s.perMinute, allowance.RequestsPerMinute)
	var reply platform.Reply
	pages := max(s.pages, 1)
	failure, hasFailed := errors.AsType[*platform.Error](err)
	switch {
	case hasFailed:
		if failure.Class != platform.Timeout && failure.Class != platform.ChangedShape {
			pages-- // the last one is refused: else it may have been accepted
		}
		charge(failure, r.cost(pages))
	case err == nil && s.jobID == "":
		reply, err = r.reply(s.payload, pages)
		failure, hasFailed = errors.AsType[*platform.Error](err)
	}
	reply.Allowance = *allowance
	if hasFailed {
		failure.Allowance = *allowance
		if failure.Class == platform.RateLimited {
			pause := max(allowance.ClosedFor, cmp.Or(failure.RetryAfter, ratePause))
			failure.Allowance.ClosedFor = min(pause, maxClosed)
		}
	}
	return Job{provider, s.jobID}, reply, err
}

// request returns the request of a question. Its error is a missing key, or a region of another kind than countries,
// which no provider can take.
func (c *Client) request(provider string, q platform.Question) (request, error) {
	r, hasKey := c.findRoute(provider)
	if !hasKey {
		cause := fmt.Errorf("there is no key of %s any more", provider)
		return request{}, &platform.Error{Class: platform.Unavailable, Cause: cause}
	}
	region, err := language.ParseRegion(cmp.Or(q.Region, "US"))
	region = region.Canonicalize() // uk is GB
	if err != nil || !region.IsCountry() {
		return request{}, invalid("region %.60q: want a country, such as us", q.Region)
	}
	return request{Question: q, route: r, surface: c.surface.slug, country: region}, nil
}

// findRoute returns the route to a provider; of one without a key, the most expensive plan of its offer.
func (c *Client) findRoute(provider string) (r route, hasKey bool) {
	for _, r := range c.routes {
		if r.Slug == provider {
			return r, true
		}
	}
	return route{offer: c.surface.offer(provider)}, false
}

// reply reads a payload, and adds what the reader does not know.
func (r request) reply(payload []byte, pages int) (platform.Reply, error) {
	a := answer{request: r, paidPages: pages, lists: map[*any]bool{}}
	reply, err := a.read(payload)
	cost := cmp.Or(a.cost, r.cost(a.paidPages))
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.Raw = payload
		if a.cost != "" || !failure.Class.Refused() {
			charge(failure, cost)
		}
	}
	if err != nil {
		return platform.Reply{}, err
	}
	reply.Provider, reply.Surface, reply.Raw = r.Slug, event.SurfaceConsumer, payload
	reply.Usage = &event.Usage{CostUSD: cost}
	return reply, nil
}

// charge sets what a failure costs, if that is more than nothing.
func charge(failure *platform.Error, cost string) {
	if strings.Trim(cost, "0.") != "" {
		failure.CostUSD = cost
	}
}

// cost returns the list's price of so many pages, in US dollars.
func (r route) cost(pages int) string {
	price := r.offer.perThousand(r.account.settings.CreditUSD)
	cost, _ := event.Decimal(price.Mul(price, big.NewRat(int64(pages), 1000)).FloatString(9))
	return cost
}

// Cost returns the list's price of one capture at a provider, in US dollars.
func (c *Client) Cost(provider string) string {
	r, _ := c.findRoute(provider)
	return r.cost(1)
}

// ListCost returns the price of one capture at an account of no special plan.
func ListCost(slug, provider string) string {
	return (&Client{surface: findSurface(slug)}).Cost(provider)
}
