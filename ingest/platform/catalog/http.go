package catalog

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
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// api is a platform that is asked over HTTP. The question of ask names a model.
type api struct {
	platform.Description
	baseURL string                       // the platform's own, without the version
	header  func(key string) http.Header // has the account's key
	ask     func(ctx context.Context, a account, q platform.Question) (platform.Reply, error)
}

// entry returns the platform's entry in the catalog.
func (a api) entry() Entry {
	return Entry{a.Description, func(s Settings) (platform.Platform, error) {
		account, err := newAccount(s.Key, s.BaseURL, a.baseURL, a.header(s.Key))
		return client{a, account}, err
	}}
}

// client is a platform.Platform.
type client struct {
	api     api
	account account
}

func (c client) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	q.Model = c.api.Requested(q.Model)
	account := c.account
	account.allowance = &platform.Allowance{}
	reply, err := c.api.ask(ctx, account, q)
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		failure.Allowance = *account.allowance
	}
	reply.Allowance = *account.allowance
	return c.api.Priced(reply, q.Model), err
}

// exchange returns the ask of a platform that needs one request for an answer.
func exchange(
	path string, request func(platform.Question) object, read func(account, []byte) (platform.Reply, error),
) func(context.Context, account, platform.Question) (platform.Reply, error) {
	return func(ctx context.Context, a account, q platform.Question) (platform.Reply, error) {
		raw, err := a.post(ctx, path, request(q))
		if err != nil {
			return platform.Reply{}, err
		}
		return read(a, raw)
	}
}

// withCountry adds the region of a question to a search tool, as the country of a location.
func withCountry(tool object, q platform.Question, location object) object {
	if q.Region != "" {
		location["country"] = strings.ToUpper(q.Region)
		tool["user_location"] = location
	}
	return tool
}

// account is an account at a platform, and the platform's address.
type account struct {
	key     string
	baseURL string      // the part before the version, without a slash at its end
	header  http.Header // of every request, with the key

	allowance *platform.Allowance // of the last response to a question
}

func newAccount(key, baseURL, defaultURL string, header http.Header) (account, error) {
	if baseURL == "" {
		baseURL = defaultURL
	}
	if u, err := url.Parse(baseURL); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		const want = "base URL: want the part before the version, without parameters, such as "
		return account{}, errors.New(want + defaultURL)
	}
	header.Set("Accept", "application/json")
	header.Set("Content-Type", "application/json")
	return account{key: key, baseURL: strings.TrimRight(baseURL, "/"), header: header}, nil
}

// bearer returns the header of a key that is sent as a bearer token.
func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// host returns the host of the base URL, without a port.
func (a account) host() string {
	u, err := url.Parse(a.baseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// maxBody is far above the size of any answer: a record holds 4 MB of text.
const maxBody = 32 << 20

// httpClient is shared, so that connections are. A platform answers slowly, so many requests are in flight. Redirects
// are not followed, since they would take the key to another host.
var httpClient = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
	return &http.Client{Transport: t, CheckRedirect: doNotFollow}
}()

func doNotFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// post sends body as JSON once, to a path below the base URL, and returns the body of the answer. Its error is the end
// of ctx or a *platform.Error.
func (a account) post(ctx context.Context, path string, body object) ([]byte, error) {
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
	response, err := httpClient.Do(request)
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1))
		if response.StatusCode < 300 || response.StatusCode == http.StatusTooManyRequests {
			*a.allowance = readAllowance(response.Header, time.Now())
		}
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
		return nil, changedShape("the answer has over %d bytes", maxBody)
	}
	return answer, nil
}

// failed returns the error inside an answer of status 200, without the account's key.
func (a account) failed(body []byte) error { return a.masked(failure(http.StatusOK, nil, body)) }

// masked returns an error without the account's key, which some platforms repeat.
func (a account) masked(e *platform.Error) *platform.Error {
	if a.key != "" && e.Cause != nil && strings.Contains(e.Cause.Error(), a.key) {
		e.Cause = errors.New(strings.ReplaceAll(e.Cause.Error(), a.key, "****"))
	}
	return e
}
