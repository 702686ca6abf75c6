package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// classes are those of the codes, types, reasons and statuses by which the platforms name an error.
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

// refusal is the error that an answer says. Its status decides, or, where that is 200, the first code in the body that
// is known; a further code may say it more closely.
func refusal(status int, header http.Header, body []byte) *platform.Error {
	said := decodeSaid(body)
	class, decided := ofStatus(status), status != http.StatusOK
	for _, code := range said.codes {
		named, known := classes[strings.ReplaceAll(strings.ToLower(code), "-", "_")]
		switch {
		case !known:
		case !decided,
			class == platform.RateLimited && named == platform.Quota,
			class == platform.Invalid && (named == platform.Auth || named == platform.ContentFiltered):
			class, decided = named, true
		}
	}
	e := &platform.Error{Class: class, RetryAfter: said.retry, Cause: errors.New(said.text(status, body))}
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

// said is what the body of an error says, in the forms of all platforms: {error: {message, code, type, status,
// details: [{reason, retryDelay}]}}, {code, error: "text"}, {message, type, code} and {detail}.
type said struct {
	codes   []string
	message string
	retry   time.Duration
}

func decodeSaid(body []byte) (s said) {
	var of map[string]any
	if json.Unmarshal(body, &of) != nil {
		return s
	}
	if inner, ok := of["error"].(map[string]any); ok {
		of = inner
	}
	for _, name := range []string{"code", "type", "status", "detail"} {
		switch code := of[name].(type) {
		case string:
			s.codes = append(s.codes, code)
		case float64:
			s.codes = append(s.codes, strconv.FormatFloat(code, 'f', -1, 64))
		}
	}
	for _, name := range []string{"message", "error", "detail"} {
		if text, ok := of[name].(string); ok && s.message == "" {
			s.message = text
		}
	}
	details, _ := of["details"].([]any)
	for _, detail := range details {
		of, _ := detail.(map[string]any)
		if reason, ok := of["reason"].(string); ok {
			s.codes = append(s.codes, reason)
		}
		if delay, ok := of["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(delay); err == nil {
				s.retry = wholeSeconds(d)
			}
		}
	}
	if strings.Contains(strings.ToLower(s.message), "incorrect api key") { // xAI, under the code of every other mistake
		s.codes = append(s.codes, "invalid_api_key")
	}
	return s
}

// longestText is how much of a platform's words is kept.
const longestText = 500

func (s said) text(status int, body []byte) string {
	text := s.message
	if text == "" {
		text = strings.TrimSpace(string(body))
	}
	if len(text) > longestText {
		text = text[:longestText] + "…"
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
