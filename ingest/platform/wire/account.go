// Package wire asks AI platforms and capture providers over HTTP and reads their JSON: an account sends one request for
// one answer (account.go) and names the class of a failure (failure.go), a shape finds fields that are missing or
// renamed (shape.go), and a draft collects text and citations (draft.go).
package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Account is an account at a platform or provider, and the address of its API.
type Account struct {
	Key       string
	baseURL   string // the part before the version, without a slash at its end
	authorize Authorization

	MinPause  time.Duration       // the shortest after a 429
	Allowance *platform.Allowance // of the last response; nil: it is not read
}

// Authorization adds an account's key to a request.
type Authorization func(request *http.Request, key string)

// Bearer sends the key as a bearer token.
func Bearer(request *http.Request, key string) { InHeader("Authorization", "Bearer ")(request, key) }

// Basic sends a key of the form user:password.
func Basic(request *http.Request, key string) {
	InHeader("Authorization", "Basic ")(request, base64.StdEncoding.EncodeToString([]byte(key)))
}

// InHeader sends the key, after a prefix, in the header of that name.
func InHeader(name, prefix string) Authorization {
	return func(request *http.Request, key string) { request.Header.Set(name, prefix+key) }
}

// InQuery sends the key as the parameter of that name.
func InQuery(name string) Authorization {
	return func(request *http.Request, key string) {
		parameters := request.URL.Query()
		parameters.Set(name, key)
		request.URL.RawQuery = parameters.Encode()
	}
}

// NewAccount returns the account of a key. baseURL "" is defaultURL.
func NewAccount(key, baseURL, defaultURL string, authorize Authorization) (Account, error) {
	if baseURL == "" {
		baseURL = defaultURL
	}
	if u, err := url.Parse(baseURL); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		const want = "base URL: want the part before the version, without parameters, such as "
		return Account{}, errors.New(want + defaultURL)
	}
	return Account{Key: key, baseURL: strings.TrimRight(baseURL, "/"), authorize: authorize}, nil
}

// Host returns the host of the base URL, without a port.
func (a Account) Host() string {
	u, err := url.Parse(a.baseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// maxBody is far above the size of any answer: a record holds 4 MB of text.
const maxBody = 32 << 20

// httpClient is shared, so that connections are. A platform answers slowly, so many requests are in flight; the idle
// connections of 1,000 submissions would take 20 MB while their captures are polled. Redirects are not followed, since
// they would take the key to another host.
var httpClient = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 0, 1024, 10*time.Second
	return &http.Client{Transport: t, CheckRedirect: DoNotFollow}
}()

// DoNotFollow makes a client return redirects.
func DoNotFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Post sends body as JSON once, to a path below the base URL, and returns the body of the answer, as Get does.
func (a Account) Post(ctx context.Context, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode question: %w", err)
	}
	return a.send(ctx, http.MethodPost, path, text)
}

// Get sends one request to a path below the base URL, which may have parameters, and returns the body of the answer:
// none of status 202, which is not there yet. Its error is the end of ctx or a *platform.Error.
func (a Account) Get(ctx context.Context, path string) ([]byte, error) {
	return a.send(ctx, http.MethodGet, path, nil)
}

func (a Account) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, a.baseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, a.masked(&platform.Error{Class: platform.Invalid, Cause: fmt.Errorf("make request: %w", err)})
	}
	request.Header = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	a.authorize(request, a.Key)
	response, err := httpClient.Do(request)
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1))
		if a.Allowance != nil && (response.StatusCode < 300 || response.StatusCode == http.StatusTooManyRequests) {
			*a.Allowance = readAllowance(response.Header, time.Now())
		}
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case err != nil && ctx.Err() != nil:
		return nil, &platform.Error{Class: platform.Timeout, Cause: errors.New("no answer came within the time limit")}
	case err != nil:
		return nil, a.masked(&platform.Error{Class: platform.Unavailable, Cause: withoutAddress(err)})
	case response.StatusCode < 200 || response.StatusCode >= 300:
		e := a.masked(failure(response.StatusCode, response.Header, answer))
		if e.Class == platform.RateLimited {
			e.RetryAfter = max(e.RetryAfter, a.MinPause)
		}
		return nil, e
	case len(answer) > maxBody:
		return nil, ChangedShape("the answer has over %d bytes", maxBody)
	case method == http.MethodGet && response.StatusCode == http.StatusAccepted:
		return nil, nil
	}
	return answer, nil
}

// withoutAddress returns the cause of a client's error, whose own text has the address with every parameter.
func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// Failed returns the error inside an answer of status 200, without the account's key.
func (a Account) Failed(body []byte) *platform.Error {
	return a.masked(failure(http.StatusOK, nil, body))
}

// Unavailable returns an error that quotes an answer, without the account's key.
func (a Account) Unavailable(format string, arguments ...any) *platform.Error {
	return a.masked(&platform.Error{Class: platform.Unavailable, Cause: fmt.Errorf(format, arguments...)})
}

// callbackToken matches the token of a callback's address, which is as secret as a key.
var callbackToken = regexp.MustCompile(`[0-9a-f]{64}`)

// masked shortens an error, and leaves out the token of a callback and the account's key, which some platforms repeat:
// as it is, its password, or as it is sent.
func (a Account) masked(e *platform.Error) *platform.Error {
	if e.Cause == nil {
		return e
	}
	_, password, _ := strings.Cut(a.Key, ":")
	text := e.Cause.Error()
	for _, secret := range []string{
		a.Key, url.QueryEscape(a.Key), base64.StdEncoding.EncodeToString([]byte(a.Key)), password,
	} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "****")
		}
	}
	text = shortened(callbackToken.ReplaceAllString(text, "****"))
	if text != e.Cause.Error() {
		e.Cause = errors.New(text)
	}
	return e
}
