package postgres

import (
	"context"
	"net/mail"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Kinds of one-time links.
const (
	InvitationLink   = "invitation"
	ResetLink        = "password_reset"
	ConfirmationLink = "confirmation"
)

// A NewLink is a link to be made, with the mail that holds it.
type NewLink struct {
	Hash [32]byte // SHA-256 of its token
	Life time.Duration
	Mail *NewMail // nil: none
}

// A NewMail is a mail to be queued.
type NewMail struct {
	Template  string
	Recipient string
	Sealed    string // its data, encrypted under the recipient
}

// add makes the link, which voids earlier ones of the subject.
func (l NewLink) add(ctx context.Context, tx Tx, kind string, organization, subject uuid.UUID) error {
	if err := exec(ctx, tx, "add_link", l.Hash[:], organization, kind, subject, l.Life, l.Mail == nil); err != nil {
		return err
	}
	return l.Mail.add(ctx, tx, organization)
}

func (m *NewMail) add(ctx context.Context, tx Tx, organization uuid.UUID) error {
	if m == nil {
		return nil
	}
	return exec(ctx, tx, "add_mail", organization, m.Template, m.Recipient, m.Sealed)
}

// ResetsOfHour counts the links for another password that were made for a user within the last hour.
func (db *DB) ResetsOfHour(ctx context.Context, user uuid.UUID) (int, error) {
	return queryOne[int](ctx, db, "resets_of_hour", user)
}

// LinkSubject finds the subject of a link that works, or ErrNotFound.
func (db *DB) LinkSubject(ctx context.Context, kind string, hash [32]byte) (uuid.UUID, error) {
	return queryOne[uuid.UUID](ctx, db, "link_subject", hash[:], kind)
}

// AddReset makes the link by which a user chooses another password.
func (db *DB) AddReset(ctx context.Context, u User, link NewLink) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := exec(ctx, tx, "log_audit", "password reset asked", u.OrganizationID, u.Email); err != nil {
			return err
		}
		return link.add(ctx, tx, ResetLink, u.OrganizationID, u.ID)
	})
	return wrap(err, "add reset of %s", u.ID)
}

// ResetPassword uses a link up, gives its user a password, a PHC string, and ends their sessions. ErrNotFound if the
// link does not work.
func (db *DB) ResetPassword(ctx context.Context, hash [32]byte, a Account, password string, mail *NewMail) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := execOne(ctx, tx, "use_link", hash[:], ResetLink); err != nil {
			return err
		}
		if err := exec(ctx, tx, "set_actor", a.ID); err != nil {
			return err
		}
		if err := execOne(ctx, tx, "set_password", a.Email, password, uuid.Nil); err != nil {
			return err
		}
		return mail.add(ctx, tx, a.OrganizationID)
	})
	return wrap(err, "reset password of %s", a.ID)
}

// NewAddress is an address to be subscribed.
type NewAddress struct {
	OrganizationID uuid.UUID
	BrandID        uuid.NullUUID // of the organization; null: all of its brands
	Address        string
	Events         []string // none: all that are mailed
	DropsOnly      bool
}

// AddAddress subscribes an address, by a user, once it follows the link. One that is subscribed is ErrConflict, a brand
// of another organization ErrNotFound, a type that is not mailed ErrValue; ErrLimit.
func (db *DB) AddAddress(ctx context.Context, a NewAddress, by uuid.UUID, link NewLink) (id uuid.UUID, err error) {
	err = db.asUser(ctx, by, func(tx Tx) error {
		id, err = queryOne[uuid.UUID](ctx, tx, "add_subscription",
			a.OrganizationID, a.BrandID, a.Address, a.Events, a.DropsOnly)
		if err != nil {
			return err
		}
		return link.add(ctx, tx, ConfirmationLink, a.OrganizationID, id)
	})
	return id, wrap(err, "subscribe %s", a.Address)
}

// Subscription is what a page about it shows.
type Subscription struct {
	Address string `db:"address"`
	Subject string `db:"subject"` // a brand and its organization, or the organization
}

// Subscription finds a subscription, or ErrNotFound.
func (db *DB) Subscription(ctx context.Context, id uuid.UUID) (Subscription, error) {
	return queryOne[Subscription](ctx, db, "subscription", id)
}

// ConfirmSubscription uses a link up and confirms its subscription. ErrNotFound if the link does not work.
func (db *DB) ConfirmSubscription(ctx context.Context, hash [32]byte, id uuid.UUID) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := execOne(ctx, tx, "use_link", hash[:], ConfirmationLink); err != nil {
			return err
		}
		return execOne(ctx, tx, "confirm_subscription", id)
	})
	return wrap(err, "confirm subscription %s", id)
}

// StopSubscription ends the mails of a subscription; ErrNotFound if there is none.
func (db *DB) StopSubscription(ctx context.Context, id uuid.UUID) error {
	return wrap(execOne(ctx, db, "stop_subscription", id), "stop subscription %s", id)
}

// IsEmail reports whether a text is one address of a mailbox, of at most 320 bytes.
func IsEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && len(text) <= 320 && !strings.ContainsAny(text, " \t\"") &&
		IsName(text)
}
