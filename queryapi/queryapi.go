// Package queryapi wires the surfaces of readers: /api/v1, /mcp, /auth/v1, /rest/v1, /api/keys, /api/webhooks, the
// dashboard, share links and the OAuth of apps.
package queryapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/brief"
	"github.com/answerscope/answerscope/queryapi/link"
	"github.com/answerscope/answerscope/queryapi/mcp"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/oauth"
	"github.com/answerscope/answerscope/queryapi/onboard"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/queryapi/share"
	"github.com/answerscope/answerscope/queryapi/topics"
	"github.com/answerscope/answerscope/queryapi/web"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Deps are what the surfaces work with.
type Deps struct {
	DB        *postgres.DB
	Warehouse *clickhouse.Conn
	Gateway   string // DSN of the login of /rest/v1; "" serves none
	Settings  config.Settings
	Proxies   httpd.Proxies
	Origins   []string // of pages that may ask from a browser
	Tracking  string   // address of the tracking server; "" for none
	OAuth     bool     // apps get tokens for /mcp by OAuth; it takes a public URL of https
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Gate finds who sends a request, by API key, access token or cookie.
type Gate struct {
	Keys     *auth.KeyResolver
	Tokens   *auth.Tokens   // nil where nobody can sign in
	Provider *auth.Provider // the built-in identity provider; nil where tokens come from an outside issuer
	Apps     *oauth.Issuer  // nil where apps get no tokens

	anonKeys auth.AnonKeys // what clients of /rest/v1 send beside their token
}

// NewGate accepts API keys, and the access tokens of an outside issuer or of the built-in identity provider.
func NewGate(ctx context.Context, d Deps) (*Gate, error) {
	gate := &Gate{Keys: auth.NewKeyResolver(d.DB, d.Log)}
	if key := d.Settings.AnonKey.Reveal(); key != "" {
		gate.anonKeys = func(context.Context) ([]string, error) { return []string{key}, nil }
	}
	issuer := d.Settings.Issuer
	audience := cmp.Or(issuer.Audience, "authenticated")
	switch {
	case issuer.JWKS.IsSet():
		verifier, err := auth.NewJWKSVerifier(ctx, issuer.Name, audience, issuer.JWKS.Reveal(), d.Log)
		gate.Tokens = auth.NewTokens(d.DB, verifier)
		return gate, err
	case issuer.IsSet():
		gate.Tokens = auth.NewTokens(d.DB,
			auth.NewSecretVerifier(issuer.Name, audience, []byte(issuer.Secret.Reveal())))
		return gate, nil
	}
	provider, err := NewProvider(d)
	if err != nil {
		return nil, err
	}
	if provider == nil && d.OAuth {
		return nil, errors.New(
			"ANSWERSCOPE_MCP_OAUTH signs tokens: give ANSWERSCOPE_SECRET_KEYS, the same to every process")
	}
	if provider == nil {
		d.Log.Warn("nobody can sign in", "next",
			"give ANSWERSCOPE_SECRET_KEYS, the same to every process, for the built-in identity provider, or "+
				"ANSWERSCOPE_ISSUER for another one; docs/auth.md says how. /api/v1 needs neither")
		return gate, nil
	}
	gate.Provider, gate.Tokens = provider, provider.Tokens()
	if gate.anonKeys == nil {
		gate.anonKeys = provider.AnonKeys
	}
	if d.OAuth {
		client, err := egress.New(d.Settings.EgressAllow)
		if err != nil {
			return nil, err
		}
		gate.Apps = oauth.New(d.Settings.PublicURL, client.Document, d.DB, provider)
	}
	return gate, nil
}

// NewProvider makes the built-in identity provider; nil without keys for its secrets.
func NewProvider(d Deps) (*auth.Provider, error) {
	ring, err := d.Settings.SecretRing()
	if err != nil || !ring.IsSet() {
		return nil, err
	}
	cfg := auth.Config{Proxies: d.Proxies, CORSOrigins: d.Origins, PublicURL: d.Settings.PublicURL,
		OIDC: d.Settings.OIDC}
	return auth.NewProvider(cfg, d.DB, ring, d.Log), nil
}

// NewWebhooks makes the manager of webhook endpoints. Without keys for its secrets it adds none.
func NewWebhooks(d Deps) (*webhook.Manager, error) {
	ring, err := d.Settings.SecretRing()
	if err != nil {
		return nil, err
	}
	client, err := egress.New(d.Settings.EgressAllow)
	return webhook.NewManager(d.DB, ring, client, time.Now), err
}

// Parts watches the API keys.
func (g *Gate) Parts() []lifecycle.Part {
	return []lifecycle.Part{{Name: "api keys", After: []lifecycle.Store{lifecycle.Postgres}, Run: g.Keys.Run}}
}

// Mount adds /api/v1 to a server, and for users the rest and the dashboard. The rate limit is in requests a second.
func Mount(ctx context.Context, d Deps, gate *Gate, rateLimit int, server *httpd.Server) ([]lifecycle.Part, error) {
	cfg := metrics.DefaultConfig()
	cfg.RateLimit, cfg.CORSOrigins = rateLimit, d.Origins
	api := metrics.New(cfg, d.DB, d.Warehouse, time.Now)
	shared := api.Mount(server, gate.Keys)
	mountMCP(d, gate, api, shared, server)
	if gate.Provider == nil {
		web.MountElsewhere(server)
	} else {
		gate.Provider.Mount(server)
		gate.Provider.MountOIDC(server)
	}
	if gate.Tokens == nil {
		return nil, nil
	}
	limit := func() *httpd.CallerLimit { return httpd.NewCallerLimit(rateLimit, time.Now) } // of one surface
	webhooks, err := NewWebhooks(d)
	if err != nil {
		return nil, err
	}
	links, err := NewLinks(d, gate.Provider)
	if err != nil {
		return nil, err
	}
	links.Mount(server)
	minted, users := auth.NewKeyManager(d.DB, time.Now), gate.Tokens.Mount(server)
	minted.Mount(users.Group("/keys"), gate.Tokens.RequireToken, limit().Handle, httpd.Parameters())
	webhooks.Mount(users.Group("/webhooks"), gate.Tokens.RequireToken, limit().Handle, httpd.Parameters())
	links.MountAPI(users, gate.Tokens.RequireToken, limit().Handle, httpd.Parameters())
	tables, parts, err := mountTables(ctx, d, gate, limit(), server)
	if err != nil || gate.Provider == nil {
		return parts, err
	}
	parts = append(parts, lifecycle.Part{Name: "links", After: []lifecycle.Store{lifecycle.Postgres}, Run: links.Run})

	// The same once more for the dashboard, whose users have a cookie.
	dashboard := gate.Provider.MountDashboard(server)
	minted.Mount(dashboard.Group("/keys"), gate.Provider.RequireDashboard, limit().Handle)
	mountApps(d, gate, users, dashboard, rateLimit, server)
	webhooks.Mount(dashboard.Group("/webhooks"), gate.Provider.RequireDashboard, limit().Handle)
	links.MountAPI(dashboard, gate.Provider.RequireDashboard, limit().Handle)
	links.MountReset(dashboard)
	api.MountAt(server, auth.DashboardPrefix+"/v1", gate.Provider.RequireDashboard)
	proposals := httpd.Surface{Prefix: auth.DashboardPrefix + "/topic-proposals", BodyLimit: topics.BodyLimit,
		Error: auth.PlainRefusal}
	brief.Mount(dashboard.Group("/briefs"), d.DB, gate.Provider.RequireDashboard, limit().Handle)
	homePages, err := egress.NewPages(d.Settings.EgressAllow)
	if err != nil {
		return nil, err
	}
	onboarding := onboard.Reader{DB: d.DB, Home: homePages.Home, Now: time.Now}
	onboarding.Mount(dashboard.Group("/brands"), gate.Provider.RequireDashboard, limit().Handle)
	topics.Mount(server.Mount(proposals), d.DB, gate.Provider.RequireDashboard, limit().Handle)
	if tables != nil {
		tables.At(auth.DashboardPrefix+"/rest/v1", gate.Provider.DashboardCallers(limit())).Mount(server)
	}
	pages := web.New(d.DB, d.Warehouse, gate.Provider, links.Mails())
	pages.Mount(server)
	shares := share.New(cmp.Or(d.Settings.PublicURL, server.URL()), rateLimit, d.DB, gate.Provider)
	shares.Mount(server, pages, api)
	shares.MountManager(users.Group("/shares"), gate.Tokens.RequireToken, limit().Handle, httpd.Parameters())
	shares.MountManager(dashboard.Group("/shares"), gate.Provider.RequireDashboard, limit().Handle)
	return parts, nil
}

// mountApps adds the OAuth of apps, where it is on, and the list of connected ones to the surfaces of users and of the
// dashboard.
func mountApps(d Deps, gate *Gate, users, dashboard fiber.Router, rateLimit int, server *httpd.Server) {
	limit := func() fiber.Handler { return httpd.NewCallerLimit(rateLimit, time.Now).Handle }
	oauth.MountApps(users.Group("/apps"), d.DB, gate.Tokens.RequireToken, limit(), httpd.Parameters())
	oauth.MountApps(dashboard.Group("/apps"), d.DB, gate.Provider.RequireDashboard, limit())
	if gate.Apps != nil {
		gate.Apps.Mount(server)
	}
}

// mountMCP adds /mcp, with the keys and the limit of /api/v1, and the access tokens of apps.
func mountMCP(d Deps, gate *Gate, api *metrics.API, limit *httpd.CallerLimit, server *httpd.Server) {
	surface := mcp.Surface{
		Figures: mcp.Figures(api), PublicURL: d.Settings.PublicURL, TrackingURL: d.Tracking, Origins: d.Origins,
		Log: d.Log, Metrics: d.Metrics,
	}
	if gate.Apps != nil {
		surface.Issuer, surface.Forward = d.Settings.PublicURL, gate.Apps.ForwardToken
	}
	surface.Mount(server, gate.Apps.Require(gate.Keys, auth.MetricsRead), limit.Handle)
}

// NewLinks makes one-time links. Their mails take keys to encrypt them.
func NewLinks(d Deps, provider *auth.Provider) (*link.Links, error) {
	ring, err := d.Settings.SecretRing()
	cfg := link.Config{PublicURL: d.Settings.PublicURL, Mail: d.Settings.Mail.IsSet() && ring.IsSet()}
	return link.New(cfg, d.DB, ring, provider, d.Log), err
}

// mountTables adds /rest/v1, our own tables for users; nil where it cannot be served.
func mountTables(
	ctx context.Context, d Deps, gate *Gate, limit *httpd.CallerLimit, server *httpd.Server,
) (*rest.API, []lifecycle.Part, error) {
	if d.Gateway == "" || gate.anonKeys == nil {
		d.Log.Warn("/rest/v1 is not served", "next",
			"give ANSWERSCOPE_POSTGRES_GATEWAY_DSN, the database with the login authenticator, and with an outside "+
				"issuer of tokens ANSWERSCOPE_ANON_KEY; docs/rest.md says how. The dashboard changes nothing without")
		return nil, nil, nil
	}
	cfg := TablesConfig()
	briefs := brief.Maker{DB: d.DB, Warehouse: d.Warehouse, PublicURL: d.Settings.PublicURL, Now: time.Now}
	cfg.Preparers = map[string]rest.Preparer{"create_content_brief": briefs.Prepare}
	if !slices.Contains(d.Origins, "*") {
		cfg.Origins = d.Origins
	}
	return MountREST(ctx, cfg, d.Gateway, gate.Tokens.Callers(gate.anonKeys, limit), d.Log, server)
}

// TablesConfig is how /rest/v1 serves our own tables.
func TablesConfig() rest.Config {
	cfg := rest.DefaultConfig()
	cfg.Prefix, cfg.Schemas, cfg.AnonRole, cfg.Aggregates = "/rest/v1", []string{"public"}, "anon", true
	rows := int64(1000)
	cfg.MaxRows, cfg.MaxBytes = &rows, 8<<20
	cfg.Adders = map[string]string{
		"api_keys": "POST /api/keys adds keys", "share_links": "POST /api/shares adds links",
		"webhook_endpoints": "POST /api/webhooks adds endpoints",
		"invitations":       "POST /api/invitations invites addresses",
		"subscriptions":     "POST /api/subscriptions adds addresses",
	}
	cfg.Parents = map[string]string{"prompts": "prompt_set_id"}
	for _, table := range []string{
		"brand_domains", "brand_platforms", "competitors", "content_briefs", "prompt_sets", "suggestions", "topics",
	} {
		cfg.Parents[table] = "brand_id"
	}
	return cfg
}

// MountREST serves the schemas of a database on a server.
func MountREST(
	ctx context.Context, cfg rest.Config, dsn string, authenticate rest.Authenticator, log *slog.Logger,
	server *httpd.Server,
) (*rest.API, []lifecycle.Part, error) {
	pool, err := rest.OpenPool(ctx, dsn)
	if err != nil {
		return nil, nil, err
	}
	api := rest.New(cfg, pool, authenticate, log)
	api.Mount(server)
	return api, []lifecycle.Part{
		lifecycle.Closing("connections", log, func() error { pool.Close(); return nil }),
		{Name: "rest", After: []lifecycle.Store{lifecycle.Postgres}, Run: api.Run, Ready: api.Ready},
	}, nil
}
