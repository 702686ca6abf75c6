package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/results"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// pipelineCmd runs the sinks, the mirror and what goes on in the background.
type pipelineCmd struct {
	Listen     string `default:"127.0.0.1:8083" placeholder:"ADDR" help:"Address of /healthz (default 127.0.0.1:8083)."`
	adminFlags `embed:""`
}

func (c *pipelineCmd) Run(ctx context.Context, p *process) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // what it holds are batches, with few pointers: a third less memory for little work
	}
	return p.serve(ctx, plan{
		needs:    everything,
		requires: pipelineReady,
		at:       listenFlags{Listen: c.Listen, adminFlags: c.adminFlags},
		assemble: []assembly{openStores, assemblePipeline, func(_ context.Context, s *service) error {
			cfg := httpd.DefaultConfig()
			cfg.Name = "pipeline"
			s.public(cfg)
			return nil
		}},
	})
}

// pipelineReady is what /readyz of a pipeline waits for.
var pipelineReady = slices.Concat([]string{"schema", "postgres", "clickhouse", "kafka", "mirror"}, sinkNames(), []string{"results"})

func sinkNames() (names []string) {
	for _, t := range event.Topics {
		names = append(names, "sink of "+t.Name)
	}
	return names
}

// assemblePipeline adds the mirror, so that dimensions are there early, then the sinks, and last the timetable, whose
// tasks need the others.
func assemblePipeline(_ context.Context, s *service) error {
	s.timetable = timetable.New(s.lead("timetable"), s.db.TaskHistory(), s.tasks, s.log)
	feed := upkeep.NewMirror(s.db, s.warehouse, s.metrics, s.log)
	s.part("mirror", bothStores, feed.Run)
	s.ready.Provide("mirror", feed.Ready)
	s.ready.Provide("kafka", s.kafkaConnection.Reach)
	for _, assemble := range []func(*service) error{assembleSinks, assembleResults, assembleReread, assembleReconcile, assembleRetention} {
		if err := assemble(s); err != nil {
			return err
		}
	}
	s.part("timetable", everything, s.timetable.Run)
	return nil
}

// groupOfResults reads answers for prompt_results.
const groupOfResults = "answerscope-results"

// sinks has the sink of each topic.
var sinks = map[string]topicSink{
	event.TopicAnswers: sinkOf(sink.NewAnswers),
	event.TopicVisits: sinkOf(func(conn *clickhouse.Conn, metrics prometheus.Registerer, log *slog.Logger) *sink.Visits {
		return sink.NewVisits(conn, sink.CachedVisitIDs, metrics, log)
	}),
	event.TopicCrawls: sinkOf(sink.NewCrawls),
}

// topicSink runs the sink of a topic, or recovers lost rows with it. Sinks have different types of rows.
type topicSink struct {
	assemble func(*service, event.Topic) error
	recover  func(ctx context.Context, on *engines, month clickhouse.Month, step func(done, total int64)) (reconcile.Recovered, error)
}

func sinkOf[R sink.Row](newSink func(*clickhouse.Conn, prometheus.Registerer, *slog.Logger) *sink.Sink[R]) topicSink {
	return topicSink{
		assemble: func(s *service, t event.Topic) error {
			target := newSink(s.warehouse, s.metrics, s.log)
			cfg := s.reading(t.Group, t.Name)
			cfg.Lock, cfg.Assigned = consume.LockWith(s.db.LockSinksShared), target.Assigned
			if t.Name == event.TopicVisits {
				cfg.Limits = sink.VisitLimits(cfg.Limits)
			}
			return consuming(s, "sink of "+t.Name, cfg, target)
		},
		recover: func(ctx context.Context, on *engines, month clickhouse.Month, step func(done, total int64)) (reconcile.Recovered, error) {
			unused := prometheus.NewRegistry()
			reconciler, err := on.reconciler(unused)
			if err != nil {
				return reconcile.Recovered{}, err
			}
			return reconcile.Recover(ctx, reconciler, newSink(on.warehouse, unused, on.log), month, step)
		},
	}
}

func assembleSinks(s *service) (err error) {
	for _, t := range event.Topics {
		err = errors.Join(err, sinks[t.Name].assemble(s, t))
	}
	return err
}

// topicList is the names of the topics in words: "answers, visits or crawls".
func topicList() string {
	names := event.TopicNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// assembleResults adds what writes answers to prompt_results, and nightly drops old ones.
func assembleResults(s *service) error {
	writer := results.New(extract.Version, s.db, s.warehouse, time.Now, s.metrics, s.log)
	s.timetable.Every("prune results", timetable.Daily(3, 20), writer.Prune)
	s.timetable.Every("renew results", timetable.Daily(3, 40), writer.Renew)
	cfg := s.reading(groupOfResults, event.TopicAnswers)
	cfg.Limits.Records, cfg.Limits.Bytes = 1000, 8<<20 // a batch is a transaction
	return consuming(s, "results", cfg, writer)
}

// reading is how a group reads a topic, both without the prefix.
func (s *service) reading(group, topic string) consume.Config {
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = s.kafkaConnection, s.settings.Kafka.TopicPrefix+group, s.settings.Kafka.TopicPrefix+topic
	cfg.Shards, cfg.Traces = s.warehouse.Shards(), s.traces
	return cfg
}

// consuming adds a part that takes a topic to its target.
func consuming[T any](s *service, name string, cfg consume.Config, target consume.Target[T]) error {
	consumer, err := consume.New(cfg, target, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part(name, everything, consumer.Run)
	s.ready.Provide(name, consumer.Ready)
	return nil
}

// assembleRetention has months expire, and what people have deleted purged.
func assembleRetention(s *service) error {
	cfg := s.retaining()
	cfg.Connection = s.kafkaConnection
	expiring, err := upkeep.NewRetention(cfg, s.db, s.warehouse, time.Now, s.metrics, s.log)
	if err != nil {
		return err
	}
	// Hourly, since a machine that sleeps at night has months too.
	s.timetable.Every("retention", timetable.Hourly(37), expiring.Enforce)

	purger := upkeep.NewPurger(s.db, s.warehouse, s.lead("purge"), s.metrics, s.log)
	s.part("purge", everything, purger.Run)
	s.timetable.Every("purge", timetable.Daily(4, 10), purger.Nightly)
	// Collectors do so too; their salts must go also when none runs any more.
	s.timetable.Every("visitor salts", timetable.Hourly(7), s.db.DropSalts)
	return nil
}

// retaining is for how long raw facts are kept, and whose sinks are stopped for it. It lacks the brokers.
func (p *process) retaining() upkeep.RetentionConfig {
	cfg := upkeep.DefaultRetention()
	cfg.Months, cfg.DeadLetters = p.settings.Retention.Months(), p.settings.Retention.Deadletters
	cfg.Sinks = p.sinks()
	return cfg
}

// sinks are those whose batches must not be under way while something is replaced.
func (p *process) sinks() (all []consume.Sink) {
	prefix := p.settings.Kafka.TopicPrefix
	for _, t := range event.Topics {
		all = append(all, consume.Sink{Group: prefix + t.Group, Topic: prefix + t.Name, Landing: t.Name})
	}
	return all
}
