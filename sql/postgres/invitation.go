package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// NewInvitation is an invitation to be made.
type NewInvitation struct {
	OrganizationID uuid.UUID
	Email          string
	Role           string
	By             uuid.UUID // uuid.Nil: the command line
}

// Invitation is an open invitation, with the user of its email.
type Invitation struct {
	Email        string        `db:"email"`
	Role         string        `db:"role"`
	Organization string        `db:"organization"`  // its name
	IsAllowed    bool          `db:"is_allowed"`    // the inviter may still invite, to the role
	UserID       uuid.NullUUID `db:"user_id"`       // null: there is no such user
	PasswordHash string        `db:"password_hash"` // "": they have none, or are disabled
}

// AddInvitation invites an address by a link, in place of earlier invitations of it to the organization. ErrNotFound if
// it is a member's, ErrLimit.
func (db *DB) AddInvitation(ctx context.Context, i NewInvitation, link NewLink) (id uuid.UUID, err error) {
	by := uuid.NullUUID{UUID: i.By, Valid: !i.By.IsNil()}
	err = db.asUser(ctx, i.By, func(tx Tx) error {
		err := exec(ctx, tx, "lock", "invitations of "+i.OrganizationID.String()) // one in place of another at once
		if err != nil {
			return err
		}
		if id, err = queryOne[uuid.UUID](ctx, tx, "add_invitation", i.OrganizationID, i.Email, i.Role, by); err != nil {
			return err
		}
		return link.add(ctx, tx, InvitationLink, i.OrganizationID, id)
	})
	return id, wrap(err, "invite %s", i.Email)
}

// RevokeInvitation revokes an open invitation, by a user; ErrNotFound if the organization has none of that id.
func (db *DB) RevokeInvitation(ctx context.Context, organization, id, by uuid.UUID) error {
	return db.asUser(ctx, by, func(tx Tx) error {
		return wrap(execOne(ctx, tx, "revoke_invitation", organization, id), "revoke invitation %s", id)
	})
}

// InvitationByLink finds the invitation of a link that works, or ErrNotFound.
func (db *DB) InvitationByLink(ctx context.Context, hash [32]byte) (Invitation, error) {
	return queryOne[Invitation](ctx, db, "invitation", hash[:])
}

// AcceptInvitation uses a link up and makes the user of its email a member; a new user gets a password, a PHC string.
// ErrNotFound if the link does not work any more.
func (db *DB) AcceptInvitation(ctx context.Context, hash [32]byte, i Invitation, password string) (uuid.UUID, error) {
	user := i.UserID.UUID
	if !i.UserID.Valid {
		user = uuid.Must(uuid.NewV4())
	}
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := exec(ctx, tx, "set_actor", user); err != nil {
			return err
		}
		return acceptInvitation(ctx, tx, hash[:], i.Email, user, !i.UserID.Valid, password)
	})
	return user, wrap(err, "accept invitation of %s", i.Email)
}

func acceptInvitation(
	ctx context.Context, tx Tx, hash []byte, address string, user uuid.UUID, isNew bool, password string,
) error {
	return execOne(ctx, tx, "accept_invitation", hash, address, user, isNew, password)
}
