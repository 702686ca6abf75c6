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
	"github.com/answerscope/answerscope/internal/useragent"
	"github.com/answerscope/answerscope/sql/postgres"
)

// ceilingsAsked are the engines of a collector, and a directory.
type ceilingsAsked struct {
	Postgres string   `json:"postgres"`
	Brokers  []string `json:"brokers"`
	Prefix   string   `json:"prefix"` // of the topics that are written to
	Dir      string   `json:"dir"`
}

// ceilingsAt are the addresses of what a collector is held against. Each has a listener with the collector's settings.
type ceilingsAt struct {
	Read    string `json:"read"`    // reads the body and answers 204
	Handler string `json:"handler"` // the collector's handler, which appends nothing
	Naive   string `json:"naive"`   // the collector's handler, which has kafka-go write each visit by itself and waits for it
	Grouped string `json:"grouped"` // the same, but kafka-go waits a millisecond for up to a hundred to write together
}

// ceilings serves them until it is stopped, or asked stops.
func ceilings(ctx context.Context, asked io.Reader, told io.Writer) error {
	var a ceilingsAsked
	if err := json.NewDecoder(asked).Decode(&a); err != nil {
		return fmt.Errorf("read what is asked: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, asked) // until whoever asked has gone
	}()
	cfg := postgres.DefaultConfig()
	cfg.DSN = a.Postgres
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	running, ctx := errgroup.WithContext(ctx)
	c := contest{a, slog.New(slog.NewTextHandler(os.Stderr, nil)), running}
	at, err := c.start(ctx, db)
	if err == nil {
		err = json.NewEncoder(told).Encode(at)
	}
	if err != nil {
		cancel()
	}
	ended := running.Wait()
	if err == nil && ctx.Err() == nil {
		err = ended
	}
	return err
}

// contest is what runs in the process of the ceilings.
type contest struct {
	ceilingsAsked
	log     *slog.Logger
	running *errgroup.Group
}

func (c *contest) start(ctx context.Context, db *postgres.DB) (at ceilingsAt, err error) {
	asked, err := c.parts(ctx, db)
	if err != nil {
		return at, err
	}
	if at.Read, err = c.reader(ctx); err != nil {
		return at, err
	}
	asked.Append = func(context.Context, string, ...[]byte) error { return nil }
	if at.Handler, err = c.collector(ctx, asked); err != nil {
		return at, err
	}
	// A kafka-go Writer, shared by all requests. By default it waits a second for a hundred, which would be no contest.
	if asked.Append, err = c.plainly(ctx, &kafka.Writer{BatchSize: 1}); err != nil {
		return at, err
	}
	if at.Naive, err = c.collector(ctx, asked); err != nil {
		return at, err
	}
	if asked.Append, err = c.plainly(ctx, &kafka.Writer{BatchTimeout: time.Millisecond}); err != nil {
		return at, err
	}
	at.Grouped, err = c.collector(ctx, asked)
	return at, err
}

// parts are those of a collector, but for its append.
func (c *contest) parts(ctx context.Context, db *postgres.DB) (collector.Parts, error) {
	known := site.DefaultConfig()
	known.File = filepath.Join(c.Dir, "sites.json")
	sites, err := site.New(known, db, prometheus.NewRegistry(), c.log)
	if err != nil {
		return collector.Parts{}, err
	}
	visitors, err := visitor.New(visitor.DefaultConfig(), db, prometheus.NewRegistry(), c.log)
	if err != nil {
		return collector.Parts{}, err
	}
	c.running.Go(func() error { return sites.Run(ctx) })
	c.running.Go(func() error { return visitors.Run(ctx) })
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for sites.Ready(ctx) != nil {
		select {
		case <-look.C:
		case <-ctx.Done():
			return collector.Parts{}, context.Cause(ctx)
		}
	}
	return collector.Parts{Sites: sites, Visitors: visitors, Agents: useragent.New()}, nil
}

// reader is fiber alone.
func (c *contest) reader(ctx context.Context) (address string, err error) {
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

// collector is one with other parts.
func (c *contest) collector(ctx context.Context, parts collector.Parts) (address string, err error) {
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

// plainly writes as anybody would with kafka-go, with acks of all replicas.
func (c *contest) plainly(ctx context.Context, writer *kafka.Writer) (func(context.Context, string, ...[]byte) error, error) {
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
