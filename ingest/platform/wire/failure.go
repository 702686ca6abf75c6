package wire

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// classes maps the codes, types, reasons and statuses by which the platforms name an error, in lower case with _ for -.
var classes = func() map[string]platform.Class {
	byCode := map[string]platform.Class{}
	for class, codes := range map[platform.Class]string{
		platform.RateLimited: "rate_limit_exceeded rate_limit_error resource_exhausted too_many_requests " +
			"rate_limited 429",
		platform.Quota:   "insufficient_quota billing_error billing_hard_limit_reached insufficient_credits",
		platform.Timeout: "resource_already_exists", // an earlier request was accepted, and its answer was lost
		platform.Auth: "authentication_error permission_error invalid_api_key api_key_invalid unauthenticated " +
			"unauthorized permission_denied 401 403",
		platform.Invalid: "invalid_prompt invalid_request_error invalid_request not_found_error request_too_large " +
			"invalid_argument failed_precondition not_found invalid_model 400 404",
		platform.ContentFiltered: "content_filter bio_policy misalignment_policy_violation",
	} {
		for code := range strings.FieldsSeq(codes) {
			byCode[code] = class
		}
	}
	return byCode
}()

// failure returns the error of a response. Its status decides, or, where that is 200, the first known code in the body;
// a further code may be more exact.
func failure(status int, header http.Header, body []byte) *platform.Error {
	parsed := parseErrorBody(body)
	class, isExact := classOfStatus(status), status != http.StatusOK
	for _, code := range parsed.codes {
		byCode, ok := classes[strings.ReplaceAll(strings.ToLower(code), "-", "_")]
		switch {
		case !ok:
		case !isExact,
			byCode == platform.Quota && (class == platform.RateLimited || class == platform.Auth),
			class == platform.Invalid &&
				(byCode == platform.Auth || byCode == platform.ContentFiltered || byCode == platform.Timeout):
			class, isExact = byCode, true
		}
	}
	e := &platform.Error{Class: class, RetryAfter: parsed.retry, Cause: errors.New(parsed.text(status, body))}
	if after := lifecycle.RetryAfter(header.Get("Retry-After"), time.Now()); after > 0 {
		e.RetryAfter = after
	}
	return e
}

func classOfStatus(status int) platform.Class {
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
	o, err := Decode(body)
	if err != nil {
		return e
	}
	if inner := o.Object("error"); inner != nil {
		o = inner
	}
	for _, name := range []string{"code", "type", "status", "detail"} {
		if code := cmp.Or(o.Text(name), o.Decimal(name)); code != "" {
			e.codes = append(e.codes, code)
		}
	}
	e.message = cmp.Or(o.Text("message"), o.Text("error"), o.Text("detail"))
	for _, detail := range o.List("details") {
		e.codes = append(e.codes, detail.Text("reason"))
		if delay, err := time.ParseDuration(detail.Text("retryDelay")); err == nil {
			e.retry = lifecycle.WholeSeconds(delay)
		}
	}
	if strings.Contains(strings.ToLower(e.message), "incorrect api key") { // xAI, under the code of every other mistake
		e.codes = append(e.codes, "invalid_api_key")
	}
	return e
}

func (e errorBody) text(status int, body []byte) string {
	text := cmp.Or(e.message, string(body))
	if status == http.StatusOK {
		return text
	}
	return fmt.Sprintf("status %d: %s", status, text)
}

// maxText limits the text of a platform's error.
const maxText = 500

// shortened returns the beginning of a text in one line.
func shortened(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// ChangedShape returns an error of class changed_shape.
func ChangedShape(format string, args ...any) *platform.Error {
	return &platform.Error{Class: platform.ChangedShape, Cause: fmt.Errorf(format, args...)}
}

// Filtered returns an error of class content_filtered.
func Filtered(reason string) *platform.Error {
	return &platform.Error{Class: platform.ContentFiltered, Cause: errors.New(reason)}
}
