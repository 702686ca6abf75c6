package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	tokenLife  = time.Hour // of an access token
	mostHashes = 4         // computed at once: each takes 19 MB and a core
)

// token grants a session: to who knows a password, or to who has the last refresh token. A credential in the header,
// such as the anon key, is ignored.
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
	user, err := p.authenticate(c)
	if err != nil {
		return err
	}
	refresh := rand.Text()
	session, err := p.db.OpenSession(c.UserContext(), user.ID, sha256.Sum256([]byte(refresh)))
	if errors.Is(err, postgres.ErrNotFound) { // disabled
		return errCredentials
	}
	if err != nil {
		return err
	}
	return p.sendSession(c, user.ID, session, refresh)
}

// authenticate finds the user whose address and password a request has, as often as its client may try.
func (p *Provider) authenticate(c *fiber.Ctx) (user postgres.User, err error) {
	client, now := p.cfg.Proxies.Client(c), time.Now()
	if wait := p.limits.take(client, now); wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return user, errTooMany
	}
	var asked struct{ Email, Password string }
	if err := decode(c, &asked); err != nil {
		return user, err
	}
	user, err = p.checkPassword(c.UserContext(), asked.Email, asked.Password)
	if err == nil {
		p.limits.giveBack(client, now)
	}
	if errors.Is(err, errTooMany) {
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	return user, err
}

// checkPassword finds the user of an address and a password. It takes as long for an address that is not known.
func (p *Provider) checkPassword(ctx context.Context, address, given string) (postgres.User, error) {
	if strings.ContainsRune(address, 0) {
		address = "" // PostgreSQL refuses such a text
	}
	user, err := p.db.UserByEmail(ctx, address)
	if err != nil && !errors.Is(err, postgres.ErrNotFound) {
		return user, err
	}
	turn, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	if err := p.hashing.Acquire(turn, 1); err != nil {
		return user, errTooMany
	}
	defer p.hashing.Release(1)
	right, err := password.Verify(cmp.Or(user.PasswordHash, p.dummyHash()), given)
	if err != nil {
		return user, err
	}
	if !right {
		return user, errCredentials
	}
	return user, nil
}

// refresh replaces a refresh token, and answers with the next one and a new access token.
func (p *Provider) refresh(c *fiber.Ctx) error {
	var asked struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := decode(c, &asked); err != nil {
		return err
	}
	next := rand.Text()
	user, session, err := p.db.RefreshSession(c.UserContext(), sha256.Sum256([]byte(asked.RefreshToken)), sha256.Sum256([]byte(next)))
	switch {
	case errors.Is(err, postgres.ErrTokenUsed):
		p.log.Warn("refresh token used twice", "user", user, "session", session,
			"next", "nothing, the session has ended or another request of it was first; if it comes often, ask the user who else has their session")
		return errTokenUsed
	case errors.Is(err, postgres.ErrNotFound):
		return errTokenUnknown
	case err != nil:
		return err
	}
	return p.sendSession(c, user, session, next)
}

// sessionBody is a session as GoTrue writes it.
type sessionBody struct {
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresIn    int      `json:"expires_in"` // seconds
	ExpiresAt    int64    `json:"expires_at"` // Unix time
	RefreshToken string   `json:"refresh_token"`
	User         userBody `json:"user"`
}

// sendSession answers with the tokens of a session.
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

// sign is an access token of an account's session.
func (p *Provider) sign(ctx context.Context, account postgres.Account, session uuid.UUID, expires time.Time) (string, error) {
	claims := token.NewClaims(issuer, audience, account.ID.String(), time.Now(), expires)
	claims.Email, claims.Role, claims.SessionID = account.Email, loggedInRole, session.String()
	claims.AppMetadata.OrganizationID = account.OrganizationID.String()
	return p.keys.Sign(ctx, claims)
}

// decode reads a JSON object, whatever type the request says it has.
func decode(c *fiber.Ctx, into any) error {
	if err := json.Unmarshal(c.Body(), into); err != nil {
		return &failure{http.StatusBadRequest, "bad_json", "the body is not the JSON object that is wanted"}
	}
	return nil
}
