package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Claims are the verified claims of a caller's token, such as sub, the user's id. Nil is a caller without one.
type Claims map[string]any

// Tx is a transaction.
type Tx = pgx.Tx

var (
	setCaller = query[none]("set_caller")
	setActor  = query[none]("set_actor")
)

// As runs fn in one transaction as the caller, so that row-level security lets it see and write only what the caller
// may. As PostgREST does, it sets the role (authenticated or anon, as the claims say) and request.jwt.claims for this
// transaction alone. It commits if fn returns nil.
func (db *DB) As(ctx context.Context, claims Claims, fn func(tx Tx) error) error {
	role, err := claims.role()
	if err != nil {
		return err
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return fmt.Errorf("encode claims: %w", err)
	}
	if claims == nil {
		text = nil
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := setCaller.run(ctx, tx, role, string(text)); err != nil {
			return err
		}
		return fn(tx)
	})
}

// by runs fn in one transaction with the rights of the service, whose changes the audit log ascribes to a user.
func (db *DB) by(ctx context.Context, user uuid.UUID, fn func(tx Tx) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := setActor.run(ctx, tx, user); err != nil {
			return err
		}
		return fn(tx)
	})
}

// role is the role of the claims: no token can name another one, such as the owner of the tables.
func (c Claims) role() (string, error) {
	switch role := c["role"]; role {
	case nil:
		return "anon", nil
	case "anon", "authenticated":
		return role.(string), nil
	default:
		return "", fmt.Errorf("role %q of the claims: want authenticated or anon", role)
	}
}
