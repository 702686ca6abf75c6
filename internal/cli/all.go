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

func (all) Help() string {
	return `Engines whose addresses are not given are started under the data directory and stopped with this process. Schemas
and topics are brought up first. Once everything is ready, the only line on stdout is "ready http://ADDR".

Example:

  answerscope all --listen 127.0.0.1:8080 --data-dir ./var`
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
