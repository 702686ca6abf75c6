package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// User is a person with their organization and role.
type User struct {
	ID             uuid.UUID `db:"id"`
	Email          string    `db:"email"`
	PasswordHash   string    `db:"password_hash"` // a PHC string; "" for a user of another identity provider
	IsActive       bool      `db:"is_active"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Role           string    `db:"role"` // owner, admin, member or viewer
	CreatedAt      time.Time `db:"created_at"`
}

// NewUser is a user to be added.
type NewUser struct {
	ID             uuid.UUID // of another identity provider; uuid.Nil: a new one
	Email          string
	PasswordHash   string
	OrganizationID uuid.UUID
	Role           string // owner, admin, member or viewer
}

// AddUser adds a user to their organization. An id or an email in use is ErrConflict, a missing organization
// ErrNotFound. The case of emails does not matter.
func (db *DB) AddUser(ctx context.Context, u NewUser) (User, error) {
	id := uuid.NullUUID{UUID: u.ID, Valid: !u.ID.IsNil()}
	user, err := queryOne[User](ctx, db, "add_user", u.Email, u.PasswordHash, u.OrganizationID, u.Role, id)
	return user, wrap(err, "add user %s", u.Email)
}

// UserByEmail finds a user of any organization, or ErrNotFound.
func (db *DB) UserByEmail(ctx context.Context, address string) (User, error) {
	user, err := queryOne[User](ctx, db, "user_by_email", address)
	return user, wrap(err, "find user %s", address)
}

// UserEmails lists the emails of an organization's users.
func (db *DB) UserEmails(ctx context.Context, organization uuid.UUID) ([]string, error) {
	return queryAll[string](ctx, db, "user_emails", organization)
}

// OrganizationUser is a user in a list.
type OrganizationUser struct {
	ID           uuid.UUID  `db:"id" json:"id"`
	Email        string     `db:"email" json:"email"`
	Role         string     `db:"role" json:"role"`
	IsActive     bool       `db:"is_active" json:"is_active"`
	LastSignInAt *time.Time `db:"last_sign_in_at" json:"last_sign_in_at"` // nil: never
	CreatedAt    time.Time  `db:"created_at" json:"created_at"`
}

// ListUsers returns the users of an organization, by email.
func (db *DB) ListUsers(ctx context.Context, organization uuid.UUID) ([]OrganizationUser, error) {
	return queryAll[OrganizationUser](ctx, db, "users", organization)
}

// SetUserActive enables or disables a user. Disabling ends their sessions, and their keys do not work meanwhile.
// ErrNotFound if the user does not exist.
func (db *DB) SetUserActive(ctx context.Context, address string, active bool) error {
	return wrap(execOne(ctx, db, "set_user_active", address, active), "change user %s", address)
}

// SetPassword replaces a user's password, a PHC string, and ends their sessions. ErrNotFound if the user does not
// exist.
func (db *DB) SetPassword(ctx context.Context, address, hash string) error {
	return db.ChangePassword(ctx, address, hash, uuid.Nil)
}

// ChangePassword is SetPassword by a user, whose present session goes on.
func (db *DB) ChangePassword(ctx context.Context, address, hash string, except uuid.UUID) error {
	return wrap(execOne(ctx, db, "set_password", address, hash, except), "set password of %s", address)
}

// SetRole makes a user an owner, admin, member or viewer. ErrNotFound if the user does not exist.
func (db *DB) SetRole(ctx context.Context, address, role string) error {
	return wrap(execOne(ctx, db, "set_role", address, role), "set role of %s", address)
}

// RemoveUser deletes a user with their membership, sessions and keys. ErrNotFound if the user does not exist.
func (db *DB) RemoveUser(ctx context.Context, address string) error {
	return wrap(execOne(ctx, db, "remove_user", address), "remove user %s", address)
}
