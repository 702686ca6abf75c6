package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/sql/postgres"
)

// collectorCmd is the command collector.
type collectorCmd struct {
	Listen         string `default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of /t.js and /t/collect (default 127.0.0.1:8081)."`
	adminFlags     `embed:""`
	proxyFlags     `embed:""`
	collectorFlags `embed:""`
}

func (c *collectorCmd) Run(ctx context.Context, p *process) error {
	return p.serve(ctx, plan{
		needs: needs{Postgres: true, Kafka: true}, unchecked: true,
		requires: []string{"schema", "spool", "sites", "collector"}, at: listenFlags{Listen: c.Listen, adminFlags: c.adminFlags, proxyFlags: c.proxyFlags},
		takes: &c.collectorFlags, assemble: []assembly{openPostgresLater, assembleCollector},
	})
}

// collectorFlags are the flags of every command that takes beacons.
type collectorFlags struct {
	Spool           string `placeholder:"DIR" help:"Where beacons wait while Kafka is away, one process a directory (default spool in the data directory)."`
	SpoolBytes      int64  `default:"4294967296" placeholder:"BYTES" help:"How much may wait there; beyond it beacons are answered 503 (default 4294967296, 4 GiB)."`
	SiteLimit       int    `default:"500" placeholder:"N" help:"Beacons a second of one brand's site; beyond it they are answered 429 (default 500)."`
	CountryDatabase string `placeholder:"FILE" help:"Countries of addresses, in MaxMind's format; read again when it changes."`
	CountryHeader   string `placeholder:"NAME" help:"Header in which a trusted proxy names the visitor's country, such as CF-IPCountry."`
}

// leastSpool is what a producer wants.
const leastSpool = 4 * event.MaxRecordBytes

func (c *collectorFlags) validate(behind proxyFlags) error {
	if c == nil {
		return nil
	}
	var err error
	if c.SpoolBytes < leastSpool {
		err = fmt.Errorf("ANSWERSCOPE_SPOOL_BYTES is %d: want at least %d", c.SpoolBytes, leastSpool)
	}
	err = errors.Join(err, c.config(nil).Validate())
	if c.CountryHeader != "" && len(behind.TrustedProxies) == 0 {
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_COUNTRY_HEADER is %q: want ANSWERSCOPE_TRUSTED_PROXIES too, since any client can send a header", c.CountryHeader))
	}
	return err
}

func (c *collectorFlags) config(proxies httpd.Proxies) collector.Config {
	cfg := collector.DefaultConfig()
	cfg.SiteLimit, cfg.CountryHeader, cfg.TrustedProxies = c.SiteLimit, c.CountryHeader, proxies
	return cfg
}

// spool is where the producer keeps what the log does not take; nowhere where no beacons are taken.
func (c *collectorFlags) spool(dataDir string) producer.Spool {
	if c == nil {
		return producer.Spool{}
	}
	spool := producer.DefaultConfig().Spool
	spool.Dir = cmp.Or(c.Spool, filepath.Join(dataDir, "spool"))
	spool.MaxBytes, spool.PartitionsFile = c.SpoolBytes, filepath.Join(dataDir, "partitions.json")
	return spool
}

// openPostgresLater connects a service to a control plane that may be away.
func openPostgresLater(ctx context.Context, s *service) (err error) {
	s.db, err = postgres.OpenLater(ctx, s.postgresConfig)
	s.ready.Note("postgres", s.db.Reach)
	s.ready.Note("kafka", s.kafkaConnection.Reach)
	return err
}

// assembleCollector adds the pixel and its beacons, on the listener that is there, or on one of its own.
func assembleCollector(_ context.Context, s *service) error {
	sites := site.New(filepath.Join(s.settings.DataDir, "sites.json"), s.db, s.metrics, s.log)
	who := visitor.DefaultConfig()
	who.CountryDatabase = s.takes.CountryDatabase
	visitors, err := visitor.New(who, s.db, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("sites", needs{}, sites.Run)
	s.part("visitors", needs{}, visitors.Run)
	s.ready.Provide("sites", sites.Ready)
	if s.appends == nil {
		if s.appends, err = s.newProducer(s.metrics, s.takes.spool(s.settings.DataDir)); err != nil {
			return err
		}
		s.part("producer", needs{}, s.appends.Run)
	}
	s.ready.Provide("spool", s.appends.Ready)
	takes, err := collector.New(s.takes.config(s.proxies), collector.Parts{Sites: sites, Visitors: visitors, Append: s.appends.Append}, s.metrics, s.log)
	if err != nil {
		return err
	}
	if s.server == nil {
		s.public(collector.Listener())
	}
	takes.Mount(s.server)
	return nil
}
