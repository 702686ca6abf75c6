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
	administered `embed:""`
}

func (pipeline) Help() string {
	return `Takes records from the log to the warehouse and edits from the control plane to its dimensions. As many may run as
the topics have partitions.

Example:

  ANSWERSCOPE_KAFKA_BROKERS=kafka:9092 ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_POSTGRES_DSN=… answerscope pipeline`
}

func (c *pipeline) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return usageError{err}
	}
	return p.serve(ctx, plan{
		command:  "pipeline",
		needs:    needs{clickhouse: true, postgres: true, kafka: true},
		requires: []string{"schema", "postgres", "clickhouse", "mirror", "sink"},
		admin:    c.administered,
		assemble: []assembly{openStores, assemblePipeline},
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

	cfg := consume.DefaultConfig()
	cfg.Brokers = s.brokers
	cfg.Group = s.Kafka.TopicPrefix + "answerscope-sink"
	cfg.Topic = s.Kafka.TopicPrefix + event.TopicAnswers
	answers, err := consume.New(cfg, sink.New(s.warehouse, s.metrics, s.log), s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("sink of answers", answers.Run)
	s.ready.Provide("sink", answers.Ready)
	return nil
}
