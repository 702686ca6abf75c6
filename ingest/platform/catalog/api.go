package catalog

import (
	"context"
	"errors"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// api is a platform that is asked over HTTP. The question of ask names a model.
type api struct {
	platform.Description
	baseURL   string // the platform's own, without the version
	authorize wire.Authorization
	ask       func(ctx context.Context, a wire.Account, q platform.Question) (platform.Reply, error)
}

// entry returns the platform's entry in the catalog.
func (a api) entry() Entry {
	return Entry{a.Description, func(s Settings) (platform.Platform, error) {
		account, err := wire.NewAccount(s.Key, s.BaseURL, a.baseURL, a.authorize)
		return client{a, account}, err
	}}
}

// client is a platform.Platform.
type client struct {
	api     api
	account wire.Account
}

func (c client) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	q.Model = c.api.Requested(q.Model)
	account := c.account
	account.Allowance = &platform.Allowance{}
	reply, err := c.api.ask(ctx, account, q)
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.Allowance = *account.Allowance
	}
	reply.Allowance = *account.Allowance
	return c.api.Priced(reply, q.Model), err
}

// exchange returns the ask of a platform that needs one request for an answer.
func exchange(
	path string, request func(platform.Question) wire.Object, read func(wire.Account, []byte) (platform.Reply, error),
) func(context.Context, wire.Account, platform.Question) (platform.Reply, error) {
	return func(ctx context.Context, a wire.Account, q platform.Question) (platform.Reply, error) {
		raw, err := a.Post(ctx, path, request(q))
		if err != nil {
			return platform.Reply{}, err
		}
		return read(a, raw)
	}
}

// withCountry adds the region of a question to a search tool, as the country of a location.
func withCountry(tool wire.Object, q platform.Question, location wire.Object) wire.Object {
	if q.Region != "" {
		location["country"] = strings.ToUpper(q.Region)
		tool["user_location"] = location
	}
	return tool
}
