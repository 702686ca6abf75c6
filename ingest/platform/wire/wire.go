// Package wire is what the HTTP APIs of the AI platforms have in common: one request for one answer, the class of a
// failure, fields that must be there, and an answer's text and citations in order.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Account is an account at a platform, and where the platform is reached.
type Account struct {
	Key     string
	BaseURL string // the part before the version, without a slash at its end
}

// NewAccount returns an account; without a base URL it is reached at the platform's own.
func NewAccount(key, baseURL, own string) (Account, error) {
	if baseURL == "" {
		baseURL = own
	}
	if u, err := url.Parse(baseURL); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return Account{}, errors.New("base URL: want the part before the version, without parameters, such as " + own)
	}
	return Account{Key: key, BaseURL: strings.TrimRight(baseURL, "/")}, nil
}

// maxBody is far above what any platform answers: a record holds 4 MB of text.
const maxBody = 32 << 20

// transport is shared, so that connections are. A platform answers slowly, so many requests are under way at a time.
var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
	return t
}()

// exchange is one request and what came back, byte for byte.
type exchange struct {
	status int // 0: nothing came back
	header http.Header
	body   []byte
	err    error
}

// RoundTrip sends a request, and reads all of its answer. The library that sends is shown an empty object in its place:
// libraries pass over fields that are missing, and some panic on a body of another form.
func (e *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	*e = exchange{}
	response, err := transport.RoundTrip(r)
	if err != nil {
		e.err = err
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		e.err = err
		return nil, err
	}
	e.status, e.header, e.body = response.StatusCode, response.Header, body
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader("{}")), 2
	return response, nil
}

// Send has send make one request with the given client, and returns the body of the answer, or why there is none: the
// end of ctx, or a *platform.Error. The client follows no redirects, which would take the key to another host.
func (a Account) Send(ctx context.Context, send func(*http.Client) error) ([]byte, error) {
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, err
	}
	var e exchange
	err := send(&http.Client{Transport: &e, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
	switch {
	case e.status >= 200 && e.status < 300 && len(e.body) > maxBody:
		return nil, Changed("the answer has over %d bytes", maxBody)
	case e.status >= 200 && e.status < 300:
		return e.body, nil
	case e.status != 0:
		return nil, a.masked(refusal(e.status, e.header, e.body))
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case e.err == nil:
		return nil, a.masked(&platform.Error{Class: platform.Invalid, Cause: fmt.Errorf("no request was made: %w", err)})
	case ctx.Err() != nil:
		return nil, &platform.Error{Class: platform.Timeout, Cause: errors.New("no answer came within the time that it was given")}
	}
	return nil, a.masked(&platform.Error{Class: platform.Unavailable, Cause: e.err})
}

// Post sends body as JSON to a path below the base URL, as Send does.
func (a Account) Post(ctx context.Context, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode question: %w", err)
	}
	return a.Send(ctx, func(client *http.Client) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.BaseURL+path, bytes.NewReader(text))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+a.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}

// Failed is the error of an answer that has one inside although its status is 200, without the account's key.
func (a Account) Failed(body []byte) error { return a.masked(refusal(http.StatusOK, nil, body)) }

// masked is an error without the account's key, which some platforms repeat.
func (a Account) masked(e *platform.Error) *platform.Error {
	if a.Key != "" && e.Cause != nil && strings.Contains(e.Cause.Error(), a.Key) {
		e.Cause = errors.New(strings.ReplaceAll(e.Cause.Error(), a.Key, "****"))
	}
	return e
}

// Changed is an error of class changed_shape.
func Changed(format string, args ...any) *platform.Error {
	return &platform.Error{Class: platform.ChangedShape, Cause: fmt.Errorf(format, args...)}
}
