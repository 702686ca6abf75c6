package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
)

const maxForwardedBytes = 16 << 20 // of a response

// forwarder is the web side's client of the tracking server, which may need minutes to start the jobs of all brands.
var forwarder = &http.Client{Timeout: 5 * time.Minute}

// ForwardCron calls the schedule of the tracking server at an address; "" refuses all.
func ForwardCron(secret, address string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if address == "" {
			return refuseUnset(c, errNoAddress.Public)
		}
		return forward(c, http.MethodPost, address+cronPath, secret)
	}
}

// MountForward adds the user's routes of the tracking server at an address to the web side, below a prefix. Requests
// are sent with the access token that the function finds. Without an address the routes are refused with the reason.
func MountForward(server *httpd.Server, prefix, address string, accessToken func(*fiber.Ctx) (string, error)) {
	for _, path := range []string{"/tracking/*", "/providers", "/providers/*"} {
		server.App.All(prefix+path, func(c *fiber.Ctx) error {
			token, err := accessToken(c)
			if err != nil {
				return err
			}
			if address == "" {
				return errNoAddress
			}
			path := strings.TrimPrefix(string(c.Request().URI().RequestURI()), prefix)
			if err := forward(c, c.Method(), address+"/api"+path, token); err != nil {
				return err
			}
			if c.Response().StatusCode() == http.StatusUnauthorized { // the user is signed in here
				return errTokenRefused
			}
			return nil
		})
	}
}

var (
	errNoAddress = problem.New(problem.Missing,
		"the tracking server is not known here: its operator gives queryapi the address, with --tracking-url")
	errTokenRefused = problem.New(problem.Conflict, "the tracking server does not know who asks: "+
		"its operator gives it the ANSWERSCOPE_SECRET_KEYS and the database of queryapi")
	errUnreachable = problem.New(problem.Unavailable, "the tracking server does not answer; try again")
	errBrokenOff   = problem.New(problem.Unavailable, "the tracking server broke off; try again")
)

// forward sends the body and no header but those named here: a cookie of the web side is not for another server.
func forward(c *fiber.Ctx, method, url, token string) error {
	r, err := http.NewRequestWithContext(c.UserContext(), method, url, bytes.NewReader(c.BodyRaw()))
	if err != nil {
		return err
	}
	r.Header.Set(fiber.HeaderAuthorization, "Bearer "+token)
	r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	if key := c.Get(idempotencyKeyHeader); key != "" {
		r.Header.Set(idempotencyKeyHeader, key)
	}
	response, err := forwarder.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxForwardedBytes))
	if err != nil {
		return fmt.Errorf("%w: %w", errBrokenOff, err)
	}
	for _, name := range []string{fiber.HeaderContentType, fiber.HeaderRetryAfter} {
		if value := response.Header.Get(name); value != "" {
			c.Set(name, value)
		}
	}
	return c.Status(response.StatusCode).Send(body)
}
