package cli

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/mirror"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// pipeline runs the sinks, the mirror and what goes on in the background.
type pipeline struct {
	Listen       string `default:"127.0.0.1:8083" placeholder:"ADDR" help:"Address of /healthz (default 127.0.0.1:8083)."`
	administered `embed:""`
}

func (pipeline) Help() string {
	return `Takes records from the log to the warehouse and edits from the control plane to its dimensions and to the answers that
are kept. As many may run as the topics have partitions.

Example:

  ANSWERSCOPE_KAFKA_BROKERS=kafka:9092 ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_POSTGRES_DSN=… answerscope pipeline`
}

func (c *pipeline) Run(ctx context.Context, p *process) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // what it holds are batches, with few pointers: a third less memory for little work
	}
	return p.serve(ctx, plan{
		command:  "pipeline",
		needs:    everything,
		requires: []string{"schema", "postgres", "clickhouse", "kafka", "mirror", sinkOfAnswers, sinkOfVisits, sinkOfCrawls, writerOfResults},
		at:       listening{c.Listen, c.administered},
		assemble: []assembly{openStores, assemblePipeline, func(_ context.Context, s *service) error {
			s.public("pipeline")
			return nil
		}},
	})
}

// assemblePipeline adds the mirror, so that dimensions are there early, then the sinks, and last the timetable, whose
// tasks need the others.
func assemblePipeline(_ context.Context, s *service) error {
	lead := s.db.NewLeader("timetable")
	s.onClose("lead of the timetable", lead.Close)
	s.timetable = timetable.New(lead, s.db.TaskHistory(), s.metrics, s.log)
	feed := mirror.New(s.db, s.warehouse, s.metrics, s.log)
	s.part("mirror", feed.Run)
	s.ready.Provide("mirror", feed.Ready)

	s.ready.Provide("kafka", s.kafka(s.engines).Reach)
	for _, assemble := range []func(*service) error{
		assembleSinkOfAnswers, assembleSinkOfVisits, assembleSinkOfCrawls, assembleResults, assembleReread, assembleReconcile, assembleRetention,
	} {
		if err := assemble(s); err != nil {
			return err
		}
	}
	s.part("timetable", s.timetable.Run)
	return nil
}

func assembleSinkOfAnswers(s *service) error {
	answers := s.reading(groupOfAnswers, event.TopicAnswers)
	answers.Lock = consume.LockWith(s.db.LockSinksShared)
	return consuming(s, sinkOfAnswers, answers, sink.NewAnswers(s.warehouse, s.metrics, s.log))
}

func assembleSinkOfVisits(s *service) error {
	target := sink.NewVisits(s.warehouse, sink.CachedVisitIDs, s.metrics, s.log)
	visits := s.reading(groupOfVisits, event.TopicVisits)
	visits.Lock = consume.LockWith(s.db.LockSinksShared)
	visits.Assigned = target.Assigned
	visits.Limits = sink.VisitLimits(visits.Limits)
	return consuming(s, sinkOfVisits, visits, target)
}

func assembleSinkOfCrawls(s *service) error {
	crawls := s.reading(groupOfCrawls, event.TopicCrawls)
	crawls.Lock = consume.LockWith(s.db.LockSinksShared)
	return consuming(s, sinkOfCrawls, crawls, sink.NewCrawls(s.warehouse, s.metrics, s.log))
}

// The sinks by their names in the log and in readiness.
const (
	sinkOfAnswers = "sink of answers"
	sinkOfVisits  = "sink of visits"
	sinkOfCrawls  = "sink of crawls"
)

// groupOfAnswers reads topic answers.
const groupOfAnswers = "answerscope-sink"

// groupOfVisits reads topic visits.
const groupOfVisits = "answerscope-sink-visits"

// groupOfCrawls reads topic crawls.
const groupOfCrawls = "answerscope-sink-crawls"

// sinks are the groups that land a topic, with the topic: whoever stops the sinks stops all of them.
var sinks = map[string]string{groupOfAnswers: event.TopicAnswers, groupOfVisits: event.TopicVisits, groupOfCrawls: event.TopicCrawls}

// reading is how a group reads a topic, both without the prefix.
func (s *service) reading(group, topic string) consume.Config {
	cfg := consume.DefaultConfig()
	cfg.Connection = s.kafka(s.engines)
	cfg.Group = s.Kafka.TopicPrefix + group
	cfg.Topic = s.Kafka.TopicPrefix + topic
	cfg.Shards = s.warehouse.Shards()
	cfg.Traces = s.traces
	return cfg
}

// consuming adds a part that takes a topic to its target.
func consuming[T any](s *service, name string, cfg consume.Config, target consume.Target[T]) error {
	consumer, err := consume.New(cfg, target, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part(name, consumer.Run)
	s.ready.Provide(name, consumer.Ready)
	return nil
}
