package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

const tokenLife = time.Hour // of an access token

var errGrant = &failure{"invalid_grant",
	"the code or refresh token is unknown, used, expired, or was made for another request; ask the user again"}

// token changes a code, or the last refresh token, for an access token and the next refresh token.
func (i *Issuer) token(c *fiber.Ctx) error {
	field := func(name string) string { return fieldOf(c, name) }
	hashOf := func(name string) [32]byte { return sha256.Sum256([]byte(field(name))) }
	if resource := field("resource"); resource != "" && !i.isResource(resource) {
		return &failure{"invalid_target", "resource: want " + i.url + resourcePath}
	}
	next := rand.Text()
	var grant uuid.UUID
	var err error
	switch field("grant_type") {
	case grantTypes[0]:
		challenge := hashOf("code_verifier")
		grant, err = i.db.RedeemOAuthCode(c.UserContext(), hashOf("code"), field("client_id"), field("redirect_uri"),
			base64.RawURLEncoding.EncodeToString(challenge[:]), sha256.Sum256([]byte(next)))
	case grantTypes[1]:
		grant, err = i.db.RefreshOAuthGrant(c.UserContext(), hashOf("refresh_token"), field("client_id"),
			sha256.Sum256([]byte(next)))
	default:
		return &failure{"unsupported_grant_type", "grant_type: want " + strings.Join(grantTypes, " or ") +
			", in a body of application/x-www-form-urlencoded"}
	}
	var account postgres.OAuthAccount
	if err == nil {
		account, err = i.db.OAuthAccount(c.UserContext(), grant)
	}
	if errors.Is(err, postgres.ErrNotFound) || errors.Is(err, postgres.ErrTokenUsed) {
		return errGrant
	}
	if err != nil {
		return err
	}
	now, scope := time.Now(), strings.Join(effective(account), " ")
	claims := auth.NewClaims(i.url, i.url+resourcePath, account.ID.String(), now, now.Add(tokenLife))
	claims.ClientID, claims.Scope, claims.SessionID = account.ClientID, scope, grant.String()
	access, err := i.provider.Keys().Sign(c.UserContext(), claims)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"access_token": access, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()),
		"refresh_token": next, "scope": scope})
}

// fieldOf returns a field of a form in a request's body, "" for one that PostgreSQL refuses as a text.
func fieldOf(c *fiber.Ctx, name string) string {
	value := string(c.Request().PostArgs().Peek(name))
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return ""
	}
	return value
}

// revoke ends the grant of a refresh token or an access token (RFC 7009). A token that does not work is no error.
func (i *Issuer) revoke(c *fiber.Ctx) error {
	token := fieldOf(c, "token")
	claims, _ := i.verifier.Verify(c.UserContext(), token) // a refresh token has none
	err := i.db.RevokeOAuthToken(c.UserContext(), sha256.Sum256([]byte(token)), fieldOf(c, "client_id"),
		uuid.FromStringOrNil(claims.SessionID)) // no grant has the nil UUID
	if err != nil {
		return err
	}
	return c.SendStatus(http.StatusOK)
}
