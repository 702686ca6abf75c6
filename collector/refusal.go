package collector

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// refusal is an answer to a request that is not accepted. Reason labels it in the metrics.
type refusal struct {
	status  int
	reason  string
	message string
}

func (r *refusal) Error() string { return r.message }

func malformed(message string) error {
	return &refusal{http.StatusBadRequest, "malformed", message}
}

// The refusals with one message for every request.
var (
	errMethod   = &refusal{http.StatusMethodNotAllowed, "method", "method not allowed; see the Allow header"}
	errEncoded  = &refusal{http.StatusUnsupportedMediaType, "encoding", "want a body without Content-Encoding"}
	errType     = &refusal{http.StatusUnsupportedMediaType, "content_type", "want text/plain or application/json"}
	errSize     = &refusal{http.StatusRequestEntityTooLarge, "size", "want at most 8192 bytes"}
	errOrigin   = &refusal{http.StatusForbidden, "origin", "the origin is not a registered domain of the brand"}
	errBrand    = &refusal{http.StatusForbidden, "brand", "the origin is not a registered domain of the brand"} // which brands there are is not disclosed
	errLimit    = &refusal{http.StatusTooManyRequests, "limit", "too many beacons of this site"}
	errUnready  = &refusal{http.StatusServiceUnavailable, "unready", "not ready yet; try again"}
	errOverload = &refusal{http.StatusServiceUnavailable, "overloaded", "overloaded; try again"}
	errDisk     = &refusal{http.StatusServiceUnavailable, "disk", "the disk is full; try again later"}
	errStopping = &refusal{http.StatusServiceUnavailable, "stopping", "stopping; try again"}
	errAway     = &refusal{http.StatusInternalServerError, "away", "not known to be kept"} // it may be: sent again it would be counted twice
	errFailed   = &refusal{http.StatusInternalServerError, "failed", "internal error"}
)

// refuse writes an answer that is no 204.
func (r *request) refuse(f *fiber.Ctx, refused *refusal) error {
	header := &f.Response().Header
	switch refused.status {
	case http.StatusMethodNotAllowed:
		header.Set(fiber.HeaderAllow, allowedMethods)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set(fiber.HeaderRetryAfter, strconv.Itoa(max(1, int((r.wait+time.Second-1)/time.Second))))
	}
	// A brand's page may read what is wrong with its beacon; other pages may not.
	if len(header.Peek(fiber.HeaderAccessControlAllowOrigin)) == 0 && refused.status != http.StatusForbidden {
		if origin, err := originOf(f); err == nil && origin != "" && r.c.registered(origin) {
			allowOrigin(f, origin)
		}
	}
	return f.Status(refused.status).JSON(fiber.Map{"error": refused.message})
}
