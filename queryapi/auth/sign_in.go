package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	tokenLife = time.Hour // of an access token
	maxHashes = 4         // computed at once: each takes 19 MB and a core
)

// ErrPassword refuses the password of an invited user, whether or not they have an account.
var ErrPassword = problem.New(problem.Invalid, "The password is wrong, or too weak for a new account: "+
	"want at least %d characters; several unrelated words will do.", MinPassword)

// token opens a session by password, or continues one by its last refresh token. It ignores a credential in the header,
// such as the anon key.
func (p *Provider) token(c *fiber.Ctx) error {
	switch c.Query("grant_type") {
	case "password":
		return p.signIn(c)
	case "refresh_token":
		return p.refresh(c)
	}
	return &failure{http.StatusBadRequest, "validation_failed", "grant_type: want password or refresh_token"}
}

func (p *Provider) signIn(c *fiber.Ctx) error {
	refresh, session := rand.Text(), uuid.Nil
	user, err := p.authenticate(c)
	if err == nil {
		session, err = p.db.OpenSession(c.UserContext(), user.ID, sha256.Sum256([]byte(refresh)))
	}
	if errors.Is(err, postgres.ErrNotFound) { // disabled
		err = errCredentials
	}
	if p.logSignIn(c, user.ID, "password", err); err != nil {
		return err
	}
	return p.sendSession(c, user.ID, session, refresh)
}

// authenticate finds the user by the address and password of a request, within the limit of its client.
func (p *Provider) authenticate(c *fiber.Ctx) (user postgres.User, err error) {
	client, now := p.Client(c), time.Now()
	if err := p.attempts.Take(c, client, now); err != nil {
		return user, err
	}
	var body struct{ Email, Password string }
	if err := decode(c, &body); err != nil {
		return user, err
	}
	user, err = p.checkPassword(c.UserContext(), body.Email, body.Password)
	if err == nil {
		p.attempts.GiveBack(client, now)
	}
	if errors.Is(err, errTooMany) {
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	return user, err
}

// logSignIn logs a sign-in of a user, uuid.Nil for an unknown address, that has succeeded or was refused.
func (p *Provider) logSignIn(c *fiber.Ctx, user uuid.UUID, by string, err error) {
	switch attributes := []any{"user", user, "client", p.Client(c), "by", by}; {
	case err == nil:
		p.log.Info("signed in", attributes...)
	case errors.Is(err, errCredentials):
		p.log.Info("sign-in refused", attributes...)
	}
}

// checkPassword finds the user of an address and a password. An unknown address takes as long as a known one.
func (p *Provider) checkPassword(ctx context.Context, address, secret string) (postgres.User, error) {
	if strings.ContainsRune(address, 0) {
		address = "" // PostgreSQL refuses such a text
	}
	user, err := p.db.UserByEmail(ctx, address)
	if err != nil && !errors.Is(err, postgres.ErrNotFound) {
		return user, err
	}
	matches, err := p.Matches(ctx, cmp.Or(user.PasswordHash, p.dummyHash()), secret)
	if err == nil && !matches {
		err = errCredentials
	}
	return user, err
}

// VerifyPassword checks a password as a sign-in does, against a hash; "" is the hash of no password. A wrong one is
// ErrPassword.
func (p *Provider) VerifyPassword(c *fiber.Ctx, hash, password string) error {
	client, now := p.Client(c), time.Now()
	if err := p.attempts.Take(c, client, now); err != nil {
		return err
	}
	matches, err := p.Matches(c.UserContext(), cmp.Or(hash, p.dummyHash()), password)
	switch {
	case matches:
		p.attempts.GiveBack(client, now)
	case err == nil:
		err = ErrPassword
	}
	return err
}

// HashPassword hashes a password once there is a slot for it.
func (p *Provider) HashPassword(ctx context.Context, password string) (string, error) {
	if err := p.hashing.Acquire(ctx, 1); err != nil {
		return "", fmt.Errorf("wait to hash a password: %w", err)
	}
	defer p.hashing.Release(1)
	return HashPassword(password), nil
}

// Matches is VerifyPassword within the slots for hashing.
func (p *Provider) Matches(ctx context.Context, hash, secret string) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	if err := p.hashing.Acquire(waiting, 1); err != nil {
		return false, errTooMany
	}
	defer p.hashing.Release(1)
	return VerifyPassword(hash, secret)
}

// refresh replaces a refresh token and sends the next one with a new access token.
func (p *Provider) refresh(c *fiber.Ctx) error {
	var body struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := decode(c, &body); err != nil {
		return err
	}
	next := rand.Text()
	user, session, err := p.db.RefreshSession(c.UserContext(), sha256.Sum256([]byte(body.RefreshToken)),
		sha256.Sum256([]byte(next)))
	switch {
	case errors.Is(err, postgres.ErrTokenUsed):
		p.log.Warn("refresh token used twice", "user", user, "session", session,
			"next", "nothing, the session has ended or an overlapping request was first; "+
				"if it repeats, ask the user who else has their session")
		return errTokenUsed
	case errors.Is(err, postgres.ErrNotFound):
		return errTokenUnknown
	case err != nil:
		return err
	}
	return p.sendSession(c, user, session, next)
}

// sessionBody is the session object of GoTrue.
type sessionBody struct {
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresIn    int      `json:"expires_in"` // seconds
	ExpiresAt    int64    `json:"expires_at"` // Unix time
	RefreshToken string   `json:"refresh_token"`
	User         userBody `json:"user"`
}

// sendSession sends the tokens of a session.
func (p *Provider) sendSession(c *fiber.Ctx, user, session uuid.UUID, refresh string) error {
	account, err := p.db.Account(c.UserContext(), user, session)
	if errors.Is(err, postgres.ErrNotFound) { // disabled or removed a moment ago
		return errTokenUnknown
	}
	if err != nil {
		return err
	}
	expires := time.Now().Add(tokenLife)
	access, err := p.sign(c.UserContext(), account, session, expires)
	if err != nil {
		return err
	}
	return c.JSON(sessionBody{
		AccessToken: access, TokenType: "bearer", ExpiresIn: int(tokenLife.Seconds()), ExpiresAt: expires.Unix(),
		RefreshToken: refresh, User: userBodyOf(account),
	})
}

// sign returns an access token for an account's session.
func (p *Provider) sign(ctx context.Context, account postgres.Account, session uuid.UUID, expires time.Time) (string,
	error) {
	claims := NewClaims(issuer, audience, account.ID.String(), time.Now(), expires)
	claims.Email, claims.Role, claims.SessionID = account.Email, loggedInRole, session.String()
	claims.AppMetadata.OrganizationID = account.OrganizationID.String()
	return p.keys.Sign(ctx, claims)
}

// decode reads a JSON object of any Content-Type.
func decode(c *fiber.Ctx, into any) error {
	if err := json.Unmarshal(c.BodyRaw(), into); err != nil {
		return &failure{http.StatusBadRequest, "bad_json", "the body is not the expected JSON object"}
	}
	return nil
}

const (
	maxSignIns   = 30 // that fail from an address within signInWindow
	signInWindow = 5 * time.Minute
)

// networkOf returns the network that counts as one address: of IPv6 64 bits, since its machines choose theirs. Clients
// without an address share the zero prefix.
func networkOf(client netip.Addr) netip.Prefix {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	network, _ := client.Prefix(bits)
	return network
}
