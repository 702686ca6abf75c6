package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/service"
)

// collectorCmd runs the collector alone.
type collectorCmd struct {
	Listen         string `default:"127.0.0.1:8081" placeholder:"ADDR" help:"{collector_listen}"`
	adminFlags     `embed:""`
	proxyFlags     `embed:""`
	collectorFlags `embed:""`
}

func (c *collectorCmd) Run(ctx context.Context, p *process) error {
	proxies, err := c.proxies()
	wrong := errors.Join(c.adminFlags.validate(c.Listen), c.collectorFlags.validate(c.proxyFlags), err)
	spool := c.spool(p.Settings.DataDir)
	return p.serve(ctx, wrong, service.Spec{
		Needs: service.Needs{Postgres: true, Kafka: true}, Tolerant: true,
		Listeners: c.listeners(c.Listen), Spool: spool.Dir,
		Build: func(_ context.Context, s *service.Service) error {
			appends, err := addProducer(s, spool)
			if err != nil {
				return err
			}
			return c.addCollector(s, proxies, appends, s.Serve(collector.Listener()))
		},
	})
}

// collectorFlags are the flags of every command that takes beacons.
type collectorFlags struct {
	Spool           string `placeholder:"DIR" help:"{collector_spool}"`
	SpoolBytes      int64  `default:"4294967296" placeholder:"BYTES" help:"{collector_spool_bytes}"`
	SiteLimit       int    `default:"500" placeholder:"N" help:"{collector_site_limit}"`
	CountryDatabase string `placeholder:"FILE" help:"{collector_country_database}"`
	CountryHeader   string `placeholder:"NAME" help:"{collector_country_header}"`
}

// minSpoolBytes is what a producer wants.
const minSpoolBytes = 4 * event.MaxRecordBytes

func (f *collectorFlags) validate(proxies proxyFlags) error {
	var err error
	if f.SpoolBytes < minSpoolBytes {
		err = fmt.Errorf("ANSWERSCOPE_SPOOL_BYTES is %d: want at least %d", f.SpoolBytes, minSpoolBytes)
	}
	err = errors.Join(err, f.config(nil).Validate())
	if f.CountryHeader != "" && len(proxies.TrustedProxies) == 0 {
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_COUNTRY_HEADER is %q: want ANSWERSCOPE_TRUSTED_PROXIES too, "+
			"since any client can send a header", f.CountryHeader))
	}
	return err
}

func (f *collectorFlags) config(proxies httpd.Proxies) collector.Config {
	cfg := collector.DefaultConfig()
	cfg.SiteLimit, cfg.CountryHeader, cfg.TrustedProxies = f.SiteLimit, f.CountryHeader, proxies
	return cfg
}

// spool is where the producer keeps beacons that the log does not accept.
func (f *collectorFlags) spool(dataDir string) producer.Spool {
	spool := producer.DefaultConfig().Spool
	spool.Dir = cmp.Or(f.Spool, filepath.Join(dataDir, "spool"))
	spool.MaxBytes, spool.PartitionsFile = f.SpoolBytes, filepath.Join(dataDir, "partitions.json")
	return spool
}

// addCollector adds the pixel and its beacons to a server.
func (f *collectorFlags) addCollector(
	s *service.Service, proxies httpd.Proxies, appends *producer.Producer, server *httpd.Server,
) error {
	c, parts, err := collector.Build(f.config(proxies), s.Settings.DataDir, f.CountryDatabase, s.DB, appends, s.Metrics,
		s.Log)
	if err != nil {
		return err
	}
	s.Add(parts...)
	s.Checks.Provide("spool", appends.Ready)
	c.Mount(server)
	return nil
}
