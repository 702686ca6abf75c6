package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/sql/postgres"
)

// What a collector is held against. Each has a listener with the collector's settings.
const (
	read    = "read"    // reads the body and answers 204
	handler = "handler" // the collector's handler, which appends nothing
	naive   = "naive"   // the collector's handler, which has kafka-go write each visit by itself and waits for it
	grouped = "grouped" // the same, but kafka-go waits a millisecond for up to a hundred to write together
)

// ceilings is the process that serves them, and where it finds its engines.
type ceilings struct {
	Postgres string   `json:"postgres"`
	Brokers  []string `json:"brokers"`
	Prefix   string   `json:"prefix"` // of the topics that are written to
	Dir      string   `json:"dir"`

	log     *slog.Logger
	running *errgroup.Group
}

// run announces the addresses of the ceilings by name, and serves them until ctx ends.
func (c *ceilings) run(ctx context.Context, announce func(any) error) error {
	cfg := postgres.DefaultConfig()
	cfg.DSN = c.Postgres
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	c.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	stopping, cancel := context.WithCancel(ctx)
	defer cancel()
	var within context.Context
	c.running, within = errgroup.WithContext(stopping)
	addresses, err := c.start(within, db)
	if err == nil {
		err = announce(addresses)
	}
	if err != nil {
		cancel()
		_ = c.running.Wait()
		return err
	}
	if err := c.running.Wait(); ctx.Err() == nil {
		return err
	}
	return nil // it was stopped
}

// start starts every ceiling, and returns their addresses by name.
func (c *ceilings) start(ctx context.Context, db *postgres.DB) (map[string]string, error) {
	sites := site.New(filepath.Join(c.Dir, "sites.json"), db, prometheus.NewRegistry(), c.log)
	visitors, err := visitor.New("", db, prometheus.NewRegistry(), c.log)
	if err != nil {
		return nil, err
	}
	c.running.Go(func() error { return sites.Run(ctx) })
	c.running.Go(func() error { return visitors.Run(ctx) })
	if err := poll(ctx, 10*time.Millisecond, func() (bool, error) { return sites.Ready(ctx) == nil, nil }); err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	if addresses[read], err = c.startReader(ctx); err != nil {
		return nil, err
	}
	for name, writer := range map[string]*kafka.Writer{
		handler: nil,
		naive:   {BatchSize: 1},
		grouped: {BatchTimeout: time.Millisecond}, // by default it waits a second for a hundred
	} {
		parts := collector.Parts{Sites: sites, Visitors: visitors}
		if parts.Append, err = c.append(ctx, writer); err != nil {
			return nil, err
		}
		if addresses[name], err = c.startCollector(ctx, parts); err != nil {
			return nil, err
		}
	}
	return addresses, nil
}

// startReader starts fiber alone.
func (c *ceilings) startReader(ctx context.Context) (address string, err error) {
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	app := fiber.New(collector.Listener().Fiber())
	app.Post(collector.Path, func(f *fiber.Ctx) error {
		if len(f.Request().Body()) == 0 {
			return fiber.ErrBadRequest
		}
		f.Status(http.StatusNoContent)
		return nil
	})
	c.running.Go(func() error { return app.Listener(listener) })
	c.running.Go(func() error {
		<-ctx.Done()
		return app.Shutdown()
	})
	return listener.Addr().String(), nil
}

func (c *ceilings) startCollector(ctx context.Context, parts collector.Parts) (address string, err error) {
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	cfg, metrics := collector.DefaultConfig(), prometheus.NewRegistry()
	cfg.SiteLimit = noLimit
	one, err := collector.New(cfg, parts, metrics, c.log)
	if err != nil {
		return "", errors.Join(err, listener.Close())
	}
	server := httpd.New(collector.Listener(), listener, c.log, metrics)
	one.Mount(server)
	c.running.Go(func() error { return server.Run(ctx) })
	return listener.Addr().String(), nil
}

// append writes as a plain program would with kafka-go: by one Writer for all requests, with acks of all replicas. A
// nil writer appends nothing.
func (c *ceilings) append(ctx context.Context, writer *kafka.Writer) (func(context.Context, string, ...[]byte) error, error) {
	if writer == nil {
		return func(context.Context, string, ...[]byte) error { return nil }, nil
	}
	topic := c.Prefix + event.TopicVisits
	connection := producer.Connection{Brokers: c.Brokers}
	transport, err := connection.Transport(topic)
	if err != nil {
		return nil, err
	}
	writer.Addr, writer.Topic, writer.RequiredAcks, writer.Transport = connection.Address(), topic, kafka.RequireAll, transport
	c.running.Go(func() error {
		<-ctx.Done()
		return writer.Close()
	})
	return func(ctx context.Context, _ string, values ...[]byte) error {
		for _, value := range values {
			if err := writer.WriteMessages(ctx, kafka.Message{Value: value}); err != nil {
				return fmt.Errorf("write visit: %w", err)
			}
		}
		return nil
	}, nil
}
