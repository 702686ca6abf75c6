package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// ceilingsTask is where the ceilings find their engines.
type ceilingsTask struct {
	Postgres string   `json:"postgres"`
	Brokers  []string `json:"brokers"`
	Prefix   string   `json:"prefix"` // of the topics that are written to
	Dir      string   `json:"dir"`
}

// ceilings prints the address of each, and serves them until ctx or in ends, which is when the bench has ended.
func ceilings(ctx context.Context, in io.Reader, out io.Writer) error {
	var task ceilingsTask
	if err := json.NewDecoder(in).Decode(&task); err != nil {
		return fmt.Errorf("read task: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	cfg := postgres.DefaultConfig()
	cfg.DSN = task.Postgres
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	running, within := errgroup.WithContext(ctx)
	c := ceilingsServer{task, slog.New(slog.NewTextHandler(os.Stderr, nil)), running}
	addresses, err := c.start(within, db)
	if err == nil {
		err = json.NewEncoder(out).Encode(addresses)
	}
	if err != nil {
		cancel()
		_ = running.Wait()
		return err
	}
	if err := running.Wait(); ctx.Err() == nil {
		return err
	}
	return nil // it was stopped
}

// ceilingsServer is the process of the ceilings.
type ceilingsServer struct {
	ceilingsTask
	log     *slog.Logger
	running *errgroup.Group
}

// start starts every ceiling, and returns their addresses by name.
func (c *ceilingsServer) start(ctx context.Context, db *postgres.DB) (map[string]string, error) {
	parts, err := c.parts(ctx, db)
	if err != nil {
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
		if parts.Append, err = c.append(ctx, writer); err != nil {
			return nil, err
		}
		if addresses[name], err = c.startCollector(ctx, parts); err != nil {
			return nil, err
		}
	}
	return addresses, nil
}

// parts are those of a collector, but for its append.
func (c *ceilingsServer) parts(ctx context.Context, db *postgres.DB) (collector.Parts, error) {
	sites, err := site.New(filepath.Join(c.Dir, "sites.json"), db, prometheus.NewRegistry(), c.log)
	if err != nil {
		return collector.Parts{}, err
	}
	visitors, err := visitor.New(visitor.DefaultConfig(), db, prometheus.NewRegistry(), c.log)
	if err != nil {
		return collector.Parts{}, err
	}
	c.running.Go(func() error { return sites.Run(ctx) })
	c.running.Go(func() error { return visitors.Run(ctx) })
	err = poll(ctx, 10*time.Millisecond, func() (bool, error) { return sites.Ready(ctx) == nil, nil })
	return collector.Parts{Sites: sites, Visitors: visitors}, err
}

// startReader starts fiber alone.
func (c *ceilingsServer) startReader(ctx context.Context) (address string, err error) {
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

func (c *ceilingsServer) startCollector(ctx context.Context, parts collector.Parts) (address string, err error) {
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

// append writes as a plain program would with kafka-go: by one Writer for all requests, with acks of all replicas. A nil
// writer appends nothing.
func (c *ceilingsServer) append(ctx context.Context, writer *kafka.Writer) (func(context.Context, string, ...[]byte) error, error) {
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
