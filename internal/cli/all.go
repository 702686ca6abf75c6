package cli

import (
	"context"
	"slices"
)

// all runs every part in one process.
type all struct {
	listening  `embed:""`
	collecting `embed:""`
}

func (c *all) Run(ctx context.Context, p *process) error {
	return p.serve(ctx, planAll(c.listening, &c.collecting))
}

// planAll runs every part, owning the data directory.
func planAll(at listening, takes *collecting) plan {
	return plan{
		exclusive: true, needs: everything, requires: append(slices.Clone(pipelineReady), "queryapi", "spool", "sites"),
		at: at, takes: takes, assemble: []assembly{openStores, assemblePipeline, assembleQueryAPI, assembleCollector},
	}
}
