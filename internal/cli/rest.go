package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/queryapi/rest"
)

// restFlags are the flags with which queryapi serves any database in the dialect of PostgREST, and nothing else. An empty
// value is none. Names of schemas may hold anything but a comma.
type restFlags struct {
	Prefix            string `default:"/" placeholder:"PATH" help:"Path below which the schemas are served (default /)."`
	Schemas           string `placeholder:"NAME,…" help:"Serve these schemas of the database of ANSWERSCOPE_POSTGRES_DSN, any database, and nothing else; the first is that of requests that name none."`
	AnonRole          string `placeholder:"ROLE" help:"Role of PostgreSQL for requests without a token; none refuses them."`
	ExtraSearchPath   string `default:"public" placeholder:"NAME,…" help:"Schemas where functions, operators and types are found too (default public)."`
	MaxRows           string `placeholder:"N" help:"Rows of one result at most; none is all."`
	AggregatesEnabled bool   `help:"Allow sum(), avg(), count(), max() and min() in select."`
	JWTAud            string `name:"jwt-aud" placeholder:"NAME" help:"Audience that tokens must be for, if they name one. Their secret is ANSWERSCOPE_REST_JWT_SECRET."`
	CORSOrigins       string `name:"cors-origins" placeholder:"ORIGIN,…" help:"Origins of pages that may send credentials; none lets all pages ask without."`
}

func (r restFlags) config() (rest.Config, error) {
	cfg := rest.DefaultConfig()
	cfg.Prefix, cfg.Schemas, cfg.AnonRole, cfg.Aggregates = r.Prefix, listOf(r.Schemas), r.AnonRole, r.AggregatesEnabled
	cfg.SearchPath, cfg.Origins = listOf(r.ExtraSearchPath), listOf(r.CORSOrigins)
	if r.MaxRows != "" {
		rows, err := strconv.ParseInt(r.MaxRows, 10, 64)
		if err != nil {
			return cfg, fmt.Errorf("ANSWERSCOPE_REST_MAX_ROWS is %q: want a number of rows", r.MaxRows)
		}
		cfg.MaxRows = &rows
	}
	return cfg, cfg.Validate()
}

// validate says what is wrong, if it is to be served at all.
func (r restFlags) validate() error {
	if r.Schemas == "" {
		return nil
	}
	_, err := r.config()
	return err
}

func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// serve serves a database that is not ours: it needs no other engine, brings up no schema and knows no key.
func (r restFlags) serve(ctx context.Context, p *process, at listenFlags) error {
	cfg, err := r.config()
	if !p.settings.Postgres.IsSet() {
		err = errors.Join(err, errors.New("ANSWERSCOPE_POSTGRES_DSN is missing: want the database of --rest-schemas, postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
	}
	if err != nil {
		return usageError{err}
	}
	tokens := rest.Tokens{Secret: []byte(p.settings.RESTSecret.Reveal()), Audience: r.JWTAud, AnonRole: r.AnonRole, Now: time.Now}
	return p.serve(ctx, plan{requires: []string{"rest"}, at: at, assemble: []assembly{func(ctx context.Context, s *service) error {
		listener := httpd.DefaultConfig()
		listener.Name = "queryapi"
		_, err := s.mountREST(ctx, cfg, s.postgresConfig.DSN, tokens.Caller, s.public(listener))
		return err
	}}})
}

// mountREST serves the schemas of a database on a server.
func (s *service) mountREST(ctx context.Context, cfg rest.Config, dsn string, who rest.Authenticator, server *httpd.Server) (*rest.API, error) {
	pool, err := rest.OpenPool(ctx, dsn)
	if err != nil {
		return nil, err
	}
	s.part("connections", needs{}, func(ctx context.Context) error {
		<-ctx.Done()
		pool.Close()
		return nil
	})
	api := rest.New(cfg, pool, who, s.log)
	s.part("schema cache", onlyControl, api.Run)
	s.ready.Provide("rest", api.Ready)
	api.Mount(server)
	return api, nil
}

// mountOwnREST serves our own tables at /rest/v1, to the users that tokens are of; nil where it cannot.
func (s *service) mountOwnREST(ctx context.Context, tokens *identity.Tokens, anonKeys identity.AnonKeys, limit *httpd.CallerLimit, server *httpd.Server) (*rest.API, error) {
	if s.postgresGateway == "" || anonKeys == nil {
		s.log.Warn("/rest/v1 is not served", "next", "give ANSWERSCOPE_POSTGRES_GATEWAY_DSN, the database with the login authenticator, and with an outside issuer of tokens ANSWERSCOPE_ANON_KEY; docs/rest.md says how. The dashboard changes nothing without")
		return nil, nil
	}
	cfg := ownREST()
	if !slices.Contains(s.answers.CORSOrigins, "*") {
		cfg.Origins = s.answers.CORSOrigins
	}
	return s.mountREST(ctx, cfg, s.postgresGateway, tokens.Callers(anonKeys, limit), server)
}

func ownREST() rest.Config {
	cfg := rest.DefaultConfig()
	cfg.Prefix, cfg.Schemas, cfg.AnonRole, cfg.Aggregates = "/rest/v1", []string{"public"}, "anon", true
	rows := int64(1000)
	cfg.MaxRows, cfg.MaxBytes = &rows, 8<<20
	return cfg
}
