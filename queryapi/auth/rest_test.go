package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/rest"
)

// twoASecond finds who asks /rest/v1: by an outside issuer's tokens and two anon keys, twice a second.
func (w *environment) twoASecond(secret []byte) rest.Authenticator {
	now := time.Now()
	anonKeys := func(context.Context) ([]string, error) { return []string{"anon", "earlier"}, nil }
	return NewTokens(w.db, NewSecretVerifier("https://issuer.example", audience, secret)).Callers(anonKeys,
		httpd.NewCallerLimit(2, func() time.Time {
			return now
		}))
}

// restCallers serves who asks /rest/v1.
func (w *environment) restCallers(t *testing.T, secret []byte) {
	t.Helper()
	who := w.twoASecond(secret)
	w.url = w.serve(t, func(server *httpd.Server) {
		server.App.Get("/who", func(c *fiber.Ctx) error {
			caller, err := who(c)
			if refused, ok := errors.AsType[*rest.Error](err); ok {
				return c.JSON(fiber.Map{"refused": refused.Error()})
			}
			if err != nil {
				return err
			}
			return c.JSON(fiber.Map{"role": caller.Role, "claims": caller.Claims, "anonymous": caller.Anonymous})
		})
	})
}

func TestWhoAsksREST(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	secret := []byte(strings.Repeat("s", 32))
	of := func(sub, role string) string {
		claims := NewClaims("https://issuer.example", audience, sub, time.Now(), time.Now().Add(time.Hour))
		claims.Role = role
		return "Bearer " + signedWith(t, jwt.SigningMethodHS256, secret, "", claims)
	}
	const (
		anonymous = `{"anonymous":true,"claims":{"role":"anon"},"role":"anon"}`
		noKeys    = `{"refused":"PGRST301: no API key of /api/v1 is taken here: send the anon key as apikey, ` +
			`and the access_token of a session as Authorization: Bearer"}`
		role = `{"refused":"42501: the role of the token has no access here: want authenticated, with the user's ` +
			`id as its sub"}`
	)
	ann := w.ann.ID.String()
	for name, c := range map[string]struct{ apikey, authorization, want string }{
		"a user": {"anon", of(ann, "authenticated"),
			`{"anonymous":false,"claims":{"app_metadata":{"organization_id":"` +
				w.ann.OrganizationID.String() +
				`"},"aud":"authenticated","email":"ann@example.com","role":"authenticated","sub":"` + ann +
				`"},"role":"authenticated"}`},
		"nobody":                 {"anon", "", anonymous},
		"the anon key twice":     {"anon", "Bearer anon", anonymous},
		"an earlier anon key":    {"earlier", "Bearer earlier", anonymous},
		"a token of anon":        {"anon", of("", "anon"), anonymous},
		"a token of the owner":   {"anon", of(ann, "answerscope_owner"), role},
		"a token of the service": {"anon", of(ann, "service_role"), role},
		"a token of no role":     {"anon", of(ann, ""), role},
		"a user who is not known": {"anon", of(uuid.Must(uuid.NewV4()).String(), "authenticated"),
			`{"refused":"PGRST301: invalid access token: its user is unknown, disabled, or in no organization"}`},
		"no anon key":               {"", of(ann, "authenticated"), `{"refused":": "}`},
		"an API key as the bearer":  {"anon", "Bearer " + MintKey().Text, noKeys},
		"an API key as apikey":      {MintKey().Text, of(ann, "authenticated"), noKeys},
		"an API key as both":        {"svc_x", "bearer svc_x", noKeys},
		"an API key alone, as both": {"", "Bearer svc_x", noKeys},
	} {
		w.restCallers(t, secret)
		if a := w.ask(t, "GET", "/who", "", "apikey", c.apikey, "Authorization", c.authorization); a.status != 200 ||
			a.text != c.want {
			t.Errorf("%s: %d %s, want %s", name, a.status, a.text, c.want)
		}
	}
}

// Users are limited one by one, and those who are nobody together.
func TestRESTIsLimited(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	secret := []byte(strings.Repeat("s", 32))
	pool, err := rest.OpenPool(t.Context(), w.db.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg := rest.DefaultConfig()
	cfg.Prefix, cfg.Schemas, cfg.AnonRole = "/rest/v1", []string{"public"}, anonRole
	api := rest.New(cfg, pool, w.twoASecond(secret), newLog(w))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	w.url = w.serve(t, api.Mount)
	wait.For(t, "the schema", func() bool { return api.Ready(t.Context()) == nil })

	bob := w.add(t, "bob@example.com")
	const refused = `{"code":"PT429","details":null,"hint":null,"message":"too many requests: want at most 2 a ` +
		`second of one user; ask again after Retry-After seconds"}`
	for _, sub := range []uuid.UUID{w.ann.ID, bob.ID, uuid.Nil} {
		claims := NewClaims("https://issuer.example", audience, sub.String(), time.Now(), time.Now().Add(time.Hour))
		claims.Role = loggedInRole
		if sub.IsNil() {
			claims.Role = anonRole
		}
		bearer := "Bearer " + signedWith(t, jwt.SigningMethodHS256, secret, "", claims)
		for _, remaining := range []string{"1", "0"} {
			if a := w.ask(t, "HEAD", "/rest/v1/brands", "", "apikey", "anon",
				"Authorization", bearer); a.status == 429 || a.header.Get("RateLimit-Remaining") != remaining {
				t.Errorf("%s: %d %v", sub, a.status, a.header)
			}
		}
		a := w.ask(t, "GET", "/rest/v1/brands", "", "apikey", "anon", "Authorization", bearer)
		if a.status != 429 || a.text != refused || a.header.Get("Retry-After") != "1" ||
			a.header.Get("RateLimit-Remaining") != "0" || a.header.Get("Proxy-Status") != "PostgREST; error=PT429" {
			t.Errorf("%s, the third: %d %s %v", sub, a.status, a.text, a.header)
		}
	}
}

func TestRESTAsksForPatienceWhileWhoAsksIsNotKnown(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	w := &environment{db: awayDB(t)}
	w.restCallers(t, secret)
	claims := NewClaims("https://issuer.example", audience,
		uuid.Must(uuid.NewV4()).String(), time.Now(), time.Now().Add(time.Hour))
	claims.Role = loggedInRole
	a := w.ask(t, "GET", "/who", "", "apikey", "anon", "Authorization",
		"Bearer "+signedWith(t, jwt.SigningMethodHS256, secret, "", claims))
	if a.text != `{"refused":"PT503: the database of this service cannot be reached; ask again in a moment"}` {
		t.Errorf("%d %s", a.status, a.text)
	}
}
