package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

// A Request is one for /api/v1, with its path below that, or for /api/tracking, with its whole path.
type Request struct {
	Method         string // "": GET
	Path           string
	Query          url.Values
	Body           []byte
	IdempotencyKey string
}

// isTracking reports whether the request is for the tracking server.
func (r Request) isTracking() bool { return strings.HasPrefix(r.Path, trackingPrefix) }

const (
	apiPrefix      = "/api/v1"
	trackingPrefix = "/api/tracking"

	maxBody = 16 << 20 // bytes of a body over HTTP
)

// An Asker returns the JSON body of a response of status 200, and a problem for another.
type Asker func(ctx context.Context, r Request) (json.RawMessage, error)

type credentialKey struct{}

// withCredential returns a context with the bearer credential of a caller.
func withCredential(ctx context.Context, credential string) context.Context {
	return context.WithValue(ctx, credentialKey{}, credential)
}

func credentialOf(ctx context.Context) string { return ctx.Value(credentialKey{}).(string) }

// ownCredential is the caller's.
func ownCredential(ctx context.Context) (string, error) { return credentialOf(ctx), nil }

// over asks the server at an address, which messages call by a name, with a credential for the caller in the context.
func over(address, name string, credential func(context.Context) (string, error)) Asker {
	address = strings.TrimSuffix(address, "/")
	return func(ctx context.Context, r Request) (json.RawMessage, error) {
		path := r.Path
		if !r.isTracking() {
			path = apiPrefix + path
		}
		if len(r.Query) > 0 {
			path += "?" + r.Query.Encode()
		}
		request, err := http.NewRequestWithContext(ctx, cmp.Or(r.Method, http.MethodGet), address+path,
			bytes.NewReader(r.Body))
		if err != nil {
			return nil, err
		}
		bearer, err := credential(ctx)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+bearer)
		request.Header.Set("Content-Type", "application/json")
		if r.IdempotencyKey != "" {
			request.Header.Set("Idempotency-Key", r.IdempotencyKey)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, fmt.Errorf("%w: %w",
				problem.New(problem.Unavailable, "%s does not answer; try again", name), err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "%s broke off; try again", name), err)
		}
		if response.StatusCode == http.StatusOK && json.Valid(body) {
			return body, nil
		}
		var refusal struct{ Error string }
		if json.Unmarshal(body, &refusal) != nil || refusal.Error == "" {
			refusal.Error = fmt.Sprintf("%s answered %s", name, response.Status)
		}
		return nil, problem.New(problem.Invalid, "%s", refusal.Error)
	}
}

// wording replaces names and sentences of /api/v1 by words of the tools.
var wording = strings.NewReplacer(
	"brand_id", "brand", "brandId", "brand", "topic_id", "topic", "competitor_id", "competitor",
	"source_filter", "source", "promptIds", "prompt_ids",
	"GET /api/v1/brands", "list_brands", "GET /api/v1/citations", "sources", "GET /api/v1/ai-pages", "site_traffic",
	"GET /api/v1/answers", "answers", "next_cursor", "next",
	"your organization has too many requests under way; ask again in a moment",
	"four questions of your organization are running: again in 2 s",
	"ask again after Retry-After seconds", "again in a second",
)

// message returns what a caller may read of an error.
func message(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "took over 30 s: a shorter window, or no group_by"
	}
	_, text := problem.Of(err)
	return wording.Replace(text)
}

// ServeStdio serves one client over a pair of streams until its end, with the figures of the server at an address. It
// offers track if the key may see jobs. Its error is a problem where the server does not answer, or not to the key.
func ServeStdio(
	ctx context.Context, address, key string, in io.ReadCloser, out io.WriteCloser, log *slog.Logger,
) error {
	ask := over(address, address, ownCredential)
	ctx = identity.NewContext(withCredential(ctx, key), identity.Identity{})
	if _, err := ask(ctx, Request{Path: "/whoami"}); err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	_, err := ask(ctx, Request{Path: trackingPrefix + "/jobs", Query: url.Values{"limit": {"1"}}})
	server := newServer(ask, strings.TrimSuffix(address, "/"), time.Now, log, nil)
	return server.protocol(err == nil).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}
