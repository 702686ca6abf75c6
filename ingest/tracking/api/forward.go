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

// forwardTimeout is for the tracking server to start what is due.
const forwardTimeout = 5 * time.Minute

// forwarder is the web side's way to the tracking server.
var forwarder = &http.Client{Timeout: forwardTimeout}

// Forward calls the schedule of the tracking server at an address.
func Forward(secret, address string) fiber.Handler {
	return func(c *fiber.Ctx) error { return forward(c, http.MethodPost, address+cronPath, secret) }
}

// MountForward adds to a prefix of the web side what the tracking server at an address has below /api for users, as the
// user whose access token the function finds. Without an address they say what is missing.
func MountForward(server *httpd.Server, prefix, address string, token func(*fiber.Ctx) (string, error)) {
	for _, path := range []string{"/tracking/*", "/providers", "/providers/*"} {
		server.App.All(prefix+path, func(c *fiber.Ctx) error {
			access, err := token(c)
			if err != nil {
				return err
			}
			if address == "" {
				return errNoAddress
			}
			below := strings.TrimPrefix(string(c.Request().URI().RequestURI()), prefix)
			if err := forward(c, c.Method(), address+"/api"+below, access); err != nil {
				return err
			}
			if c.Response().StatusCode() == http.StatusUnauthorized { // the user is signed in all the same
				return errCallerUnknown
			}
			return nil
		})
	}
}

var (
	errNoAddress     = problem.New(problem.Missing, "the tracking server is not known here: its operator gives queryapi the address, with --tracking-url")
	errCallerUnknown = problem.New(problem.Conflict, "the tracking server does not know who asks: its operator gives it the ANSWERSCOPE_SECRET_KEYS and the database of queryapi")
)

func forward(c *fiber.Ctx, method, url, credential string) error {
	r, err := http.NewRequestWithContext(c.UserContext(), method, url, bytes.NewReader(c.Body()))
	if err != nil {
		return err
	}
	r.Header.Set(fiber.HeaderAuthorization, "Bearer "+credential)
	r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	if key := c.Get(idempotencyKey); key != "" {
		r.Header.Set(idempotencyKey, key)
	}
	response, err := forwarder.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the tracking server does not answer; try again"), err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the tracking server broke off; try again"), err)
	}
	for _, name := range []string{fiber.HeaderContentType, fiber.HeaderRetryAfter} {
		if value := response.Header.Get(name); value != "" {
			c.Set(name, value)
		}
	}
	return c.Status(response.StatusCode).Send(answer)
}
