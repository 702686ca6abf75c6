package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	trackingapi "github.com/answerscope/answerscope/ingest/tracking/api"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/rest"
)

// queryapiCmd serves readers.
type queryapiCmd struct {
	listenFlags  `embed:""`
	restFlags    `embed:"" prefix:"rest-"`
	forwardFlags `embed:""`
}

// apiFlags are the flags of /api/v1.
type apiFlags struct {
	RateLimit   int      `default:"100" placeholder:"N" help:"{api_rate_limit}"`
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"{api_cors_origins}"`
	MCPOAuth    bool     `name:"mcp-oauth" help:"{api_mcp_oauth}"`
}

func (f apiFlags) config() metrics.Config {
	cfg := metrics.DefaultConfig()
	cfg.RateLimit, cfg.CORSOrigins = f.RateLimit, f.CORSOrigins
	return cfg
}

// validateOAuth checks what OAuth takes beside its flag.
func (f apiFlags) validateOAuth(s config.Settings) error {
	switch {
	case !f.MCPOAuth:
		return nil
	case !strings.HasPrefix(s.PublicURL, "https://"):
		return fmt.Errorf("ANSWERSCOPE_MCP_OAUTH is on and ANSWERSCOPE_PUBLIC_URL is %q: want the address at which "+
			"apps and browsers reach this installation, such as https://answers.example",
			config.NewDSN(s.PublicURL).Masked())
	case s.Issuer.IsSet():
		return errors.New("ANSWERSCOPE_MCP_OAUTH takes the built-in identity provider: leave out ANSWERSCOPE_ISSUER, " +
			"or connect apps with API keys")
	}
	return nil
}

func (c *queryapiCmd) Run(ctx context.Context, p *process) error {
	if c.Schemas != "" {
		return c.serve(ctx, p, c.listenFlags)
	}
	return p.serve(ctx, errors.Join(c.listenFlags.validate(p.Settings), c.forwardFlags.validate()), service.Spec{
		Needs: service.Databases, Listeners: c.listeners(c.Listen),
		Build: func(ctx context.Context, s *service.Service) error {
			proxies, err := c.proxies()
			if err != nil {
				return err
			}
			cfg := httpd.DefaultConfig()
			cfg.Name = "queryapi"
			server := s.Serve(cfg)
			s.RequireDatabases(server)
			deps := queryDeps(s, c.listenFlags, proxies)
			deps.Tracking = c.TrackingURL
			gate, err := queryapi.NewGate(ctx, deps)
			if err != nil {
				return err
			}
			s.Add(gate.Parts()...)
			parts, err := queryapi.Mount(ctx, deps, gate, c.RateLimit, server)
			if err != nil {
				return err
			}
			s.Add(parts...)
			c.mount(s, gate, server)
			return nil
		},
	})
}

func queryDeps(s *service.Service, flags listenFlags, proxies httpd.Proxies) queryapi.Deps {
	return queryapi.Deps{
		DB: s.DB, Warehouse: s.Warehouse, Gateway: s.Gateway, Settings: s.Settings, Proxies: proxies,
		Origins: flags.CORSOrigins, OAuth: flags.MCPOAuth, Log: s.Log, Metrics: s.Metrics,
	}
}

// forwardFlags are the address of the process that tracks.
type forwardFlags struct {
	TrackingURL string `name:"tracking-url" placeholder:"URL" help:"{tracking_url}"`
}

func (f forwardFlags) validate() error {
	if f.TrackingURL != "" && !config.IsWeb(f.TrackingURL) {
		return fmt.Errorf("ANSWERSCOPE_TRACKING_URL is %q: want the address of the tracking server, such as "+
			"http://ingest:8082", f.TrackingURL)
	}
	return nil
}

// mount forwards to the tracking server: the web side's route of the schedule, and the dashboard's of jobs and
// platforms, which name the missing setting where there is no address.
func (f forwardFlags) mount(s *service.Service, gate *queryapi.Gate, server *httpd.Server) {
	address := strings.TrimSuffix(f.TrackingURL, "/")
	if gate.Provider != nil {
		trackingapi.MountForward(server, auth.DashboardPrefix, address, gate.Provider.DashboardToken)
	}
	secret := s.Settings.CronSecret.Reveal()
	if address == "" || secret == "" {
		s.Log.Info("/api/cron refuses all", "reason", "CRON_SECRET or --tracking-url is empty")
	}
	trackingapi.MountWebCron(server, secret, trackingapi.ForwardCron(secret, address))
}

// restFlags are the flags with which queryapi serves any database in the dialect of PostgREST, and nothing else. An
// empty value is none. Names of schemas may hold anything but a comma.
type restFlags struct {
	Prefix            string `default:"/" placeholder:"PATH" help:"{rest_prefix}"`
	Schemas           string `placeholder:"NAME,…" help:"{rest_schemas}"`
	AnonRole          string `placeholder:"ROLE" help:"{rest_anon_role}"`
	ExtraSearchPath   string `default:"public" placeholder:"NAME,…" help:"{rest_extra_search_path}"`
	MaxRows           string `placeholder:"N" help:"Rows of one result at most; none is all."`
	AggregatesEnabled bool   `help:"Allow sum(), avg(), count(), max() and min() in select."`
	JWTAud            string `name:"jwt-aud" placeholder:"NAME" help:"{rest_jwt_aud}"`
	CORSOrigins       string `name:"cors-origins" placeholder:"ORIGIN,…" help:"{rest_cors_origins}"`
}

func (f restFlags) config() (rest.Config, error) {
	cfg := rest.DefaultConfig()
	cfg.Prefix, cfg.Schemas, cfg.AnonRole, cfg.Aggregates = f.Prefix, listOf(f.Schemas), f.AnonRole, f.AggregatesEnabled
	cfg.AnonWrites = f.AnonRole != "" // the database says what they may
	cfg.SearchPath, cfg.Origins = listOf(f.ExtraSearchPath), listOf(f.CORSOrigins)
	if f.MaxRows != "" {
		rows, err := strconv.ParseInt(f.MaxRows, 10, 64)
		if err != nil {
			return cfg, fmt.Errorf("ANSWERSCOPE_REST_MAX_ROWS is %q: want a number of rows", f.MaxRows)
		}
		cfg.MaxRows = &rows
	}
	return cfg, cfg.Validate()
}

// validate checks them where schemas are to be served.
func (f restFlags) validate() error {
	if f.Schemas == "" {
		return nil
	}
	_, err := f.config()
	return err
}

func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// serve serves a database that is not ours: it needs no other engine, brings up no schema and knows no key.
func (f restFlags) serve(ctx context.Context, p *process, flags listenFlags) error {
	cfg, err := f.config()
	if !p.Settings.Postgres.IsSet() {
		err = errors.Join(err, errors.New("ANSWERSCOPE_POSTGRES_DSN is missing: want the database of "+
			"--rest-schemas, postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
	}
	tokens := rest.Tokens{Secret: []byte(p.Settings.RESTSecret.Reveal()), Audience: f.JWTAud, AnonRole: f.AnonRole,
		Now: time.Now}
	return p.serve(ctx, errors.Join(flags.validate(p.Settings), err), service.Spec{
		Listeners: flags.listeners(flags.Listen),
		Build: func(ctx context.Context, s *service.Service) error {
			listener := httpd.DefaultConfig()
			listener.Name = "queryapi"
			_, parts, err := queryapi.MountREST(ctx, cfg, s.Postgres.DSN, tokens.Caller, s.Log, s.Serve(listener))
			s.Add(parts...)
			return err
		},
	})
}
