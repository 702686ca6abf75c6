package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/sql/postgres"
)

// allFlags are the flags of commands that run every part in one process.
type allFlags struct {
	listenFlags    `embed:""`
	collectorFlags `embed:""`
	trackingFlags  `embed:""`
}

func (f *allFlags) validate(s config.Settings) error {
	return errors.Join(f.listenFlags.validate(s), f.collectorFlags.validate(f.proxyFlags), f.trackingFlags.validate())
}

// allParts are what commands that run everything look at.
type allParts struct {
	*service.Service
	server   *httpd.Server
	producer *producer.Producer
}

// spec runs every part, owning the data directory. prepare, which may be nil, comes before they are built.
func (f *allFlags) spec(
	p *process, prepare func(context.Context, *service.Service) error, ready func(context.Context, *allParts) error,
) service.Spec {
	var all *allParts
	return service.Spec{
		Needs: service.Everything, Exclusive: true, Listeners: f.listeners(f.Listen),
		Spool: f.spool(p.Settings.DataDir).Dir,
		Build: func(ctx context.Context, s *service.Service) (err error) {
			if prepare != nil {
				err = prepare(ctx, s)
			}
			if err == nil {
				all, err = f.build(ctx, s)
			}
			return err
		},
		Ready: func(ctx context.Context, _ string) error { return ready(ctx, all) },
	}
}

func (f *allFlags) build(ctx context.Context, s *service.Service) (*allParts, error) {
	proxies, err := f.proxies()
	if err != nil {
		return nil, err
	}
	appends, err := addProducer(s, f.spool(s.Settings.DataDir))
	if err != nil {
		return nil, err
	}
	if err := addPipeline(s, appends); err != nil {
		return nil, err
	}
	cfg := httpd.DefaultConfig()
	cfg.Name = "queryapi"
	server := s.Serve(cfg)
	if err := f.addCollector(s, proxies, appends, server); err != nil {
		return nil, err
	}
	s.RequireDatabases(server)
	deps := queryDeps(s, f.listenFlags, proxies)
	deps.Tracking = server.URL()
	gate, err := queryapi.NewGate(ctx, deps)
	if err != nil {
		return nil, err
	}
	s.Add(gate.Parts()...)
	parts, err := queryapi.Mount(ctx, deps, gate, f.RateLimit, server)
	if err != nil {
		return nil, err
	}
	s.Add(parts...)
	return &allParts{s, server, appends}, f.addTracking(s, appends, gate, server, true)
}

// allCmd runs every part in one process.
type allCmd struct {
	allFlags `embed:""`
}

func (c *allCmd) Run(ctx context.Context, p *process) error {
	return p.serve(ctx, c.validate(p.Settings), c.spec(p, nil, func(ctx context.Context, all *allParts) error {
		return p.sayNext(ctx, all.DB)
	}))
}

// sayNext prints what to do first with an installation that tracks nothing but the demo.
func (p *process) sayNext(ctx context.Context, db *postgres.DB) error {
	list, err := db.ListOrganizations(ctx)
	if err != nil || slices.ContainsFunc(list,
		func(o postgres.Organization) bool {
			return o.Slug != demoSlug && o.Slug != demoPageSlug && o.ID != postgres.PanelOrganization
		}) {
		return err
	}
	p.say(`
Nothing of yours is tracked yet. Next, in another terminal:

  %[1]s org add "Acme"
  %[1]s user add you@example.org --org acme --role owner
  %[1]s key create --org acme --user you@example.org --name laptop
  %[1]s import answers.ndjson --org acme --create brands.json   # docs/import.md has both files' fields
  %[1]s status                                                  # addresses, keys, how far the log has landed
`, os.Args[0])
	return nil
}

// ServeAll runs `answerscope all` in this process until ctx ends, for tests that look at its routes: ready gets the
// public server once /readyz is 200. The environment's entries are NAME=value.
func ServeAll(ctx context.Context, args, environment []string, log io.Writer, ready func(*httpd.Server)) error {
	var g grammar
	parser, err := newParser(&g)
	if err != nil {
		return err
	}
	if _, err := parser.Parse(append([]string{"all"}, args...)); err != nil {
		return err
	}
	g.Settings.Outside = config.FromEnvironment(environment)
	p := newProcess(config.Settings(g.Settings), "all", strings.NewReader(""), io.Discard, log)
	return p.serve(ctx, g.All.validate(p.Settings), g.All.spec(p, nil, func(_ context.Context, all *allParts) error {
		ready(all.server)
		return nil
	}))
}
