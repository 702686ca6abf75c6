package cli

import (
	"context"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/mirror"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// pipeline runs the sink and the mirror.
type pipeline struct {
	Listen       string `default:"127.0.0.1:8083" placeholder:"ADDR" help:"Address of /healthz (default 127.0.0.1:8083)."`
	administered `embed:""`
}

func (pipeline) Help() string {
	return `Takes records from the log to the warehouse and edits from the control plane to its dimensions. As many may run as
the topics have partitions.

Example:

  ANSWERSCOPE_KAFKA_BROKERS=kafka:9092 ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_POSTGRES_DSN=… answerscope pipeline`
}

func (c *pipeline) Run(ctx context.Context, p *process) error {
	return p.serve(ctx, plan{
		command:  "pipeline",
		needs:    needs{clickhouse: true, postgres: true, kafka: true},
		requires: []string{"schema", "postgres", "clickhouse", "kafka", "mirror", "sink"},
		at:       listening{c.Listen, c.administered},
		assemble: []assembly{openStores, assemblePipeline, func(_ context.Context, s *service) error {
			s.public("pipeline")
			return nil
		}},
	})
}

// assemblePipeline adds the mirror, so that dimensions are there early, then the sink.
func assemblePipeline(_ context.Context, s *service) error {
	feed, err := mirror.New(mirror.DefaultConfig(), s.db, s.warehouse, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("mirror", feed.Run)
	s.ready.Provide("mirror", feed.Ready)

	s.ready.Provide("kafka", s.reachKafka)
	cfg := consume.DefaultConfig()
	cfg.Connection = s.kafka(s.engines)
	cfg.Group = s.Kafka.TopicPrefix + "answerscope-sink"
	cfg.Topic = s.Kafka.TopicPrefix + event.TopicAnswers
	cfg.Traces = s.traces
	answers, err := consume.New(cfg, sink.New(s.warehouse, s.metrics, s.log), s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("sink of answers", answers.Run)
	s.ready.Provide("sink", answers.Ready)
	return nil
}
