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
	Email          string
	PasswordHash   string
	OrganizationID uuid.UUID
	Role           string // owner, admin, member or viewer
}

var (
	addUser     = query[User]("add_user")
	userByEmail = query[User]("user_by_email")
	userEmails  = query[userEmail]("user_emails")
)

// AddUser adds a user to their organization. An email in use, in whatever case, is ErrConflict; a missing organization
// ErrNotFound.
func (db *DB) AddUser(ctx context.Context, u NewUser) (User, error) {
	user, err := addUser.one(ctx, db, u.Email, u.PasswordHash, u.OrganizationID, u.Role)
	return user, wrap(err, "add user %s", u.Email)
}

// UserByEmail finds a user of any organization by their email, in whatever case, or ErrNotFound.
func (db *DB) UserByEmail(ctx context.Context, address string) (User, error) {
	user, err := userByEmail.one(ctx, db, address)
	return user, wrap(err, "find user %s", address)
}

type userEmail struct {
	Email string `db:"email"`
}

// UserEmails lists the emails of an organization's users.
func (db *DB) UserEmails(ctx context.Context, organization uuid.UUID) ([]string, error) {
	rows, err := userEmails.all(ctx, db, organization)
	emails := make([]string, len(rows))
	for i, row := range rows {
		emails[i] = row.Email
	}
	return emails, err
}
