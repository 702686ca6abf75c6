package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/sql/postgres"
)

// allCmd runs every part in one process.
type allCmd struct {
	listenFlags    `embed:""`
	collectorFlags `embed:""`
	trackingFlags  `embed:""`
}

func (c *allCmd) Run(ctx context.Context, p *process) error {
	plan := planAll(c.listenFlags, &c.collectorFlags, &c.trackingFlags)
	plan.settled = sayNext
	return p.serve(ctx, plan)
}

// sayNext says what to do first with an installation that tracks nothing but the demo.
func sayNext(ctx context.Context, s *service) error {
	list, err := s.db.ListOrganizations(ctx)
	if err != nil || slices.ContainsFunc(list, func(o postgres.Organization) bool { return o.Slug != demoSlug && o.Slug != demoPageSlug }) {
		return err
	}
	s.say(`
Nothing of yours is tracked yet. Next, in another terminal:

  %[1]s org add "Acme"
  %[1]s user add you@example.org --org acme --role owner
  %[1]s key create --org acme --user you@example.org --name laptop
  %[1]s import answers.ndjson --org acme --create brands.json   # docs/import.md has both files' fields
  %[1]s status                                                  # addresses, keys, how far the log has landed
`, os.Args[0])
	return nil
}

// planAll runs every part, owning the data directory.
func planAll(at listenFlags, takes *collectorFlags, tracks *trackingFlags) plan {
	return plan{
		exclusive: true, needs: everything, requires: append(slices.Clone(pipelineReady), "queryapi", "spool", "sites"),
		at: at, takes: takes, tracks: tracks, assemble: []assembly{openStores, assemblePipeline, assembleListener, assembleCollector, assembleQueryAPI, assembleIngest},
	}
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
	p := &process{settings: config.Settings(g.Settings), command: "all", stdin: strings.NewReader(""), stdout: io.Discard, stderr: log}
	plan := planAll(g.All.listenFlags, &g.All.collectorFlags, &g.All.trackingFlags)
	plan.settled = func(_ context.Context, s *service) error {
		ready(s.server)
		return nil
	}
	return p.serve(ctx, plan)
}
