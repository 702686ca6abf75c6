package cli

import (
	"time"

	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/purge"
	"github.com/answerscope/answerscope/pipeline/retention"
)

// assembleRetention has months expire, and what people have deleted purged.
func assembleRetention(s *service) error {
	cfg := s.retaining()
	cfg.Connection = s.kafka(s.engines)
	expiring, err := retention.New(cfg, s.db, s.warehouse, time.Now, s.metrics, s.log)
	if err != nil {
		return err
	}
	// Hourly, since a machine that sleeps at night has months too.
	s.timetable.Every("retention", timetable.Hourly(37), expiring.Enforce)

	lead := s.db.NewLeader("purge")
	s.onClose("lead of the purge", lead.Close)
	purger := purge.New(s.db, s.warehouse, lead, s.metrics, s.log)
	s.part("purge", purger.Run)
	s.timetable.Every("purge", timetable.Daily(4, 10), purger.Nightly)
	// Collectors do so too; their salts must go also when none runs any more.
	s.timetable.Every("visitor salts", timetable.Hourly(7), s.db.DropSalts)
	return nil
}

// retaining is for how long raw facts are kept, and whose sinks are stopped for it. It lacks the brokers.
func (p *process) retaining() retention.Config {
	cfg := retention.DefaultConfig()
	cfg.Answers, cfg.Visits = p.Retention.Answers, p.Retention.Visits
	cfg.Crawls, cfg.DeadLetters = p.Retention.Crawls, p.Retention.Deadletters
	for group, topic := range sinks {
		cfg.Sinks = append(cfg.Sinks, retention.Sink{Group: p.Kafka.TopicPrefix + group, Topic: p.Kafka.TopicPrefix + topic})
	}
	return cfg
}
