package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Account is a user who may use the service: active, and a member of an organization.
type Account struct {
	ID             uuid.UUID       `db:"id"`
	Email          string          `db:"email"`
	OrganizationID uuid.UUID       `db:"organization_id"`
	Role           string          `db:"role"` // owner, admin, member or viewer
	UserMetadata   json.RawMessage `db:"user_metadata"`
	LastSignInAt   *time.Time      `db:"last_sign_in_at"`
	CreatedAt      time.Time       `db:"created_at"`
	UpdatedAt      time.Time       `db:"updated_at"`
	SignedIn       bool            `db:"signed_in"` // in the session that was asked for
}

// DashboardAccount is the account of a cookie.
type DashboardAccount struct {
	Account
	SessionID uuid.UUID `db:"session_id"`
	Renewed   bool      `db:"renewed"` // just now, so that its cookie lasts as long again
}

// ErrTokenUsed says that a refresh token was used before.
var ErrTokenUsed = errors.New("refresh token was used before")

// Scopes of EndSessions: which sessions of a user end.
const (
	AllSessions   = "global"
	ThisSession   = "local"
	OtherSessions = "others"
)

// refreshToken is one whose session goes on.
type refreshToken struct {
	SessionID  uuid.UUID `db:"session_id"`
	UserID     uuid.UUID `db:"user_id"`
	Used       bool      `db:"used"`
	Overlapped bool      `db:"overlapped"` // used by another request after this one began
}

// Account finds a user who may use the service, and says whether a session of theirs goes on; ErrNotFound if there is
// no such user, or they are disabled or in no organization.
func (db *DB) Account(ctx context.Context, user, session uuid.UUID) (Account, error) {
	a, err := queryOne[Account](ctx, db, "account", user, session)
	return a, wrap(err, "find account %s", user)
}

// OpenSession signs a user in and returns the session. hash is SHA-256 of its first refresh token. ErrNotFound if the
// user is disabled.
func (db *DB) OpenSession(ctx context.Context, user uuid.UUID, hash [32]byte) (session uuid.UUID, err error) {
	session, err = queryOne[uuid.UUID](ctx, db, "open_session", user, hash[:])
	return session, wrap(err, "open session of %s", user)
}

// RefreshSession replaces a refresh token by the next one; both are SHA-256 of it. ErrNotFound if there is no such
// token, it is older than 30 days, or its session has ended; ErrTokenUsed if it was used before. That ends the session,
// because one of those who had it is a thief, unless the two requests overlapped, as those of two pages of one browser
// may.
func (db *DB) RefreshSession(ctx context.Context, hash, next [32]byte) (user, session uuid.UUID, err error) {
	var old refreshToken
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var err error
		if old, err = queryOne[refreshToken](ctx, tx, "lock_refresh_token", hash[:]); err != nil {
			return err
		}
		switch {
		case old.Overlapped:
			return nil
		case old.Used:
			err = exec(ctx, tx, "end_sessions", old.UserID, old.SessionID, ThisSession)
		default:
			err = exec(ctx, tx, "rotate_refresh_token", hash[:], old.SessionID, next[:])
		}
		return err
	})
	if err == nil && old.Used {
		err = ErrTokenUsed
	}
	return old.UserID, old.SessionID, wrap(err, "refresh session %s", old.SessionID)
}

// EndSessions ends sessions of a user, as the scope says seen from one of them.
func (db *DB) EndSessions(ctx context.Context, user, session uuid.UUID, scope string) error {
	return wrap(exec(ctx, db, "end_sessions", user, session, scope), "end sessions of %s", user)
}

// OpenDashboardSession signs a user in to the dashboard. hash is SHA-256 of the session's cookie. ErrNotFound if the
// user is disabled.
func (db *DB) OpenDashboardSession(ctx context.Context, user uuid.UUID, hash [32]byte) error {
	return wrap(execOne(ctx, db, "open_dashboard_session", user, hash[:]), "open session of %s", user)
}

// AccountByCookie finds the user who may use the service by the hash of a cookie, which works for 30 days from its last
// use; ErrNotFound if there is none, or its session has ended.
func (db *DB) AccountByCookie(ctx context.Context, hash [32]byte) (DashboardAccount, error) {
	a, err := queryOne[DashboardAccount](ctx, db, "account_by_cookie", hash[:])
	return a, wrap(err, "find account of a cookie")
}
