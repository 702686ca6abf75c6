// Package wire holds what the HTTP APIs of the AI platforms share: one request for one answer, the class of a failure,
// the check of an answer's shape, and a draft that orders text and citations.
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

// Account is an account at a platform, and the platform's address.
type Account struct {
	key     string
	baseURL string      // the part before the version, without a slash at its end
	header  http.Header // of every request, with the key
}

// NewAccount returns an account whose requests have the header that the key is in. baseURL "" is defaultURL.
func NewAccount(key, baseURL, defaultURL string, header http.Header) (Account, error) {
	if baseURL == "" {
		baseURL = defaultURL
	}
	if u, err := url.Parse(baseURL); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return Account{}, errors.New("base URL: want the part before the version, without parameters, such as " + defaultURL)
	}
	header = header.Clone()
	header.Set("Accept", "application/json")
	header.Set("Content-Type", "application/json")
	return Account{key, strings.TrimRight(baseURL, "/"), header}, nil
}

// Bearer returns the header of a key that is sent as a bearer token.
func Bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// Host returns the host of the base URL, without a port.
func (a Account) Host() string {
	u, err := url.Parse(a.baseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// API is a platform that answers a question in one exchange.
type API struct {
	Description platform.Description
	Account     Account
	Path        string // below the base URL
	Request     func(q platform.Question) any
	Read        func(account Account, raw []byte) (platform.Reply, error)
}

// Ask sends the question and reads the answer.
func (a API) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	raw, err := a.Account.Post(ctx, a.Path, a.Request(q))
	if err != nil {
		return platform.Reply{}, err
	}
	reply, err := a.Read(a.Account, raw)
	return a.Description.Priced(reply, q.Model), err
}

// maxBody is far above the size of any answer: a record holds 4 MB of text.
const maxBody = 32 << 20

// client is shared, so that connections are. A platform answers slowly, so many requests are in flight. Redirects are
// not followed, since they would take the key to another host.
var client = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}()

// Post sends body as JSON once, to a path below the base URL, and returns the body of the answer. Its error is the end
// of ctx or a *platform.Error.
func (a Account) Post(ctx context.Context, path string, body any) ([]byte, error) {
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode question: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.baseURL+path, bytes.NewReader(text))
	if err != nil {
		return nil, a.masked(&platform.Error{Class: platform.Invalid, Cause: fmt.Errorf("make request: %w", err)})
	}
	request.Header = a.header.Clone()
	response, err := client.Do(request)
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case err != nil && ctx.Err() != nil:
		return nil, &platform.Error{Class: platform.Timeout, Cause: errors.New("no answer came within the time limit")}
	case err != nil:
		return nil, a.masked(&platform.Error{Class: platform.Unavailable, Cause: err})
	case response.StatusCode < 200 || response.StatusCode >= 300:
		return nil, a.masked(failure(response.StatusCode, response.Header, answer))
	case len(answer) > maxBody:
		return nil, Changed("the answer has over %d bytes", maxBody)
	}
	return answer, nil
}

// Failed returns the error inside an answer of status 200, without the account's key.
func (a Account) Failed(body []byte) error { return a.masked(failure(http.StatusOK, nil, body)) }

// masked returns an error without the account's key, which some platforms repeat.
func (a Account) masked(e *platform.Error) *platform.Error {
	if a.key != "" && e.Cause != nil && strings.Contains(e.Cause.Error(), a.key) {
		e.Cause = errors.New(strings.ReplaceAll(e.Cause.Error(), a.key, "****"))
	}
	return e
}

// Changed returns an error of class changed_shape.
func Changed(format string, args ...any) *platform.Error {
	return &platform.Error{Class: platform.ChangedShape, Cause: fmt.Errorf(format, args...)}
}
