package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNotFound says that there is no such row, or that a row it refers to does not exist.
var ErrNotFound = errors.New("not found")

// ErrConflict says that another row has a value that must be unique.
type ErrConflict struct{ What string } // "slug", "email", …

func (e ErrConflict) Error() string { return e.What + " is taken" }

// taken names the value that each unique constraint keeps unique.
var taken = map[string]string{
	"organizations_slug_key":                      "slug",
	"brands_organization_id_slug_key":             "slug",
	"users_email_key":                             "email",
	"users_pkey":                                  "id",
	"members_user_id_key":                         "user",
	"competitors_brand_id_name_key":               "competitor",
	"brand_platforms_brand_id_platform_model_key": "platform",
	"api_key_hashes_hash_key":                     "key",
}

// wrap says in an error what was being done; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// typed turns the server's errors into those of this package.
func typed(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch refused.Code {
	case "23505":
		what, known := taken[refused.ConstraintName]
		if !known {
			what = refused.ConstraintName
		}
		return ErrConflict{what}
	case "23503":
		return ErrNotFound
	case "23514", "22023":
		return refusedValue{refused}
	}
	return err
}

// refusedValue is what the schema refuses, in its own words.
type refusedValue struct{ cause *pgconn.PgError }

func (e refusedValue) Error() string { return e.cause.Message }
func (e refusedValue) Unwrap() error { return e.cause }

// Unreached reports whether an error is of the connection, or of a server that is starting or stopping.
func Unreached(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"57P01", "57P02", "57P03"}, refused.Code)
	}
	_, unconnected := errors.AsType[*pgconn.ConnectError](err)
	_, lost := errors.AsType[*net.OpError](err)
	return unconnected || lost || errors.Is(err, io.ErrUnexpectedEOF)
}
