package cli

import (
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/purge"
	"github.com/answerscope/answerscope/pipeline/retention"
)

// assembleRetention has months expire, and what people have deleted purged.
func assembleRetention(s *service) error {
	cfg := retention.DefaultConfig()
	cfg.Connection = s.kafka(s.engines)
	cfg.Answers, cfg.Visits, cfg.DeadLetters = s.Retention.Answers, s.Retention.Visits, s.Retention.Deadletters
	for group, topic := range map[string]string{groupOfAnswers: event.TopicAnswers, groupOfVisits: event.TopicVisits} {
		cfg.Sinks = append(cfg.Sinks, retention.Sink{Group: s.Kafka.TopicPrefix + group, Topic: s.Kafka.TopicPrefix + topic})
	}
	expiring, err := retention.New(cfg, s.db, s.warehouse, time.Now, s.metrics, s.log)
	if err != nil {
		return err
	}
	// Hourly, since a machine that sleeps at night has months too.
	s.chores.Every("retention", timetable.Hourly(37), expiring.Enforce)

	lead := s.db.NewLeader("purge")
	s.onClose("lead of the purge", lead.Close)
	purger, err := purge.New(purge.DefaultConfig(), s.db, s.warehouse, lead, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("purge", purger.Run)
	s.chores.Every("purge", timetable.Daily(4, 10), purger.Nightly)
	return nil
}
