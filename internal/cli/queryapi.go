package cli

import (
	"context"
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi/apikey"
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
	CORSOrigins []string `name:"cors-origins" placeholder:"ORIGIN" help:"Origins of pages that may ask /api/v1 from a browser, such as https://reports.example; * is all, none by default."`
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

// assembleQueryAPI adds the public listener with /api/v1.
func assembleQueryAPI(_ context.Context, s *service) error {
	keys := apikey.New(s.db, s.log)
	s.part("api keys", keys.Run)
	cfg := httpd.DefaultConfig()
	cfg.Name = "queryapi"
	metrics.New(s.answers.config(), s.db, s.warehouse, time.Now).Mount(s.public(cfg), keys)
	return nil
}
