package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	trackingapi "github.com/answerscope/answerscope/ingest/tracking/api"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// ingestCmd is the command ingest.
type ingestCmd struct {
	Listen        string `default:"127.0.0.1:8082" placeholder:"ADDR" help:"Address of /api/tracking (default 127.0.0.1:8082)."`
	adminFlags    `embed:""`
	trackingFlags `embed:""`
}

func (c *ingestCmd) Run(ctx context.Context, p *process) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // two thousand connections and their answers: a third less memory for little work
	}
	return p.serve(ctx, plan{
		needs: everything, requires: []string{"schema", "postgres", "clickhouse", "kafka", "ingest"},
		at: listenFlags{Listen: c.Listen, adminFlags: c.adminFlags}, tracks: &c.trackingFlags,
		assemble: []assembly{openStores, assembleIngest},
	})
}

// trackingFlags are the flags of every command that starts tracking jobs.
type trackingFlags struct {
	StartLimit int `default:"2" placeholder:"N" help:"Starts of tracking jobs, and estimates, a second of one user or key (default 2); 0: no limit."`
}

func (t *trackingFlags) validate() error {
	if t != nil && t.StartLimit < 0 {
		return fmt.Errorf("ANSWERSCOPE_START_LIMIT is %d: want 0 or more", t.StartLimit)
	}
	return nil
}

// assembleIngest adds the tracking server, on the listener that is there or on one of its own, what works on its jobs,
// and the schedule. Its timetable has a lead of its own, so that the pipeline's process and this one may differ.
func assembleIngest(ctx context.Context, s *service) error {
	if err := assembleJobs(ctx, s); err != nil {
		return err
	}
	due := tracking.NewSchedule(s.db, s.jobs, time.Now, s.metrics, s.log)
	table := timetable.New(s.lead("schedule"), s.db.TaskHistory(), s.tasks, s.log)
	table.Every("schedule", timetable.Interval(tracking.Interval), due.Tick)
	table.Every("prune tracking", timetable.Daily(3, 50), due.Prune)
	table.WhereNotLeading(due.ForgetStalled)
	s.part("schedule", everything, table.Run)
	return s.mountTracking(ctx, trackingapi.New(s.db, s.jobs, due, time.Now))
}

// assembleJobs adds what works on tracking jobs.
func assembleJobs(_ context.Context, s *service) error {
	if s.appends == nil {
		var err error
		if s.appends, err = s.newProducer(s.metrics, producer.Spool{}); err != nil {
			return err
		}
		s.part("producer", needs{}, s.appends.Run)
		s.ready.Provide("kafka", s.kafkaConnection.Reach)
	}
	jobs, err := s.newJobs(s.appends, s.metrics)
	if err != nil {
		return err
	}
	s.jobs = jobs
	s.part("tracking jobs", everything, jobs.Run)
	return nil
}

// newJobs makes tracking jobs that append with a producer; without one they can be started, and not worked on.
func (e *engines) newJobs(appends *producer.Producer, metrics prometheus.Registerer) (*tracking.Jobs, error) {
	platforms, err := e.platforms()
	if err != nil {
		return nil, err
	}
	return tracking.NewJobs(tracking.Parts{
		DB: e.db, Platforms: platforms, Append: appends.AppendAll, Room: appends.AwaitRoom,
		Landed: lookup(e.warehouse, clickhouse.LandedAnswers), Dead: lookup(e.warehouse, clickhouse.DeadAnswers),
		Now: time.Now,
	}, metrics, e.log)
}

// mountTracking adds the routes.
func (s *service) mountTracking(ctx context.Context, tracks *trackingapi.Server) error {
	if s.server == nil {
		cfg := httpd.DefaultConfig()
		cfg.Name = "ingest"
		s.public(cfg)
		if _, _, err := s.identity(ctx); err != nil {
			return err
		}
		if s.tokens != nil {
			s.tokens.Mount(s.server)
		}
	}
	s.gate()
	require := s.resolver().Require(apikey.TrackingWrite)
	if s.tokens != nil {
		require = s.tokens.RequireTokenOrKey(s.keys, apikey.TrackingWrite)
	}
	if err := s.mountProviders(); err != nil {
		return err
	}
	starts, estimates := httpd.NewCallerLimit(s.tracks.StartLimit, time.Now), httpd.NewCallerLimit(s.tracks.StartLimit, time.Now)
	tracks.Mount(s.server, "/api/tracking", require, starts.Handle, estimates.Handle)
	if s.dashboard != nil {
		tracks.Mount(s.server, identity.DashboardPrefix+"/tracking", s.dashboard.RequireDashboard, starts.Handle, estimates.Handle)
	}
	secret := s.settings.CronSecret.Reveal()
	if secret == "" {
		s.log.Info("/cron is not served", "reason", "CRON_SECRET is empty")
		return nil
	}
	tracks.MountCron(s.server, secret)
	if s.command != "ingest" {
		trackingapi.MountWebCron(s.server, secret, tracks.StartDue)
	}
	return nil
}

// mountProviders adds the routes of platforms and their keys, for users: an API key does not reach them.
func (s *service) mountProviders() error {
	platforms, err := s.platforms()
	if err != nil || s.tokens == nil {
		return err
	}
	trackingapi.MountPlatforms(s.server.App.Group("/api/providers"), platforms, s.tokens.RequireToken)
	if s.dashboard != nil {
		trackingapi.MountPlatforms(s.server.App.Group(identity.DashboardPrefix+"/providers"), platforms, s.dashboard.RequireDashboard)
	}
	return nil
}

// platforms are the AI platforms as organizations have them.
func (e *engines) platforms() (*tracking.Platforms, error) {
	ring, err := e.ring()
	if err != nil {
		return nil, usageError{err}
	}
	return tracking.NewPlatforms(e.settings.Outside, e.db, ring), nil
}

// forwardTracking adds what the tracking server at an address answers: the web side's route of the schedule, and the
// dashboard's of jobs and platforms, which say what is missing where there is no address.
func (s *service) forwardTracking(to forwardFlags) error {
	address := strings.TrimSuffix(to.TrackingURL, "/")
	if s.dashboard != nil {
		trackingapi.MountForward(s.server, identity.DashboardPrefix, address, s.dashboard.DashboardToken)
	}
	secret := s.settings.CronSecret.Reveal()
	if address == "" || secret == "" {
		s.log.Info("/api/cron is not served", "reason", "CRON_SECRET or --tracking-url is empty")
		return nil
	}
	trackingapi.MountWebCron(s.server, secret, trackingapi.Forward(secret, address))
	return nil
}
