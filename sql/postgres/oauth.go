package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// OAuthClient is an app that asks users for grants.
type OAuthClient struct {
	ID           string   `db:"id"` // a UUID, or the address of a metadata document
	Name         string   `db:"name"`
	RedirectURIs []string `db:"redirect_uris"`
}

// NewOAuthGrant is what a user lets an app do, to be stored until its code is used.
type NewOAuthGrant struct {
	UserID, OrganizationID uuid.UUID
	ClientID, ClientName   string
	RedirectURI            string
	Scopes                 []string
	Challenge              string   // of PKCE, S256
	CodeHash               [32]byte // SHA-256
}

// OAuthAccount is the user of a grant, with its scopes.
type OAuthAccount struct {
	ID             uuid.UUID `db:"id"`
	GrantID        uuid.UUID `db:"grant_id"`
	Email          string    `db:"email"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Role           string    `db:"role"`
	ClientID       string    `db:"client_id"`
	Scopes         []string  `db:"scopes"`
}

// OAuthGrant is a connected app in a list.
type OAuthGrant struct {
	ID          uuid.UUID `db:"id" json:"id"`
	ClientID    string    `db:"client_id" json:"client_id"`
	Name        string    `db:"name" json:"name"`
	RedirectURI string    `db:"redirect_uri" json:"redirect_uri"`
	Scopes      []string  `db:"scopes" json:"scopes"`
	Email       string    `db:"email" json:"user"`
	CreatedAt   time.Time `db:"created_at" json:"created_at"`
	UsedAt      time.Time `db:"used_at" json:"last_used_at"` // when it last got tokens
}

// oauthSecret is a code or a refresh token of a grant.
type oauthSecret struct {
	GrantID    uuid.UUID `db:"grant_id"`
	UserID     uuid.UUID `db:"user_id"`
	Used       bool      `db:"used"`
	Overlapped bool      `db:"overlapped"` // used by another request after this one began
	Matches    bool      `db:"matches"`    // it is of the request's client, redirect URI and challenge, and not too old
}

// AddOAuthClient registers an app and returns its id.
func (db *DB) AddOAuthClient(ctx context.Context, name string, redirectURIs []string) (uuid.UUID, error) {
	id, err := queryOne[uuid.UUID](ctx, db, "add_oauth_client", name, redirectURIs)
	return id, wrap(err, "register app %q", name)
}

// OAuthClient finds a registered app, or ErrNotFound.
func (db *DB) OAuthClient(ctx context.Context, id uuid.UUID) (OAuthClient, error) {
	return queryOne[OAuthClient](ctx, db, "oauth_client", id)
}

// AddOAuthGrant stores a grant; ErrLimit if the user has too many.
func (db *DB) AddOAuthGrant(ctx context.Context, g NewOAuthGrant) error {
	return wrap(exec(ctx, db, "add_oauth_grant", g.UserID, g.OrganizationID, g.ClientID, g.ClientName, g.RedirectURI,
		g.Scopes, g.Challenge, g.CodeHash[:]), "add grant of %s", g.ClientID)
}

// RedeemOAuthCode changes a code for the first refresh token; both are given by their SHA-256. ErrNotFound if the code
// does not exist, is older than 60 seconds, or belongs to another client, redirect URI or challenge. ErrTokenUsed if it
// was used before, as a stolen one may be: its grant ends.
func (db *DB) RedeemOAuthCode(
	ctx context.Context, hash [32]byte, client, redirectURI, challenge string, first [32]byte,
) (grant uuid.UUID, err error) {
	return db.rotateOAuth(ctx, hash, first, func(tx Tx) (oauthSecret, error) {
		return queryOne[oauthSecret](ctx, tx, "lock_oauth_code", hash[:], client, redirectURI, challenge)
	})
}

// RefreshOAuthGrant replaces a refresh token by the next one; both are given by their SHA-256. ErrNotFound if the token
// does not exist, is older than 30 days or of another client. ErrTokenUsed if it was used before; its grant ends then,
// unless the two requests overlapped.
func (db *DB) RefreshOAuthGrant(ctx context.Context, hash [32]byte, client string, next [32]byte) (uuid.UUID, error) {
	return db.rotateOAuth(ctx, hash, next, func(tx Tx) (oauthSecret, error) {
		return queryOne[oauthSecret](ctx, tx, "lock_oauth_refresh_token", hash[:], client)
	})
}

func (db *DB) rotateOAuth(
	ctx context.Context, hash, next [32]byte, lock func(Tx) (oauthSecret, error),
) (grant uuid.UUID, err error) {
	var old oauthSecret
	err = pgx.BeginFunc(ctx, db, func(tx Tx) (err error) {
		old, err = lock(tx)
		switch {
		case err != nil || old.Overlapped:
			return err
		case old.Used:
			return exec(ctx, tx, "end_oauth_grant", old.GrantID)
		case !old.Matches:
			return ErrNotFound
		}
		if err = exec(ctx, tx, "set_actor", old.UserID); err != nil {
			return err
		}
		return exec(ctx, tx, "add_oauth_refresh_token", old.GrantID, hash[:], next[:])
	})
	if err == nil && old.Used {
		err = ErrTokenUsed
	}
	return old.GrantID, wrap(err, "renew grant %s", old.GrantID)
}

// OAuthAccount finds the user of a grant. ErrNotFound if the grant has ended, or its user is disabled or has left the
// organization.
func (db *DB) OAuthAccount(ctx context.Context, grant uuid.UUID) (OAuthAccount, error) {
	return queryOne[OAuthAccount](ctx, db, "oauth_account", grant)
}

// RevokeOAuthToken ends the grant of a client's refresh token, given by its SHA-256, or the grant of its access token.
func (db *DB) RevokeOAuthToken(ctx context.Context, hash [32]byte, client string, grant uuid.UUID) error {
	return wrap(exec(ctx, db, "revoke_oauth_token", hash[:], client, grant), "revoke token of %s", client)
}

// OAuthGrants returns the connected apps that a user may see, oldest first.
func (db *DB) OAuthGrants(ctx context.Context, m KeyManager) ([]OAuthGrant, error) {
	return queryAll[OAuthGrant](ctx, db, "oauth_grants", m.OrganizationID, m.UserID, m.Everyone)
}

// EndManagedOAuthGrant ends a grant at once, in every process; ErrNotFound unless the user may see it.
func (db *DB) EndManagedOAuthGrant(ctx context.Context, m KeyManager, grant uuid.UUID) error {
	return db.asUser(ctx, m.UserID, func(tx Tx) error {
		return wrap(execOne(ctx, tx, "end_managed_oauth_grant", grant, m.OrganizationID, m.UserID, m.Everyone),
			"end grant %s", grant)
	})
}
