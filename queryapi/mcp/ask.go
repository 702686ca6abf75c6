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

// Over asks a server over HTTP, with the credential that the function finds.
func Over(client *http.Client, address string, credential func(context.Context) string) Asker {
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
		request.Header.Set("Authorization", "Bearer "+credential(ctx))
		request.Header.Set("Content-Type", "application/json")
		if r.IdempotencyKey != "" {
			request.Header.Set("Idempotency-Key", r.IdempotencyKey)
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("%w: %w",
				problem.New(problem.Unavailable, "%s does not answer; try again", address), err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "%s broke off; try again", address), err)
		}
		if response.StatusCode == http.StatusOK {
			return body, nil
		}
		var refusal struct{ Error string }
		if json.Unmarshal(body, &refusal) != nil || refusal.Error == "" {
			refusal.Error = fmt.Sprintf("%s answered %s", address, response.Status)
		}
		return nil, problem.New(cmp.Or(kinds[response.StatusCode], problem.Unavailable), "%s", refusal.Error)
	}
}

// kinds are what statuses of refusals stand for.
var kinds = map[int]problem.Kind{
	http.StatusBadRequest: problem.Invalid, http.StatusUnauthorized: problem.Unauthenticated,
	http.StatusForbidden: problem.Forbidden, http.StatusNotFound: problem.Missing,
	http.StatusConflict: problem.Conflict, http.StatusUnprocessableEntity: problem.Unprocessable,
	http.StatusTooManyRequests: problem.TooMany,
}

// wording replaces names and sentences of /api/v1 by those of tools.
var wording = strings.NewReplacer(
	"brand_id", "brand", "brandId", "brand", "topic_id", "topic", "competitor_id", "competitor",
	"source_filter", "source", "promptIds", "prompt_ids", "Idempotency-Key", "the retry's key",
	"GET /api/v1/brands", "list_brands", "GET /api/v1/citations", "sources", "GET /api/v1/ai-pages", "site_traffic",
	"GET /api/v1/answers", "answers", "next_cursor", "next",
	"your organization has too many requests under way; ask again in a moment",
	"four questions of your organization are running: again in 2 s",
)

// message returns what a caller may read of an error.
func message(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "took over 30 s: a shorter window, or no group_by"
	}
	_, text := problem.Of(err)
	return wording.Replace(text)
}

// ServeStdio serves one client over a pair of streams until its end, with the figures of the server at an address. Its
// error is a problem where the server does not answer, or not to the key.
func ServeStdio(
	ctx context.Context, address, key string, in io.ReadCloser, out io.WriteCloser, log *slog.Logger,
) error {
	address = strings.TrimSuffix(address, "/")
	credential := func(context.Context) string { return key }
	ask := Over(&http.Client{Timeout: timeout}, address, credential)
	if _, err := ask(ctx, Request{Path: "/whoami"}); err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	_, err := ask(ctx, Request{Path: trackingPrefix + "/jobs", Query: url.Values{"limit": {"1"}}})
	kind, _ := problem.Of(err)
	if err != nil && kind != problem.Forbidden && kind != problem.Missing {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	server := newServer(Config{Ask: ask, Credential: credential, Base: address, Now: time.Now, Log: log})
	return server.protocol(err == nil).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}
