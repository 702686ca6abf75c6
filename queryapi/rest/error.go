package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

const statusBadRequest = http.StatusBadRequest

// An Error is an answer that refuses: a status and the four fields that clients of PostgREST know.
type Error struct {
	status  int
	phrase  string // of the status line; "" is that of the status
	code    string
	message string
	details any // a string, a list or nil
	hint    any // a string or nil
	headers [][2]string
	raw     string // in place of the four fields: the body of a gateway
	cause   error  // for the log
}

// Refusal is an answer with a body of its own, such as that of a gateway in front.
func Refusal(status int, body string) *Error { return &Error{status: status, raw: body} }

// BadToken is the answer to a token that is not valid.
func BadToken(message string) *Error { return badToken("PGRST301", message) }

// Forbidden is the answer to a caller who has no role here.
func Forbidden(message string) *Error { return refuse(http.StatusForbidden, "42501", message) }

// TooMany is the answer to a caller who asks too often.
func TooMany(message string) *Error { return refuse(http.StatusTooManyRequests, "PT429", message) }

// Unavailable is the answer while who asks cannot be found out.
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

// body has its keys in the order of the alphabet, as PostgREST has them.
func (e *Error) body() []byte {
	if e.raw != "" {
		return []byte(e.raw)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(struct { // of strings, which cannot fail
		Code    string `json:"code"`
		Details any    `json:"details"`
		Hint    any    `json:"hint"`
		Message string `json:"message"`
	}{e.code, e.details, e.hint, e.message})
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func refuse(status int, code, message string) *Error {
	return &Error{status: status, code: code, message: message}
}

// detailed and hinted add what e lacks, and return it.
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

// ofPostgres is the answer to an error of the database. A caller who is not signed in may do so where he lacks a
// privilege.
func ofPostgres(err error, anonymous bool) *Error {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ofConnection(err)
	}
	if said.Code == "PGRST" {
		return raised(said)
	}
	e := &Error{status: statusOf(said, anonymous), code: said.Code, message: said.Message, cause: err}
	if said.Detail != "" {
		e.details = said.Detail
	}
	if said.Hint != "" {
		e.hint = said.Hint
	}
	if said.Code == "PT"+strconv.Itoa(e.status) {
		e.phrase = said.Message
	}
	if e.status == http.StatusUnauthorized {
		e.headers = [][2]string{{"WWW-Authenticate", "Bearer"}}
	}
	return e
}

// ofConnection says of a database that does not answer no more than that.
func ofConnection(err error) *Error {
	e := refuse(http.StatusServiceUnavailable, "PGRST001", "Database client error. Retrying the connection.")
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		e = refuse(http.StatusServiceUnavailable, "PGRST000", "Database connection error. Retrying the connection.")
	}
	e.cause = err
	return e
}

// statuses are those of SQLSTATEs, of whole ones and of classes.
var statuses = map[string]int{
	"08": 503, "09": 500, "0L": 403, "0P": 403, "23503": 409, "23505": 409, "25006": 405, "25": 500, "28": 403,
	"2D": 500, "38": 500, "39": 500, "3B": 500, "40": 500, "53400": 500, "53": 503, "54": 500, "55": 500, "57P01": 503,
	"57": 500, "58": 500, "F0": 500, "HV": 500, "P0001": 400, "P0": 500, "XX": 500, "42P01": 404, "42P17": 500, "42883": 404,
}

func statusOf(said *pgconn.PgError, anonymous bool) int {
	code, message := said.Code, said.Message
	switch {
	case code == "21000" && !strings.HasSuffix(message, "requires a WHERE clause"):
		return http.StatusInternalServerError
	case code == "22023" && strings.HasPrefix(message, "role") && strings.HasSuffix(message, "does not exist"):
		return http.StatusUnauthorized
	case code == "42501" && anonymous:
		return http.StatusUnauthorized
	case code == "42501":
		return http.StatusForbidden
	case strings.HasPrefix(code, "PT"):
		if status, err := strconv.Atoi(code[2:]); err == nil && status >= 200 && status <= 999 {
			return status
		}
		return http.StatusInternalServerError
	}
	if status, ok := statuses[code]; ok {
		return status
	}
	if status, ok := statuses[code[:min(2, len(code))]]; ok {
		return status
	}
	return http.StatusBadRequest
}

// raised is the answer that RAISE SQLSTATE 'PGRST' describes: its message has the body, its detail status and headers.
func raised(said *pgconn.PgError) *Error {
	var body struct {
		Code, Message *string
		Details, Hint *string
	}
	if json.Unmarshal([]byte(said.Message), &body) != nil || body.Code == nil || body.Message == nil {
		return notRaised("Invalid JSON value for MESSAGE: '"+said.Message+"'",
			"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.")
	}
	const want = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."
	if said.Detail == "" {
		return notRaised("DETAIL is missing in the RAISE statement", want)
	}
	var head struct {
		Status     *int
		StatusText string `json:"status_text"`
		Headers    map[string]string
	}
	if json.Unmarshal([]byte(said.Detail), &head) != nil || head.Status == nil || head.Headers == nil {
		return notRaised("Invalid JSON value for DETAIL: '"+said.Detail+"'", want)
	}
	e := &Error{status: *head.Status, phrase: head.StatusText, code: *body.Code, message: *body.Message}
	if body.Details != nil {
		e.details = *body.Details
	}
	if body.Hint != nil {
		e.hint = *body.Hint
	}
	for name, value := range head.Headers {
		e.headers = append(e.headers, [2]string{name, value})
	}
	return e
}

func notRaised(details, hint string) *Error {
	e := refuse(http.StatusInternalServerError, "PGRST121", `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`)
	return e.detailed(details).hinted(hint)
}
