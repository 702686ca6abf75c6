package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gofiber/fiber/v2"
	"golang.org/x/oauth2"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	oidcPath     = "/signin/oidc"
	oidcTimeout  = 8 * time.Second // of a request here, which waits for the OpenID provider
	oidcAttempt  = 10 * time.Minute
	oidcSession  = 12 * time.Hour // then the OpenID provider is asked again whether it still knows the user
	oidcSealName = "oidc sign-in"

	oidcProofSeal = "oidc identity"

	// InvitePath begins the address of an invitation, which an invited user signs in for.
	InvitePath = "/invite"
)

var (
	errIssuerAway = problem.New(problem.Unavailable, "The identity provider does not answer. Try again in a moment.")
	errNotProven  = problem.New(problem.Invalid, "This sign-in did not work, or took too long.")
	errNoAccount  = problem.New(problem.Forbidden, "You have no account here: ask for an invitation.")

	// ErrMember refuses an invitation of a user who is in an organization.
	ErrMember = problem.New(problem.Conflict,
		"You are in an organization already. To join another one, leave it first: sign in, Organization, Members.")
)

// An OIDC signs users in to the dashboard by an OpenID provider (OpenID Connect Core 1.0, code flow with PKCE). It is
// safe for concurrent use.
type OIDC struct {
	cfg      config.OIDC
	provider *Provider
	client   *http.Client
	issuer   atomic.Pointer[oidc.Provider] // nil until it was discovered
}

// MountOIDC adds the sign-in by the OpenID provider of the configuration, if there is one.
func (p *Provider) MountOIDC(server *httpd.Server) {
	if !p.cfg.OIDC.IsSet() {
		return
	}
	o := &OIDC{cfg: p.cfg.OIDC, provider: p, client: &http.Client{Timeout: oidcTimeout / 2}}
	surface := server.Mount(httpd.Surface{Prefix: oidcPath, Error: PageRefusal})
	surface.Get("", httpd.Within(oidcTimeout, o.begin))
	surface.Get("/callback", httpd.Within(oidcTimeout, o.finish))
}

// OIDCName returns the name of the OpenID provider, "" without one.
func (p *Provider) OIDCName() string {
	if !p.cfg.OIDC.IsSet() {
		return ""
	}
	return p.cfg.OIDC.Name()
}

// OIDCAddress returns where a sign-in by the OpenID provider begins that leads to a path of this host.
func OIDCAddress(to string) string { return oidcPath + "?to=" + url.QueryEscape(to) }

// An attempt is what a browser keeps between the two halves of a sign-in, sealed in a cookie.
type attempt struct {
	State, Nonce, Verifier string
	To                     string // path of this host
	Expires                time.Time
}

// begin sends a browser to the OpenID provider.
func (o *OIDC) begin(c *fiber.Ctx) error {
	exchange, _, err := o.discover(c.UserContext())
	if err != nil {
		return err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: c.Query("to"),
		Expires: time.Now().Add(oidcAttempt)}
	// A line break, which url.Parse refuses, would end the header.
	if to, err := url.Parse(a.To); err != nil || to.Scheme+to.Host != "" || !strings.HasPrefix(a.To, "/") {
		a.To = "/"
	}
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("begin sign-in: %w", err)
	}
	setCookie(c, o.cookieName(), url.QueryEscape(o.provider.ring.Seal(text, oidcSealName)), oidcAttempt)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Redirect(exchange.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)),
		http.StatusFound)
}

func (o *OIDC) cookieName() string { return o.provider.cookieName() + "-oidc" }

// finish opens a session for the user of the code that the OpenID provider sent the browser back with.
func (o *OIDC) finish(c *fiber.Ctx) error {
	ctx := c.UserContext()
	a, err := o.attemptOf(c)
	if err == nil {
		setCookie(c, o.cookieName(), "", -time.Second)
	}
	var identity postgres.ExternalIdentity
	if err == nil {
		identity, err = o.identify(ctx, a, c.Query("code"))
	}
	if kind, _ := problem.Of(err); err != nil && kind == problem.Internal {
		o.provider.log.Warn("sign-in by OIDC refused", "reason", err,
			"next", "nothing, if somebody gave up or tried twice; else compare ANSWERSCOPE_OIDC_ with the provider")
		return errNotProven
	}
	if err != nil {
		return err
	}
	if token, invited := strings.CutPrefix(a.To, InvitePath+"/"); invited {
		err = o.offer(c, identity, sha256.Sum256([]byte(token)))
	} else {
		err = o.provider.enterAs(c, identity)
	}
	if err != nil {
		return err
	}
	return c.Redirect(o.provider.cfg.PublicURL+a.To, http.StatusSeeOther)
}

// A proof is what a browser keeps from its sign-in until the button of an invitation is pressed, sealed in a cookie: a
// page of another site can send a browser here and back, and must not make it a member.
type proof struct {
	Identity postgres.ExternalIdentity
	Expires  time.Time
}

// offer has the page of an invitation join the user, if it is theirs.
func (o *OIDC) offer(c *fiber.Ctx, identity postgres.ExternalIdentity, link [32]byte) error {
	invitation, err := o.provider.db.InvitationByLink(c.UserContext(), link)
	if err == nil && !strings.EqualFold(invitation.Email, identity.Email) {
		err = postgres.ErrNotFound
	}
	if err != nil {
		return o.provider.refuseIdentity(identity, err)
	}
	text, err := json.Marshal(proof{identity, time.Now().Add(oidcAttempt)})
	if err != nil {
		return fmt.Errorf("seal identity: %w", err)
	}
	setCookie(c, o.provider.proofCookie(), url.QueryEscape(o.provider.ring.Seal(text, oidcProofSeal)), oidcAttempt)
	return nil
}

func (p *Provider) proofCookie() string { return p.cookieName() + "-oidc-proof" }

// Proven returns the identity that has signed in at the OpenID provider for an address, if one has.
func (p *Provider) Proven(c *fiber.Ctx, address string) (identity postgres.ExternalIdentity, isProven bool) {
	cookie, err := url.QueryUnescape(c.Cookies(p.proofCookie()))
	if err != nil || cookie == "" {
		return identity, false
	}
	var proven proof
	text, err := p.ring.Open(cookie, oidcProofSeal)
	if err == nil {
		err = json.Unmarshal(text, &proven)
	}
	return proven.Identity, err == nil && time.Now().Before(proven.Expires) &&
		strings.EqualFold(proven.Identity.Email, address)
}

// EnterInvited makes a proven identity the member that a link invites, and signs them in.
func (p *Provider) EnterInvited(c *fiber.Ctx, identity postgres.ExternalIdentity, link [32]byte) error {
	identity.Invitation = link[:]
	setCookie(c, p.proofCookie(), "", -time.Second)
	return p.enterAs(c, identity)
}

// enterAs opens a session for the user of an identity.
func (p *Provider) enterAs(c *fiber.Ctx, identity postgres.ExternalIdentity) error {
	user, err := p.db.SignInByIdentity(c.UserContext(), identity)
	if err != nil {
		return p.refuseIdentity(identity, err)
	}
	err = p.Enter(c, user, oidcSession)
	p.logSignIn(c, user, "OIDC", err)
	return err
}

// refuseIdentity returns the public error of an identity that is let in nowhere.
func (p *Provider) refuseIdentity(identity postgres.ExternalIdentity, err error) error {
	if next := nextOf(err); next != "" {
		p.log.Warn("sign-in by OIDC without an account", "subject", identity.Subject, "email", identity.Email,
			"next", next)
		return errNoAccount
	}
	if errors.Is(err, postgres.ErrConflict{What: "organization"}) {
		return ErrMember
	}
	return err
}

// nextOf returns the next step of a user without an account; "" for another error.
func nextOf(err error) string {
	switch {
	case errors.Is(err, postgres.ErrNotFound):
		return "invite the address, or list its domain in ANSWERSCOPE_OIDC_ALLOWED_DOMAINS; if none is here, the " +
			"provider does not call it verified: docs/auth.md"
	case errors.Is(err, postgres.ErrNoOrganization):
		return "set ANSWERSCOPE_OIDC_ORGANIZATION to the slug of an organization that exists: answerscope org list"
	case errors.Is(err, postgres.ErrOtherIdentity):
		return "ask whether the provider gave the address to somebody else: the account here has another sub. If " +
			"it is the same person, remove the account by answerscope user remove and invite them again"
	}
	if _, stays := errors.AsType[postgres.ErrValue](err); stays {
		return "an inviter may have made the account here, which is the last owner of an organization: give that " +
			"another owner by answerscope user role, then let them sign in again"
	}
	return ""
}

// attemptOf returns the attempt of a callback's cookie, if its state is the callback's.
func (o *OIDC) attemptOf(c *fiber.Ctx) (a attempt, err error) {
	cookie, err := url.QueryUnescape(c.Cookies(o.cookieName()))
	if err != nil || cookie == "" {
		return a, errors.New("the browser sent no cookie of a sign-in")
	}
	text, err := o.provider.ring.Open(cookie, oidcSealName)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	switch {
	case err != nil:
		return a, err
	case a.Expires.Before(time.Now()):
		return a, errors.New("the sign-in took longer than 10 minutes")
	case !same(a.State, c.Query("state")):
		return a, errors.New("the state is another sign-in's")
	case c.Query("error") != "":
		return a, fmt.Errorf("the provider answered %.100q: %.300q", c.Query("error"), c.Query("error_description"))
	}
	return a, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// identify changes a code for tokens and returns the identity that they prove. The tokens are dropped.
func (o *OIDC) identify(ctx context.Context, a attempt, code string) (i postgres.ExternalIdentity, err error) {
	exchange, issuer, err := o.discover(ctx)
	if err != nil {
		return i, err
	}
	ctx = oidc.ClientContext(ctx, o.client)
	tokens, err := exchange.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return i, fmt.Errorf("change the code: %w", err)
	}
	text, _ := tokens.Extra("id_token").(string)
	token, err := issuer.Verifier(&oidc.Config{ClientID: o.cfg.ClientID}).Verify(ctx, text)
	if err != nil {
		return i, fmt.Errorf("verify the ID token: %w", err)
	}
	if token.Subject == "" {
		return i, errors.New("the ID token has no sub")
	}
	if !same(token.Nonce, a.Nonce) {
		return i, errors.New("the nonce of the ID token is another sign-in's")
	}
	var claims emailClaims
	err = token.Claims(&claims)
	if err == nil && claims.lacks(o.cfg.TrustEmail == "true") && issuer.UserInfoEndpoint() != "" {
		var more emailClaims
		more, err = userInfo(ctx, issuer, tokens, token.Subject)
		if err == nil || claims.Email != "" { // who is linked needs no address
			claims, err = claims.with(more), nil
		}
	}
	if err != nil {
		return i, fmt.Errorf("read the user's address: %w", err)
	}
	i.Issuer, i.Subject = token.Issuer, token.Subject
	if verified := claims.isVerified() || o.cfg.TrustEmail == "true"; verified && postgres.IsEmail(claims.Email) {
		i.Email = claims.Email
		if o.cfg.Admits(i.Email) {
			i.Organization = o.cfg.Organization
		}
	}
	return i, nil
}

// emailClaims are claims about the user's address, which providers have in the ID token, at their UserInfo endpoint, or
// one at each (OpenID Connect Core §5.1, §5.4).
type emailClaims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // a bool, or its text (Apple, Cognito, JumpCloud); nil absent
}

func (c emailClaims) isVerified() bool { return c.Verified == true || c.Verified == "true" }

// lacks reports whether UserInfo may complete the claims of an ID token.
func (c emailClaims) lacks(trusted bool) bool { return c.Email == "" || c.Verified == nil && !trusted }

// with adds to the claims of an ID token the claims of UserInfo that it lacks. UserInfo overrules no claim of the ID
// token, and cannot verify another address.
func (c emailClaims) with(more emailClaims) emailClaims {
	switch {
	case c.Email == "":
		c.Email = more.Email
	case !strings.EqualFold(c.Email, more.Email):
		return c
	}
	if c.Verified == nil || c.isVerified() && more.Verified != nil {
		c.Verified = more.Verified
	}
	return c
}

// userInfo asks for the claims of a subject, and ignores another subject's (OpenID Connect Core §5.3.2).
func userInfo(ctx context.Context, issuer *oidc.Provider, tokens *oauth2.Token, subject string) (emailClaims, error) {
	var claims emailClaims
	info, err := issuer.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err == nil && info.Subject == subject {
		err = info.Claims(&claims)
	}
	return claims, err
}

// discover returns the OpenID provider and the OAuth 2.0 client for it. Its endpoints are read at first use.
func (o *OIDC) discover(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	issuer := o.issuer.Load()
	if issuer == nil {
		var err error
		if issuer, err = oidc.NewProvider(oidc.ClientContext(ctx, o.client), o.cfg.Issuer); err != nil {
			return nil, nil, fmt.Errorf("discover %s: %w: %w", o.cfg.Issuer, errIssuerAway, err)
		}
		o.issuer.Store(issuer)
	}
	return &oauth2.Config{ClientID: o.cfg.ClientID, ClientSecret: o.cfg.ClientSecret.Reveal(),
		Endpoint: issuer.Endpoint(), RedirectURL: o.provider.cfg.PublicURL + oidcPath + "/callback",
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"}}, issuer, nil
}
