package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/token"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/queryapi/metrics"
)

// queryapi answers questions.
type queryapi struct {
	listening `embed:""`
	anyREST   `embed:"" prefix:"rest-"`
}

// answering are the flags of /api/v1.
type answering struct {
	RateLimit   int      `default:"100" placeholder:"N" help:"Requests a second of one key (default 100); 0: no limit."`
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"Origins of pages that may ask /api/v1 and /auth/v1 from a browser, such as https://reports.example; * is all. By default none may ask /api/v1, and all may ask /auth/v1."`
}

func (a answering) config() metrics.Config {
	return metrics.Config{RateLimit: a.RateLimit, CORSOrigins: a.CORSOrigins}
}

func (c *queryapi) Run(ctx context.Context, p *process) error {
	if c.Schemas != "" {
		return c.serve(ctx, p, c.listening)
	}
	return p.serve(ctx, plan{
		needs: bothStores, requires: []string{"schema", "postgres", "clickhouse", "queryapi"}, at: c.listening,
		assemble: []assembly{openStores, assembleQueryAPI},
	})
}

// assembleQueryAPI adds the public listener with /api/v1, and who may sign in to the rest.
func assembleQueryAPI(ctx context.Context, s *service) error {
	keys := apikey.New(s.db, s.log)
	s.part("api keys", keys.Run)
	cfg := httpd.DefaultConfig()
	cfg.Name = "queryapi"
	server := s.public(cfg)
	metrics.New(s.answers.config(), s.db, s.warehouse, time.Now).Mount(server, keys)
	tokens, err := s.identity(ctx, server)
	if err != nil || tokens == nil {
		return err
	}
	tokens.MountHealth(server)
	return nil
}

// identity finds whose tokens are taken: an outside issuer's, or those of the built-in provider, which it adds; nil where
// there is neither.
func (s *service) identity(ctx context.Context, server *httpd.Server) (*identity.Tokens, error) {
	issuer := s.settings.Issuer
	audience := cmp.Or(issuer.Audience, "authenticated")
	switch {
	case issuer.JWKS.IsSet():
		verifier, err := token.NewJWKSVerifier(ctx, issuer.Name, audience, issuer.JWKS.Reveal(), s.log)
		return identity.NewTokens(s.db, verifier), err
	case issuer.IsSet():
		return identity.NewTokens(s.db, token.NewSecretVerifier(issuer.Name, audience, []byte(issuer.Secret.Reveal()))), nil
	}
	ring, err := s.ring()
	if err != nil {
		return nil, err
	}
	if !ring.IsSet() {
		s.log.Warn("nobody can sign in", "next", "give ANSWERSCOPE_SECRET_KEYS, the same to every process, for the built-in identity provider, or ANSWERSCOPE_ISSUER for another one; docs/auth.md says how. /api/v1 needs neither")
		return nil, nil
	}
	provider := identity.New(identity.Config{Proxies: s.proxies, CORSOrigins: s.answers.CORSOrigins}, s.db, ring, s.log)
	provider.Mount(server)
	return provider.Tokens(), nil
}
