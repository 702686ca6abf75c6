package collector

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/collector/site"
)

// refusal answers a request that is not accepted. Reason labels it in the metrics.
type refusal struct {
	status  int
	reason  string
	message string
}

func (r *refusal) Error() string { return r.message }

func malformed(message string) error {
	return &refusal{http.StatusBadRequest, "malformed", message}
}

// notRegistered is the same for an unknown brand, so that nothing discloses which brands there are.
const notRegistered = "the origin is not a registered domain of the brand"

// The refusals with one message for every request.
var (
	errMethod   = &refusal{http.StatusMethodNotAllowed, "method", "method not allowed; see the Allow header"}
	errEncoded  = &refusal{http.StatusUnsupportedMediaType, "encoding", "want a body without Content-Encoding"}
	errType     = &refusal{http.StatusUnsupportedMediaType, "content_type", "want text/plain or application/json"}
	errSize     = &refusal{http.StatusRequestEntityTooLarge, "size", "want at most 8192 bytes"}
	errOrigin   = &refusal{http.StatusForbidden, "origin", notRegistered}
	errBrand    = &refusal{http.StatusForbidden, "brand", notRegistered}
	errLimit    = &refusal{http.StatusTooManyRequests, "limit", "too many beacons of this site"}
	errUnready  = &refusal{http.StatusServiceUnavailable, "unready", "not ready yet; try again"}
	errOverload = &refusal{http.StatusServiceUnavailable, "overloaded", "overloaded; try again"}
	errDisk     = &refusal{http.StatusServiceUnavailable, "disk", "the disk is full; try again later"}
	errStopping = &refusal{http.StatusServiceUnavailable, "stopping", "stopping; try again"}
	errFailed   = &refusal{http.StatusInternalServerError, "failed", "internal error"}
	// errAway is no 503: the visit may be on the log, and sent again it would be counted twice.
	errAway = &refusal{http.StatusInternalServerError, "away", "not known to be kept"}
)

// refuse writes every answer but a 204.
func (r *request) refuse(f *fiber.Ctx, refused *refusal) error {
	header := &f.Response().Header
	switch refused.status {
	case http.StatusMethodNotAllowed:
		header.Set(fiber.HeaderAllow, allowedMethods)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds := max(1, int((r.wait+time.Second-1)/time.Second))
		header.Set(fiber.HeaderRetryAfter, strconv.Itoa(seconds))
	}
	// A brand's page may read why its beacon is refused; other pages may not.
	if len(header.Peek(fiber.HeaderAccessControlAllowOrigin)) == 0 && refused.status != http.StatusForbidden {
		if origin, err := originOf(f); err == nil && origin != "" && r.c.registered(origin) {
			allowOrigin(f, origin)
		}
	}
	return f.Status(refused.status).JSON(fiber.Map{"error": refused.message})
}

// Headers that more than one function names.
const (
	headerAnswerscope = "X-Answerscope"
	allowedMethods    = "POST, OPTIONS"
)

// preflight answers OPTIONS. The brand of the beacon is not known yet, so any brand's origin may ask.
func (r *request) preflight(f *fiber.Ctx) error {
	origin, err := originOf(f)
	if err != nil {
		return err
	}
	response := &f.Response().Header
	if origin == "" { // no browser's preflight
		response.Set(fiber.HeaderAllow, allowedMethods)
		f.Status(http.StatusNoContent)
		return nil
	}
	if !r.c.registered(origin) {
		if r.c.parts.Sites.Ready(f.Context()) != nil {
			return errUnready
		}
		return errOrigin
	}
	allowOrigin(f, origin)
	response.Set(fiber.HeaderAccessControlAllowMethods, fiber.MethodPost)
	response.Set(fiber.HeaderAccessControlAllowHeaders, "content-type")
	response.Set(fiber.HeaderAccessControlMaxAge, "600")
	f.Status(http.StatusNoContent)
	return nil
}

// originOf returns the Origin header, "" where there is none. Two of them are a list, which no origin is.
func originOf(f *fiber.Ctx) (string, error) {
	all := f.Request().Header.PeekAll(fiber.HeaderOrigin)
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return text(all[0]), nil
	}
	return "", errOrigin
}

// registered reports whether origin is a domain of any brand or under one.
func (c *Collector) registered(origin string) bool {
	host, ok := site.OriginHost(origin)
	return ok && c.parts.Sites.Registered(host)
}

// allowOrigin lets the page read the answer (CORS). The origin is known to be a brand's.
func allowOrigin(f *fiber.Ctx, origin string) {
	f.Response().Header.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	f.Response().Header.Set(fiber.HeaderAccessControlExposeHeaders, headerAnswerscope)
}
