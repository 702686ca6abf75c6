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
	tokens, anonKey, err := s.identity(ctx, server)
	if err != nil || tokens == nil {
		return err
	}
	tokens.MountHealth(server)
	return s.mountOwnREST(ctx, tokens, anonKey, server)
}

// identity finds whose tokens are taken: an outside issuer's, or those of the built-in provider, which it adds; nil where
// there is neither. The anon key is what clients of /rest/v1 send beside their token.
func (s *service) identity(ctx context.Context, server *httpd.Server) (tokens *identity.Tokens, anonKey string, err error) {
	issuer := s.settings.Issuer
	audience, anonKey := cmp.Or(issuer.Audience, "authenticated"), s.settings.AnonKey.Reveal()
	switch {
	case issuer.JWKS.IsSet():
		verifier, err := token.NewJWKSVerifier(ctx, issuer.Name, audience, issuer.JWKS.Reveal(), s.log)
		return identity.NewTokens(s.db, verifier), anonKey, err
	case issuer.IsSet():
		return identity.NewTokens(s.db, token.NewSecretVerifier(issuer.Name, audience, []byte(issuer.Secret.Reveal()))), anonKey, nil
	}
	provider, err := s.provider(identity.Config{Proxies: s.proxies, CORSOrigins: s.answers.CORSOrigins})
	if err != nil {
		return nil, "", err
	}
	if provider == nil {
		s.log.Warn("nobody can sign in", "next", "give ANSWERSCOPE_SECRET_KEYS, the same to every process, for the built-in identity provider, or ANSWERSCOPE_ISSUER for another one; docs/auth.md says how. /api/v1 needs neither")
		return nil, "", nil
	}
	provider.Mount(server)
	if anonKey == "" {
		anonKey, err = provider.AnonKey(ctx)
	}
	return provider.Tokens(), anonKey, err
}

// provider is the built-in identity provider; nil without keys for its secrets.
func (e *engines) provider(cfg identity.Config) (*identity.Provider, error) {
	ring, err := e.ring()
	if err != nil || !ring.IsSet() {
		return nil, err
	}
	return identity.New(cfg, e.db, ring, e.log), nil
}
