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

	maxOpen      = 50 // invitations of an organization
	maxAddresses = 20 // subscribed to a brand
	maxMails     = 20 // of an organization to people outside, an hour and kind
	maxResets    = 3  // of a user, an hour
	maxAsked     = 10 // resets from a client's address, an hour
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

// Invitation is an invitation with its link, which is shown once.
type Invitation struct {
	ID        uuid.UUID `json:"id"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
	Mailed    bool      `json:"mailed"`
}

// Invite invites an address. by names the inviter in the mail.
func (l *Links) Invite(ctx context.Context, i postgres.NewInvitation, by string) (invitation Invitation, err error) {
	token, expires := rand.Text(), time.Now().Add(longLife).Truncate(time.Second)
	link, err := l.link(invitePath, token)
	if err != nil {
		return invitation, err
	}
	id, err := l.db.AddInvitation(ctx, i, func(counts postgres.InvitationCounts) (added postgres.NewLink, err error) {
		switch {
		case counts.IsMember:
			return added, problem.New(problem.Conflict, "%s is in this organization already", i.Email)
		case counts.Open >= maxOpen:
			return added, problem.New(problem.Conflict, "at most %d open invitations: revoke one", maxOpen)
		case counts.LastHour >= maxMails:
			return added, problem.New(problem.TooMany, "at most %d invitations an hour", maxMails)
		}
		return postgres.NewLink{Hash: hashOf(token), Life: longLife,
			Mail: l.mail("invitation", i.Email, &feed.Invitation{
				Organization: counts.Organization, Role: i.Role, By: by, Token: token, Expires: expires})}, nil
	})
	return Invitation{ID: id, URL: link, ExpiresAt: expires, Mailed: l.cfg.Mail}, err
}

// Reset makes the link by which a user chooses another password, and mails it unless an operator hands it over.
func (l *Links) Reset(ctx context.Context, user postgres.User, byHand bool) (url string, err error) {
	token := rand.Text()
	link := postgres.NewLink{Hash: hashOf(token), Life: resetLife}
	if !byHand {
		link.Mail = l.mail("reset", user.Email, &feed.Reset{Token: token, Expires: time.Now().Add(resetLife)})
	}
	if url, err = l.link(resetPath, token); err == nil {
		err = l.db.AddReset(ctx, user, link)
	}
	return url, err
}

// subscribe subscribes an address, which gets a mail with a link that confirms it.
func (l *Links) subscribe(ctx context.Context, a postgres.NewAddress, by uuid.UUID) (id uuid.UUID, err error) {
	id, err = l.db.AddAddress(ctx, a, by, func(counts postgres.AddressCounts) (link postgres.NewLink, err error) {
		switch {
		case counts.Addresses >= maxAddresses:
			return link, problem.New(problem.Conflict, "at most %d addresses of a brand: remove one", maxAddresses)
		case counts.LastHour >= maxMails:
			return link, problem.New(problem.TooMany, "at most %d new addresses an hour", maxMails)
		}
		token := rand.Text()
		return postgres.NewLink{Hash: hashOf(token), Life: longLife,
			Mail: l.mail("confirm", a.Address, &feed.Confirmation{
				Organization: counts.Organization, Token: token, Expires: time.Now().Add(longLife)})}, nil
	})
	if _, subscribed := errors.AsType[postgres.ErrConflict](err); subscribed {
		err = problem.New(problem.Conflict, "%s is subscribed already; remove it first", a.Address)
	}
	return id, err
}

func (l *Links) link(path, token string) (string, error) {
	if l.cfg.PublicURL == "" {
		return "", problem.New(problem.Unavailable, "links begin with ANSWERSCOPE_PUBLIC_URL, which is not set: the "+
			"operator sets it to the address that browsers use")
	}
	return l.cfg.PublicURL + path + "/" + token, nil
}

// mail returns a mail whose data is encrypted, since it may hold a token; nil where no mails are sent.
func (l *Links) mail(template, recipient string, data feed.Teller) *postgres.NewMail {
	if !l.cfg.Mail {
		return nil
	}
	sealed, err := feed.Seal(l.ring, recipient, data)
	if err != nil {
		panic(err) // a mistake in the source
	}
	return &postgres.NewMail{Template: template, Recipient: recipient, Sealed: sealed}
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
