package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Tx is a transaction.
type Tx = pgx.Tx

// asUser runs fn in a transaction whose changes the audit log ascribes to the user; without one (uuid.Nil) to the
// command line.
func (db *DB) asUser(ctx context.Context, user uuid.UUID, fn func(tx Tx) error) error {
	return pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if user != uuid.Nil {
			if err := exec(ctx, tx, "set_actor", user); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// AuditLine is a line of the audit log: who changed what, when and from where.
type AuditLine struct {
	At           time.Time `db:"at" json:"at"`
	Actor        string    `db:"actor" json:"actor"`
	Address      string    `db:"address" json:"address"` // "": a local socket
	Action       string    `db:"action" json:"action"`
	Organization string    `db:"organization" json:"organization"` // its slug, its id once it is deleted, "": none
	Subject      string    `db:"subject" json:"subject"`
}

// LogAudit adds a line about something outside this database, such as "analyst added"; uuid.Nil belongs to
// no organization. Triggers add the other lines.
func (db *DB) LogAudit(ctx context.Context, action string, organization uuid.UUID, subject string) error {
	return wrap(exec(ctx, db, "log_audit", action, organization, subject), "log audit: %s %s", action, subject)
}

// AuditLog returns the newest lines of the audit log, the newest first.
func (db *DB) AuditLog(ctx context.Context, limit int) ([]AuditLine, error) {
	return queryAll[AuditLine](ctx, db, "audit_log", limit)
}
