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
}

func (queryapi) Help() string {
	return `Answers /api/v1. It never sees the log; as many may run as you like.

Example:

  ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_POSTGRES_DSN=… answerscope queryapi --listen 0.0.0.0:8080`
}

func (c *queryapi) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return usageError{err}
	}
	public, err := c.public(ctx)
	if err != nil {
		return err
	}
	return p.serve(ctx, plan{
		command:  "queryapi",
		needs:    needs{clickhouse: true, postgres: true},
		requires: []string{"schema", "postgres", "clickhouse", "queryapi"},
		admin:    c.administered,
		public:   public,
		assemble: []assembly{openStores, assembleQueryAPI},
	})
}

// assembleQueryAPI adds the public listener with /api/v1.
func assembleQueryAPI(_ context.Context, s *service) error {
	cfg := httpd.DefaultConfig()
	cfg.Name = "queryapi"
	server := httpd.New(cfg, s.public, s.log, s.metrics)
	keys := apikey.New(s.db, s.log)
	metrics.New(s.db, s.warehouse, time.Now).Mount(server.App, keys)
	s.part("api keys", keys.Run)
	s.part("queryapi", server.Run)
	s.ready.Provide("queryapi", server.Ready)
	return nil
}
