package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/web"
)

// queryapiCmd answers questions.
type queryapiCmd struct {
	listenFlags  `embed:""`
	restFlags    `embed:"" prefix:"rest-"`
	forwardFlags `embed:""`
}

// forwardFlags says what the API passes on.
type forwardFlags struct {
	TrackingURL string `name:"tracking-url" placeholder:"URL" help:"Address of the tracking server, such as http://ingest:8082, for the dashboard to start and show jobs, and for /api/cron/daily-tracking, of which there is none without it."`
}

func (f forwardFlags) validate() error {
	at, err := url.Parse(f.TrackingURL)
	if f.TrackingURL != "" && (err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
		return fmt.Errorf("ANSWERSCOPE_TRACKING_URL is %q: want the address of the tracking server, such as http://ingest:8082", f.TrackingURL)
	}
	return nil
}

// apiFlags are the flags of /api/v1.
type apiFlags struct {
	RateLimit   int      `default:"100" placeholder:"N" help:"Requests a second of one API key, or of one user, to each of /api/v1, /rest/v1 and /api/keys (default 100); 0: no limit."`
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"Origins of pages that may ask /api/v1, /auth/v1 and /rest/v1 from a browser, such as https://reports.example; * is all. By default none may ask /api/v1, and all may ask the others."`
}

func (a apiFlags) config() metrics.Config {
	cfg := metrics.DefaultConfig()
	cfg.RateLimit, cfg.CORSOrigins = a.RateLimit, a.CORSOrigins
	return cfg
}

func (c *queryapiCmd) Run(ctx context.Context, p *process) error {
	if c.Schemas != "" {
		return c.serve(ctx, p, c.listenFlags)
	}
	if err := c.forwardFlags.validate(); err != nil {
		return usageError{err}
	}
	return p.serve(ctx, plan{
		needs: bothStores, requires: []string{"schema", "postgres", "clickhouse", "queryapi"}, at: c.listenFlags,
		assemble: []assembly{openStores, assembleListener, assembleQueryAPI, func(_ context.Context, s *service) error { return s.forwardTracking(c.forwardFlags) }},
	})
}

// assembleListener adds the public listener.
func assembleListener(_ context.Context, s *service) error {
	cfg := httpd.DefaultConfig()
	cfg.Name = "queryapi"
	s.public(cfg)
	return nil
}

// assembleQueryAPI adds /api/v1, and for those who may sign in the rest and the dashboard.
func assembleQueryAPI(ctx context.Context, s *service) error {
	s.gate()
	keys, server := s.resolver(), s.server
	api := metrics.New(s.answers.config(), s.db, s.warehouse, time.Now)
	api.Mount(server, keys)
	provider, anonKeys, err := s.identity(ctx)
	if err != nil {
		return err
	}
	if provider == nil {
		web.MountElsewhere(server)
	} else {
		provider.Mount(server)
	}
	if s.tokens == nil {
		return nil
	}
	limit := func() *httpd.CallerLimit { return httpd.NewCallerLimit(s.answers.RateLimit, time.Now) } // of one surface
	minted := apikey.NewManager(s.db, time.Now)
	minted.Mount(s.tokens.Mount(server).Group("/keys"), s.tokens.RequireToken, limit().Handle)
	tables, err := s.mountOwnREST(ctx, s.tokens, anonKeys, limit(), server)
	if err != nil || provider == nil {
		return err
	}

	// The same once more for the dashboard, whose users have a cookie.
	s.dashboard = provider
	minted.Mount(provider.MountDashboard(server).Group("/keys"), provider.RequireDashboard, limit().Handle)
	api.MountAt(server, identity.DashboardPrefix+"/v1", provider.RequireDashboard)
	if tables != nil {
		tables.At(identity.DashboardPrefix+"/rest/v1", provider.DashboardCallers(limit())).Mount(server)
	}
	web.New(s.db, s.warehouse, provider).Mount(server)
	return nil
}

// resolver finds whose API keys are.
func (s *service) resolver() *apikey.Resolver {
	if s.keys == nil {
		s.keys = apikey.New(s.db, s.log)
		s.part("api keys", onlyControl, s.keys.Run)
	}
	return s.keys
}

// identity finds whose tokens are taken: an outside issuer's, or those of the built-in provider, which it returns;
// nobody's where there is neither. An anon key is what clients of /rest/v1 send beside their token.
func (s *service) identity(ctx context.Context) (provider *identity.Provider, anonKeys identity.AnonKeys, err error) {
	issuer := s.settings.Issuer
	audience := cmp.Or(issuer.Audience, "authenticated")
	if key := s.settings.AnonKey.Reveal(); key != "" {
		anonKeys = func(context.Context) ([]string, error) { return []string{key}, nil }
	}
	switch {
	case issuer.JWKS.IsSet():
		verifier, err := token.NewJWKSVerifier(ctx, issuer.Name, audience, issuer.JWKS.Reveal(), s.log)
		s.tokens = identity.NewTokens(s.db, verifier)
		return nil, anonKeys, err
	case issuer.IsSet():
		s.tokens = identity.NewTokens(s.db, token.NewSecretVerifier(issuer.Name, audience, []byte(issuer.Secret.Reveal())))
		return nil, anonKeys, nil
	}
	provider, err = s.provider(identity.Config{Proxies: s.proxies, CORSOrigins: s.answers.CORSOrigins, PublicURL: s.settings.PublicURL})
	if err != nil {
		return nil, nil, err
	}
	if provider == nil {
		s.log.Warn("nobody can sign in", "next", "give ANSWERSCOPE_SECRET_KEYS, the same to every process, for the built-in identity provider, or ANSWERSCOPE_ISSUER for another one; docs/auth.md says how. /api/v1 needs neither")
		return nil, nil, nil
	}
	s.tokens = provider.Tokens()
	if anonKeys == nil {
		anonKeys = provider.AnonKeys
	}
	return provider, anonKeys, nil
}

// provider is the built-in identity provider; nil without keys for its secrets.
func (e *engines) provider(cfg identity.Config) (*identity.Provider, error) {
	ring, err := e.ring()
	if err != nil || !ring.IsSet() {
		return nil, err
	}
	return identity.New(cfg, e.db, ring, e.log), nil
}
