package cli

import "context"

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
	return p.everything(ctx, "all", c.listening, &c.collecting, nil)
}

// everything runs every part, owning the data directory. settled is done before the ready line; nil is nothing.
func (p *process) everything(ctx context.Context, command string, at listening, takes *collecting, settled func(context.Context, *service) error, more ...assembly) error {
	return p.serve(ctx, plan{
		command:   command,
		exclusive: true,
		needs:     everything,
		requires:  []string{"schema", "postgres", "clickhouse", "kafka", "mirror", sinkOfAnswers, sinkOfVisits, sinkOfCrawls, writerOfResults, "queryapi", "spool", "sites"},
		at:        at,
		takes:     takes,
		assemble:  append([]assembly{openStores, assemblePipeline, assembleQueryAPI, assembleCollector}, more...),
		settled:   settled,
	})
}
