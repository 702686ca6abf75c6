package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// classes maps the codes, types, reasons and statuses by which the platforms name an error, in lower case with _ for -.
var classes = map[string]platform.Class{
	"rate_limit_exceeded": platform.RateLimited, "rate_limit_error": platform.RateLimited, "resource_exhausted": platform.RateLimited,
	"too_many_requests": platform.RateLimited, "rate_limited": platform.RateLimited, "429": platform.RateLimited,

	"insufficient_quota": platform.Quota, "billing_error": platform.Quota, "billing_hard_limit_reached": platform.Quota,

	"authentication_error": platform.Auth, "permission_error": platform.Auth, "invalid_api_key": platform.Auth, "api_key_invalid": platform.Auth,
	"unauthenticated": platform.Auth, "unauthorized": platform.Auth, "permission_denied": platform.Auth, "401": platform.Auth, "403": platform.Auth,

	"invalid_prompt": platform.Invalid, "invalid_request_error": platform.Invalid, "invalid_request": platform.Invalid, "not_found_error": platform.Invalid,
	"request_too_large": platform.Invalid, "invalid_argument": platform.Invalid, "failed_precondition": platform.Invalid, "not_found": platform.Invalid,
	"invalid_model": platform.Invalid, "400": platform.Invalid, "404": platform.Invalid,

	"content_filter": platform.ContentFiltered, "bio_policy": platform.ContentFiltered, "misalignment_policy_violation": platform.ContentFiltered,
}

// failure returns the error of a response. Its status decides, or, where that is 200, the first known code in the body;
// a further code may be more exact.
func failure(status int, header http.Header, body []byte) *platform.Error {
	parsed := parseErrorBody(body)
	class, decided := ofStatus(status), status != http.StatusOK
	for _, code := range parsed.codes {
		byCode, ok := classes[strings.ReplaceAll(strings.ToLower(code), "-", "_")]
		switch {
		case !ok:
		case !decided,
			class == platform.RateLimited && byCode == platform.Quota,
			class == platform.Invalid && (byCode == platform.Auth || byCode == platform.ContentFiltered):
			class, decided = byCode, true
		}
	}
	e := &platform.Error{Class: class, RetryAfter: parsed.retry, Cause: errors.New(parsed.text(status, body))}
	if after := retryAfter(header.Get("Retry-After"), time.Now()); after > 0 {
		e.RetryAfter = after
	}
	return e
}

func ofStatus(status int) platform.Class {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return platform.Auth
	case status == http.StatusPaymentRequired:
		return platform.Quota
	case status == http.StatusTooManyRequests:
		return platform.RateLimited
	case status == http.StatusRequestTimeout || status >= 500 || status == http.StatusOK:
		return platform.Unavailable
	}
	return platform.Invalid
}

// errorBody is the body of an error, in the forms of all platforms: {error: {message, code, type, status, details:
// [{reason, retryDelay}]}}, {code, error: "text"}, {message, type, code} and {detail}.
type errorBody struct {
	codes   []string
	message string
	retry   time.Duration
}

func parseErrorBody(body []byte) (e errorBody) {
	object, err := Decode(body)
	if err != nil {
		return e
	}
	if inner := object.Object("error"); inner != nil {
		object = inner
	}
	for _, name := range []string{"code", "type", "status", "detail"} {
		if code := cmp.Or(object.Text(name), object.Decimal(name)); code != "" {
			e.codes = append(e.codes, code)
		}
	}
	e.message = cmp.Or(object.Text("message"), object.Text("error"), object.Text("detail"))
	for _, detail := range object.List("details") {
		e.codes = append(e.codes, detail.Text("reason"))
		if delay, err := time.ParseDuration(detail.Text("retryDelay")); err == nil {
			e.retry = wholeSeconds(delay)
		}
	}
	if strings.Contains(strings.ToLower(e.message), "incorrect api key") { // xAI, under the code of every other mistake
		e.codes = append(e.codes, "invalid_api_key")
	}
	return e
}

// maxText limits the text of a platform's error.
const maxText = 500

func (e errorBody) text(status int, body []byte) string {
	text := cmp.Or(e.message, strings.TrimSpace(string(body)))
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if status == http.StatusOK {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("status %d: %s", status, text))
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return wholeSeconds(time.Duration(seconds * float64(time.Second)))
	}
	if at, err := http.ParseTime(value); err == nil {
		return wholeSeconds(at.Sub(now))
	}
	return 0
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	return max(time.Duration(math.Ceil(d.Seconds()))*time.Second, 0)
}
