package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// An Error refuses a request: a status, and the four fields that clients of PostgREST know.
type Error struct {
	status  int
	phrase  string // of the status line; "": that of the status
	code    string
	message string
	details any // a string, a list or nil
	hint    any // a string or nil
	headers [][2]string
	raw     string // replaces the four fields: the body of a gateway
	cause   error  // for the log
}

// Refusal returns an error with a body of its own, as a gateway in front of PostgREST sends it.
func Refusal(status int, body string) *Error { return &Error{status: status, raw: body} }

// BadToken refuses an invalid token.
func BadToken(message string) *Error { return badToken("PGRST301", message) }

// Forbidden refuses a caller who has no role here.
func Forbidden(message string) *Error { return refuse(http.StatusForbidden, "42501", message) }

// TooMany refuses a caller who sends too many requests.
func TooMany(message string) *Error { return refuse(http.StatusTooManyRequests, "PT429", message) }

// Unavailable refuses a request whose caller cannot be found at the moment.
func Unavailable(message string) *Error {
	return refuse(http.StatusServiceUnavailable, "PT503", message)
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.code + ": " + e.message + ": " + e.cause.Error()
	}
	return e.code + ": " + e.message
}

func (e *Error) Unwrap() error { return e.cause }

// body returns the JSON with its keys in alphabetical order, as in PostgREST.
func (e *Error) body() []byte {
	if e.raw != "" {
		return []byte(e.raw)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(struct { // strings, which cannot fail
		Code    string `json:"code"`
		Details any    `json:"details"`
		Hint    any    `json:"hint"`
		Message string `json:"message"`
	}{e.code, e.details, e.hint, e.message})
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// response returns the response that shows the error.
func (e *Error) response() *response {
	out := &response{status: e.status, phrase: e.phrase, body: [][]byte{e.body()}}
	out.headers = append(out.headers, e.headers...)
	out.add("Content-Type", mediaJSON.contentType())
	if e.code != "" {
		out.add("Proxy-Status", "PostgREST; error="+e.code)
	}
	if e.status == http.StatusServiceUnavailable {
		out.add("Retry-After", "1")
	}
	return out
}

func refuse(status int, code, message string) *Error {
	return &Error{status: status, code: code, message: message}
}

func badRequest(code, message string) *Error { return refuse(http.StatusBadRequest, code, message) }

// detailed, hinted and withHeader add to e, and return it.
func (e *Error) detailed(details string) *Error {
	e.details = details
	return e
}

func (e *Error) hinted(hint string) *Error {
	if hint != "" {
		e.hint = hint
	}
	return e
}

func (e *Error) withHeader(name, value string) *Error {
	e.headers = append(e.headers, [2]string{name, value})
	return e
}

// databaseError returns the response to an error of the database. An anonymous caller who lacks a privilege
// is asked to sign in.
func databaseError(err error, anonymous bool) *Error {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return connectionError(err)
	case pgErr.Code == "PGRST":
		return raisedError(pgErr)
	}
	e := refuse(statusOf(pgErr, anonymous), pgErr.Code, pgErr.Message).hinted(pgErr.Hint)
	e.cause = err
	if pgErr.Detail != "" {
		e.details = pgErr.Detail
	}
	if pgErr.Code == "PT"+strconv.Itoa(e.status) {
		e.phrase = pgErr.Message
	}
	if e.status == http.StatusUnauthorized {
		e = e.withHeader("WWW-Authenticate", "Bearer")
	}
	return e
}

// connectionError hides why the database does not answer.
func connectionError(err error) *Error {
	e := refuse(http.StatusServiceUnavailable, "PGRST001", "Database client error. Retrying the connection.")
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		e = refuse(http.StatusServiceUnavailable, "PGRST000", "Database connection error. Retrying the connection.")
	}
	e.cause = err
	return e
}

// statuses are by SQLSTATE, or by its class.
var statuses = map[string]int{
	"08": 503, "09": 500, "0L": 403, "0P": 403, "23503": 409, "23505": 409, "25006": 405, "25": 500, "28": 403,
	"2D": 500, "38": 500, "39": 500, "3B": 500, "40": 500, "42501": 403, "42P01": 404, "42P17": 500, "42883": 404,
	"53400": 500, "53": 503, "54": 500, "55": 500, "57P01": 503, "57": 500, "58": 500, "F0": 500, "HV": 500,
	"P0001": 400, "P0": 500, "XX": 500,
}

func statusOf(pgErr *pgconn.PgError, anonymous bool) int {
	code, message := pgErr.Code, pgErr.Message
	switch {
	case code == "21000" && !strings.HasSuffix(message, "requires a WHERE clause"):
		return http.StatusInternalServerError
	case code == "22023" && strings.HasPrefix(message, "role") && strings.HasSuffix(message, "does not exist"),
		code == "42501" && anonymous:
		return http.StatusUnauthorized
	case strings.HasPrefix(code, "PT"):
		if status, err := strconv.Atoi(code[2:]); err == nil && status >= 200 && status <= 999 {
			return status
		}
		return http.StatusInternalServerError
	}
	return cmp.Or(statuses[code], statuses[code[:min(2, len(code))]], http.StatusBadRequest)
}

// raisedError reads RAISE SQLSTATE 'PGRST': its message has the body, its detail status and headers.
func raisedError(pgErr *pgconn.PgError) *Error {
	var body struct {
		Code, Message *string
		Details, Hint *string
	}
	if json.Unmarshal([]byte(pgErr.Message), &body) != nil || body.Code == nil || body.Message == nil {
		return badRaise("Invalid JSON value for MESSAGE: '"+pgErr.Message+"'",
			"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and "+
				"optional keys: 'details', 'hint'.")
	}
	const want = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and " +
		"optional key: 'status_text'."
	if pgErr.Detail == "" {
		return badRaise("DETAIL is missing in the RAISE statement", want)
	}
	var head struct {
		Status     *int
		StatusText string `json:"status_text"`
		Headers    map[string]string
	}
	if json.Unmarshal([]byte(pgErr.Detail), &head) != nil || head.Status == nil || head.Headers == nil {
		return badRaise("Invalid JSON value for DETAIL: '"+pgErr.Detail+"'", want)
	}
	e := refuse(*head.Status, *body.Code, *body.Message)
	e.phrase, e.details, e.hint = head.StatusText, body.Details, body.Hint // of which nil ones become null
	for name, value := range head.Headers {
		e = e.withHeader(name, value)
	}
	return e
}

func badRaise(details, hint string) *Error {
	const message = `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`
	return refuse(http.StatusInternalServerError, "PGRST121", message).detailed(details).hinted(hint)
}
