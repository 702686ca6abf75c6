package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Tx is a transaction.
type Tx = pgx.Tx

// by runs fn in one transaction with the rights of the service, whose changes the audit log ascribes to a user.
func (db *DB) by(ctx context.Context, user uuid.UUID, fn func(tx Tx) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := exec(ctx, tx, "set_actor", user); err != nil {
			return err
		}
		return fn(tx)
	})
}
