package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// ExternalIdentity is a user as an outside OpenID provider proves them.
type ExternalIdentity struct {
	Issuer, Subject string
	Email           string // verified; "": unknown
	Invitation      []byte // SHA-256 of the token of the link that they came by; nil: by none
	Organization    string // slug of the one that takes them without an invitation; "": none
}

// identityUser is the user of an identity or of its email.
type identityUser struct {
	ID       uuid.UUID `db:"id"`
	IsActive bool      `db:"is_active"`
	IsLinked bool      `db:"is_linked"`
	// IsAnother means that the user was found by the email, and is somebody else at the issuer.
	IsAnother bool `db:"is_another"`
	IsMember  bool `db:"is_member"`
	// IsUnproven means that another organization may have made the account, whose address no sign-in has proven.
	IsUnproven bool `db:"is_unproven"`
}

var (
	// ErrOtherIdentity refuses an identity whose email belongs to a user with another identity of the issuer.
	ErrOtherIdentity = errors.New("the user of the email is linked to another subject of the issuer")

	// ErrNoOrganization reports that there is no organization to take a new user.
	ErrNoOrganization = errors.New("there is no such organization")
)

// SignInByIdentity finds the user of an identity, or the one with its email, who is then linked to it. A new one is
// made for an invitation, or as a viewer of an organization, also in place of an unproven one. ErrNotFound if there is
// none, or they may not sign in, ErrOtherIdentity, ErrNoOrganization; ErrConflict if an invited user is in an
// organization; ErrValue if an unproven one is the last owner of theirs.
func (db *DB) SignInByIdentity(ctx context.Context, i ExternalIdentity) (user uuid.UUID, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		// Of two at once that come by one email, the second finds what the first has linked.
		if err := exec(ctx, tx, "lock", "sign-in at "+i.Issuer+" of "+strings.ToLower(i.Email)); err != nil {
			return err
		}
		u, err := queryOne[identityUser](ctx, tx, "identity_user", i.Issuer, i.Subject, i.Email, i.Organization)
		isNew := errors.Is(err, ErrNotFound)
		switch {
		case isNew:
			u.ID = uuid.Must(uuid.NewV4())
		case err != nil:
			return err
		case !u.IsActive:
			return ErrNotFound
		case u.IsAnother:
			return ErrOtherIdentity
		case u.IsUnproven:
			isNew, u = true, identityUser{ID: uuid.Must(uuid.NewV4()), IsUnproven: true}
		}
		user = u.ID
		if err := exec(ctx, tx, "set_actor", user); err != nil {
			return err
		}
		if u.IsUnproven {
			if err := execOne(ctx, tx, "remove_user", i.Email); err != nil {
				return err
			}
		}
		if !u.IsMember {
			err = i.join(ctx, tx, user, isNew)
		} else if i.Invitation != nil {
			err = ErrConflict{"organization"}
		}
		if err != nil || u.IsLinked {
			return err
		}
		return exec(ctx, tx, "link_identity", i.Issuer, i.Subject, user)
	})
	return user, wrap(err, "sign in %s of %s", i.Subject, i.Issuer)
}

// join makes a user a member, as invited or as a viewer.
func (i ExternalIdentity) join(ctx context.Context, tx Tx, user uuid.UUID, isNew bool) error {
	err := ErrNotFound
	if i.Email != "" && i.Invitation != nil {
		err = acceptInvitation(ctx, tx, i.Invitation, i.Email, user, isNew, "")
	}
	if !errors.Is(err, ErrNotFound) || !isNew || i.Organization == "" {
		return err
	}
	organization, err := queryOne[Organization](ctx, tx, "organization_by_slug", i.Organization)
	if errors.Is(err, ErrNotFound) {
		return ErrNoOrganization
	}
	if err == nil {
		_, err = queryOne[User](ctx, tx, "add_user", i.Email, "", organization.ID, "viewer",
			uuid.NullUUID{UUID: user, Valid: true})
	}
	return err
}
