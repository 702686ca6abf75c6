// Package link makes one-time links and serves the pages behind them: invitations, passwords to be chosen, addresses to
// be confirmed, and mails to be stopped. GET shows a page and changes nothing, because mail scanners follow links; POST
// does what the page offers.
//
// A link begins with the public URL of the configuration, never with the Host of a request, which its sender chooses.
package link

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	longLife  = 7 * 24 * time.Hour // of invitations, as in 0038_invitations.up.sql, and of addresses to be confirmed
	resetLife = time.Hour

	maxResets = 3  // of a user, an hour
	maxAsked  = 10 // resets from a client's address, an hour
)

// Config holds the settings of links.
type Config struct {
	PublicURL string // begins every link
	Mail      bool   // whether mails are sent
}

// Links makes links and serves their pages. It is safe for concurrent use.
type Links struct {
	cfg      Config
	db       *postgres.DB
	ring     secret.Ring
	provider *auth.Provider               // nil where users have another one
	clients  *auth.Attempts[netip.Prefix] // to reset a password
	resets   chan string                  // addresses for which one was asked
	log      *slog.Logger
}

// New returns links whose mails are encrypted with ring until they are sent.
func New(cfg Config, db *postgres.DB, ring secret.Ring, provider *auth.Provider, log *slog.Logger) *Links {
	return &Links{cfg: cfg, db: db, ring: ring, provider: provider, log: log,
		clients: auth.NewAttempts[netip.Prefix](maxAsked, time.Hour), resets: make(chan string, 100)}
}

// Mails reports whether links are mailed.
func (l *Links) Mails() bool { return l.cfg.Mail }

// Invitation is an invitation with its link, which is shown once.
type Invitation struct {
	ID        uuid.UUID `json:"id"`
	URL       string    `json:"url,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
	Mailed    bool      `json:"mailed"`
}

// Invite invites an address. by names the inviter in the mail.
func (l *Links) Invite(ctx context.Context, i postgres.NewInvitation, by string) (Invitation, error) {
	name, err := l.db.OrganizationName(ctx, i.OrganizationID)
	if err != nil {
		return Invitation{}, err
	}
	data := feed.Link{Template: feed.Invite, Organization: name, Role: i.Role, By: by}
	link, url, err := l.make(invitePath, longLife, i.Email, &data)
	if err != nil {
		return Invitation{}, err
	}
	id, err := l.db.AddInvitation(ctx, i, link)
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Conflict, "%s is in this organization already", i.Email)
	}
	return Invitation{ID: id, URL: url, ExpiresAt: data.Expires, Mailed: link.Mail != nil}, err
}

// Reset makes the link by which a user chooses another password, and mails it unless an operator hands it over.
func (l *Links) Reset(ctx context.Context, user postgres.User, byHand bool) (string, error) {
	link, url, err := l.make(resetPath, resetLife, user.Email, &feed.Link{Template: feed.ResetPassword})
	if byHand {
		link.Mail = nil
	}
	if err != nil {
		return "", err
	}
	return url, l.db.AddReset(ctx, user, link)
}

// subscribe subscribes an address, which gets a mail with a link that confirms it.
func (l *Links) subscribe(ctx context.Context, a postgres.NewAddress, by uuid.UUID) (id uuid.UUID, err error) {
	name, err := l.db.OrganizationName(ctx, a.OrganizationID)
	if err != nil {
		return id, err
	}
	link, _, err := l.make(confirmPath, longLife, a.Address, &feed.Link{Template: feed.Confirm, Organization: name})
	if err != nil {
		return id, err
	}
	id, err = l.db.AddAddress(ctx, a, by, link)
	if _, subscribed := errors.AsType[postgres.ErrConflict](err); subscribed {
		err = problem.New(problem.Conflict, "%s is subscribed already; remove it first", a.Address)
	}
	if errors.Is(err, postgres.ErrNotFound) {
		err = problem.New(problem.Missing, "there is no such brand")
	}
	return id, err
}

// make returns a link that works for a time, with its mail, and its address.
func (l *Links) make(
	path string, life time.Duration, recipient string, data *feed.Link,
) (link postgres.NewLink, url string, err error) {
	if l.cfg.PublicURL == "" {
		return link, "", problem.New(problem.Unavailable, "links begin with ANSWERSCOPE_PUBLIC_URL, which is not set: "+
			"the operator sets it to the address that browsers use")
	}
	data.Token, data.Expires = rand.Text(), time.Now().Add(life).Truncate(time.Second)
	link = postgres.NewLink{Hash: hashOf(data.Token), Life: life, Mail: l.mail(recipient, data)}
	return link, l.cfg.PublicURL + path + "/" + data.Token, nil
}

// mail returns a mail whose data is encrypted, since it may hold a token; nil where no mails are sent.
func (l *Links) mail(recipient string, data *feed.Link) *postgres.NewMail {
	if !l.cfg.Mail {
		return nil
	}
	return &postgres.NewMail{Template: data.Template, Recipient: recipient, Sealed: data.Seal(l.ring, recipient)}
}

func hashOf(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// Run mails links to those who asked for another password. Their requests have been answered by then, so that the time
// of the answer is the same for known and unknown addresses.
func (l *Links) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case address := <-l.resets:
			if err := l.mailReset(ctx, address); err != nil && ctx.Err() == nil {
				l.log.Warn("password reset not mailed", "error", err, "next", "nothing: the user asks again")
			}
		}
	}
}

// mailReset mails a link to a user, at most three times an hour; none to a disabled user, or to one who signs in by an
// OpenID provider alone.
func (l *Links) mailReset(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	user, err := l.db.UserByEmail(ctx, address)
	if errors.Is(err, postgres.ErrNotFound) {
		return nil
	}
	if err != nil || !user.IsActive || user.PasswordHash == "" && l.provider.OIDCName() != "" {
		return err
	}
	count, err := l.db.ResetsOfHour(ctx, user.ID)
	if err == nil && count < maxResets {
		_, err = l.Reset(ctx, user, false)
	}
	return err
}
