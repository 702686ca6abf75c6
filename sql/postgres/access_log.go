package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// AccessChange is a line of the access log: who gave or took access, when and from where.
type AccessChange struct {
	At           time.Time `db:"at" json:"at"`
	Actor        string    `db:"actor" json:"actor"`
	Address      string    `db:"address" json:"address"` // "": a local socket
	Change       string    `db:"change" json:"change"`
	Organization string    `db:"organization" json:"organization"` // its slug, its id once it is deleted, "": none
	Subject      string    `db:"subject" json:"subject"`
}

var (
	logAccess = query[none]("log_access")
	accessLog = query[AccessChange]("access_log")
)

// LogAccess adds a line of what is no row of this database, such as "analyst added". The others are added with the change.
func (db *DB) LogAccess(ctx context.Context, change string, organization uuid.UUID, subject string) error {
	_, err := logAccess.run(ctx, db, change, organization, subject)
	return wrap(err, "log access: %s %s", change, subject)
}

// AccessLog returns the newest lines of the access log, the newest first.
func (db *DB) AccessLog(ctx context.Context, limit int) ([]AccessChange, error) {
	return accessLog.all(ctx, db, limit)
}
