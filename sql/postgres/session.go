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
	SignedIn       bool            `db:"signed_in"` // the session exists and was not revoked
}

// DashboardAccount is the account of a cookie.
type DashboardAccount struct {
	Account
	SessionID uuid.UUID `db:"session_id"`
	Renewed   bool      `db:"renewed"` // just now: the cookie gets a new expiry
}

// ErrTokenUsed reports that a refresh token was used before.
var ErrTokenUsed = errors.New("refresh token was used before")

// Scopes of EndSessions, relative to one session.
const (
	AllSessions   = "global"
	ThisSession   = "local"
	OtherSessions = "others"
)

// refreshToken is a refresh token of a session that was not revoked.
type refreshToken struct {
	SessionID  uuid.UUID `db:"session_id"`
	UserID     uuid.UUID `db:"user_id"`
	Used       bool      `db:"used"`
	Overlapped bool      `db:"overlapped"` // used by another request after this one began
}

// Account finds a user who may use the service, and checks their session; ErrNotFound if the user does not exist, is
// disabled or is in no organization.
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

// RefreshSession replaces a refresh token by the next one; both are given by their SHA-256. ErrNotFound if the token
// does not exist, is older than 30 days, or its session has ended; ErrTokenUsed if it was used before. A reused token
// was stolen, so its session ends, unless the two requests overlapped, as two pages of one browser do.
func (db *DB) RefreshSession(ctx context.Context, hash, next [32]byte) (user, session uuid.UUID, err error) {
	var old refreshToken
	err = pgx.BeginFunc(ctx, db, func(tx Tx) (err error) {
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

// EndSessions ends the sessions of a user that the scope selects.
func (db *DB) EndSessions(ctx context.Context, user, session uuid.UUID, scope string) error {
	return wrap(exec(ctx, db, "end_sessions", user, session, scope), "end sessions of %s", user)
}

// OpenDashboardSession signs a user in to the dashboard, without a life until the session was not used for 30 days.
// hash is SHA-256 of the session's cookie. ErrNotFound if the user is disabled.
func (db *DB) OpenDashboardSession(ctx context.Context, user uuid.UUID, hash [32]byte, life time.Duration) error {
	return wrap(execOne(ctx, db, "open_dashboard_session", user, hash[:], life), "open session of %s", user)
}

// AccountByCookie finds the user of a dashboard session by the hash of its cookie, which works for 30 days from its
// last use; ErrNotFound if the cookie is unknown or its session has ended.
func (db *DB) AccountByCookie(ctx context.Context, hash [32]byte) (DashboardAccount, error) {
	a, err := queryOne[DashboardAccount](ctx, db, "account_by_cookie", hash[:])
	return a, wrap(err, "find account of a cookie")
}
