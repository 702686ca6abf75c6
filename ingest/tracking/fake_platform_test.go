package tracking_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/secret"
)

// platforms are alpha and beta, which ask the service, gamma, whose key is missing, and delta, whose price is not known
// and which takes no region.
type platforms struct{ workerConfig }

func (p platforms) List(ctx context.Context, organization uuid.UUID) ([]tracking.Platform, error) {
	if !organization.IsNil() && organization == p.BrokenOrganization {
		return nil, errors.New("broken")
	}
	if !organization.IsNil() && p.FailingList != nil && p.FailingList.Add(-1) == 0 {
		return nil, errors.New("the connection is lost")
	}
	price := &platform.Price{Currency: "USD", Date: "2026-11-01", PerThousandRequests: "10"}
	describe := func(slug string, price *platform.Price) tracking.Platform {
		typical := event.Usage{OutputTokens: p.TypicalTokens}
		models := []platform.Model{
			{Slug: slug + "-small", Price: price, Typical: typical},
			{Slug: slug + "-large", Price: price, Typical: typical},
		}
		return tracking.Platform{
			Account: p.Accounts[organization], Description: platform.Description{
				Slug: slug, Name: slug, NeedsKey: true, TakesRegion: slug != "delta", Limits: p.Limits, Models: models,
			},
			Connect: func(simulator.Cast) (platform.Platform, error) {
				if slug == p.Unusable {
					return nil, errors.New("its key is gone")
				}
				return fakePlatform{slug, p.Service, p.AnswerTokens}, nil
			},
		}
	}
	list := []tracking.Platform{
		describe("alpha", price), describe("beta", price), describe("gamma", price), describe("delta", nil),
	}
	for i := range list {
		if list[i].Slug == "gamma" || list[i].Slug == p.MissingKey {
			list[i].Unavailable = "its key is missing"
		}
	}
	if len(p.Captures) > 0 {
		surface, err := tracking.NewPlatforms(config.FromEnvironment(p.Captures), nil, secret.Ring{}).Find(ctx,
			uuid.Nil, "chatgpt-web")
		if err != nil {
			return nil, err
		}
		list = append(list, surface)
	}
	return list, nil
}

type fakePlatform struct {
	slug, url string
	tokens    int64
}

func (a fakePlatform) Ask(ctx context.Context, q platform.Question) (reply platform.Reply, err error) {
	body, err := json.Marshal(question{a.slug, q.Text, q.Model, q.Region, q.Sample})
	if err != nil {
		return reply, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	response, err := http.DefaultClient.Do(r)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return reply, &platform.Error{Class: platform.Timeout, Cause: ctx.Err()}
	case ctx.Err() != nil:
		return reply, ctx.Err()
	}
	if err != nil {
		return reply, &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply, &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	cause := errors.New(response.Status)
	switch {
	case response.StatusCode == http.StatusOK:
		return platform.Reply{
			ServedModel: q.Model, Surface: event.SurfaceAPI, Finish: event.FinishComplete, Text: string(text),
			Usage: &event.Usage{OutputTokens: a.tokens},
		}, nil
	case response.StatusCode == http.StatusNoContent: // seen, without an answer
		return platform.Reply{
			Surface: event.SurfaceConsumer, Finish: event.FinishNotShown, Usage: &event.Usage{OutputTokens: a.tokens},
		}, nil
	case response.StatusCode == http.StatusNonAuthoritativeInfo: // an answer without usage
		return platform.Reply{
			ServedModel: q.Model, Surface: event.SurfaceAPI, Finish: event.FinishComplete, Text: string(text),
		}, nil
	case response.StatusCode == http.StatusPartialContent:
		return reply, &platform.Error{Class: platform.ChangedShape, Cause: cause}
	case response.StatusCode == http.StatusTooManyRequests:
		return reply, &platform.Error{
			Class: platform.RateLimited, RetryAfter: time.Duration(after) * time.Second, Cause: cause,
		}
	case response.StatusCode == http.StatusUnauthorized:
		return reply, &platform.Error{Class: platform.Auth, Cause: cause}
	}
	return reply, &platform.Error{Class: platform.Unavailable, Cause: cause}
}
