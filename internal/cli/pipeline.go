package cli

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/mail"
)

// pipelineCmd runs the sinks, the mirror and the scheduled tasks of the warehouse.
type pipelineCmd struct {
	Listen     string `default:"127.0.0.1:8083" placeholder:"ADDR" help:"Address of /healthz (default 127.0.0.1:8083)."`
	adminFlags `embed:""`
}

func (c *pipelineCmd) Run(ctx context.Context, p *process) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // what it holds are batches, with few pointers: a third less memory for little work
	}
	return p.serve(ctx, c.validate(c.Listen), service.Spec{
		Needs: service.Everything, Listeners: c.listeners(c.Listen),
		Build: func(_ context.Context, s *service.Service) error {
			appends, err := addProducer(s, producer.Spool{})
			if err != nil {
				return err
			}
			cfg := httpd.DefaultConfig()
			cfg.Name = "pipeline"
			s.Serve(cfg)
			return addPipeline(s, appends)
		},
	})
}

// addProducer adds the producer that all parts of a process share, with a spool if that has a directory.
func addProducer(s *service.Service, spool producer.Spool) (*producer.Producer, error) {
	appends, err := s.NewProducer(s.Metrics, spool)
	if err == nil {
		s.Add(lifecycle.Part{Name: "producer", Run: appends.Run})
	}
	return appends, err
}

func addPipeline(s *service.Service, appends *producer.Producer) error {
	deps := pipelineDeps(s.Engines, s.Metrics)
	deps.Producer, deps.Traces, deps.Tasks = appends, s.Traces, s.Tasks
	var err error
	if deps.Notify, err = notifyConfig(s.Settings, s.Log); err != nil {
		return err
	}
	parts, err := pipeline.Build(deps)
	s.Add(parts...)
	return err
}

// notifyConfig has the ways in which events and mails leave.
func notifyConfig(settings config.Settings, log *slog.Logger) (notify.Config, error) {
	cfg := notify.DefaultConfig()
	ring, err := settings.SecretRing()
	if err != nil {
		return cfg, err
	}
	if !ring.IsSet() {
		log.Warn("no webhook and no link can be sent", "next",
			"give ANSWERSCOPE_SECRET_KEYS, the same to every process; until then each attempt fails and counts")
	}
	if settings.Mail.IsSet() {
		mails, err := mail.New(settings.Mail, settings.PublicURL, ring)
		if err != nil {
			return cfg, err
		}
		cfg.Mail = mails.Send
	}
	client, err := egress.New(settings.EgressAllow)
	sender := notify.Sender{Client: client, Ring: ring, PublicURL: settings.PublicURL, Version: thisBuild().Version}
	cfg.Deliver = sender.Send
	return cfg, err
}

// pipelineDeps are what a short command has for the pipeline.
func pipelineDeps(e *service.Engines, metrics prometheus.Registerer) pipeline.Deps {
	return pipeline.Deps{
		DB: e.DB, Warehouse: e.Warehouse, Kafka: e.Kafka, Prefix: e.Settings.Kafka.TopicPrefix,
		Retention: e.Settings.Retention,
		Metrics:   metrics, Log: e.Log,
	}
}

// topicList is the names of the topics in words: "answers, visits or crawls".
func topicList() string {
	names := event.TopicNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
