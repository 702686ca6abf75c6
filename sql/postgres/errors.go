package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNotFound reports that a row, or a row that it refers to, does not exist.
var ErrNotFound = errors.New("not found")

// ErrConflict reports that another row has a value that must be unique.
type ErrConflict struct{ What string } // "slug", "email", …

func (e ErrConflict) Error() string { return e.What + " is taken" }

// ErrLimit reports that there are as many rows as there may be; its text has the remedy.
type ErrLimit struct {
	Text    string
	IsShort bool // it ends within the hour
}

func (e ErrLimit) Error() string { return e.Text }

// ErrValue is the error of a value that the schema refuses.
type ErrValue struct{ cause *pgconn.PgError }

// Public returns a text with the right values; false if only PostgreSQL has a text.
func (e ErrValue) Public() (string, bool) {
	if e.cause.Code == "22021" {
		return "a text has a zero byte: leave it out", true
	}
	return e.cause.Message, e.cause.Code == "23514" && e.cause.ConstraintName == "" // raised by a function of ours
}

func (e ErrValue) Error() string { return e.cause.Message }
func (e ErrValue) Unwrap() error { return e.cause }

// uniqueValues names the value that a constraint keeps unique.
var uniqueValues = map[string]string{
	"organizations_slug_key":                      "slug",
	"brands_organization_id_slug_key":             "slug",
	"users_email_key":                             "email",
	"users_pkey":                                  "id",
	"members_user_id_key":                         "user",
	"competitors_brand_id_name_key":               "competitor",
	"brand_platforms_brand_id_platform_model_key": "platform",
	"api_key_hashes_hash_key":                     "key",
}

// wrap adds the operation to an error; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// typed returns the error of a statement: ErrNotFound, ErrConflict, ErrLimit and ErrValue alone, because the caller
// adds their subject, and any other with the statement's name.
func typed(err error, statement string) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "23505":
			return ErrConflict{cmp.Or(uniqueValues[refused.ConstraintName], refused.ConstraintName)}
		case "23503":
			return ErrNotFound
		case "23514", "22023", "22021":
			return ErrValue{refused}
		case "54000", "AS429":
			return ErrLimit{refused.Message, refused.Code == "AS429"}
		}
	}
	return fmt.Errorf("query %s: %w", statement, err)
}

// sqlState returns the SQLSTATE of an error of the server, "" for any other error.
func sqlState(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// IsTransient reports whether a statement may succeed if it is sent again: the connection failed, no connection was
// free or no answer came in time, the server is starting, stopping, read-only or out of a resource, or it cancelled the
// statement or its transaction, as after a deadlock.
func IsTransient(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false // by the caller
	}
	if _, unconnected := errors.AsType[*pgconn.ConnectError](err); unconnected {
		return true
	}
	if code := sqlState(err); code != "" {
		return code == readOnly || slices.Contains(transientClasses, code[:min(2, len(code))])
	}
	_, lost := errors.AsType[*net.OpError](err)
	return lost || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}

// transientClasses are classes of SQLSTATE: connection exception, transaction rollback, insufficient resources and
// operator intervention.
var transientClasses = []string{"08", "40", "53", "57"}

// readOnly is the SQLSTATE of a write on a read-only server, such as a primary that has become a standby.
const readOnly = "25006"
