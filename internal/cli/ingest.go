package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	trackingapi "github.com/answerscope/answerscope/ingest/tracking/api"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// ingestCmd is the command ingest.
type ingestCmd struct {
	Listen        string `default:"127.0.0.1:8082" placeholder:"ADDR" help:"{ingest_listen}"`
	adminFlags    `embed:""`
	trackingFlags `embed:""`
}

func (c *ingestCmd) Run(ctx context.Context, p *process) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // two thousand connections and their answers: a third less memory for little work
	}
	return p.serve(ctx, errors.Join(c.adminFlags.validate(c.Listen), c.trackingFlags.validate()), service.Spec{
		Needs: service.Everything, Listeners: c.listeners(c.Listen),
		Build: func(ctx context.Context, s *service.Service) error {
			appends, err := addProducer(s, producer.Spool{})
			if err != nil {
				return err
			}
			cfg := httpd.DefaultConfig()
			cfg.Name = "ingest"
			server, serving := s.NewServer(cfg)
			gate, err := queryapi.NewGate(ctx, queryDeps(s, listenFlags{}, nil))
			if err != nil {
				return err
			}
			s.Add(gate.Parts()...)
			if gate.Tokens != nil {
				gate.Tokens.Mount(server)
			}
			s.RequireDatabases(server)
			if err := c.addTracking(s, appends, gate, server, false); err != nil {
				return err
			}
			s.Add(serving) // stops first, so that no request starts a job of workers that have stopped
			return nil
		},
	})
}

// trackingRate is how many requests a second a caller has at /api/tracking, as with the other surfaces.
const trackingRate = 100

// trackingFlags are the flags of every command that starts tracking jobs.
type trackingFlags struct {
	StartLimit  int    `default:"2" placeholder:"N" help:"{tracking_start_limit}"`
	Canary      string `default:"off" placeholder:"on" help:"{tracking_canary}"`
	CallbackURL string `name:"callback-url" placeholder:"URL" help:"{tracking_callback_url}"`

	DefaultPlatforms []string `default:"with-key" placeholder:"NAME,…" help:"{tracking_default_platforms}"`
}

func (f *trackingFlags) validate() (err error) {
	if f.StartLimit < 0 {
		err = fmt.Errorf("ANSWERSCOPE_START_LIMIT is %d: want 0 or more", f.StartLimit)
	}
	if f.Canary != "on" && f.Canary != "off" {
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_CANARY is %q: want on or off", f.Canary))
	}
	if wrong := tracking.CheckDefaultPlatforms(f.DefaultPlatforms); wrong != nil {
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_DEFAULT_PLATFORMS: %w", wrong))
	}
	origin, wrong := url.Parse(f.CallbackURL)
	if f.CallbackURL != "" &&
		(wrong != nil || !config.IsSecure(f.CallbackURL) || origin.Scheme+"://"+origin.Host != f.CallbackURL) {
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_CALLBACK_URL is %.200q: want the address at which capture "+
			"providers reach this server, such as https://tracking.example, without a path", f.CallbackURL))
	}
	return err
}

// callbacks are the addresses that capture providers call; nil: none.
func (f *trackingFlags) callbacks(settings config.Settings) (*tracking.Callbacks, error) {
	if f.CallbackURL == "" {
		return nil, nil //nolint:nilnil // there are none
	}
	ring, err := settings.SecretRing()
	if err != nil || !ring.IsSet() {
		return nil, usageError{errors.Join(err, errors.New("ANSWERSCOPE_CALLBACK_URL wants ANSWERSCOPE_SECRET_KEYS, "+
			"which protects its addresses"))}
	}
	secret := settings.Outside.Platform("cloro").WebhookSecret.Reveal()
	return &tracking.Callbacks{BaseURL: f.CallbackURL, Ring: ring, WebhookSecret: secret}, nil
}

// addTracking adds the workers of tracking jobs, the schedule and their routes; withWeb adds the routes of the
// dashboard and the web side. The schedule has a leader of its own, so that the pipeline's process and this one may
// differ.
func (f *trackingFlags) addTracking(
	s *service.Service, appends *producer.Producer, gate *queryapi.Gate, server *httpd.Server, withWeb bool,
) error {
	platforms, err := newPlatforms(s.Settings, s.DB)
	if err != nil {
		return err
	}
	callbacks, err := f.callbacks(s.Settings)
	if err != nil {
		return err
	}
	jobs, err := addJobs(s, appends, callbacks)
	if err != nil {
		return err
	}
	jobs.DefaultPlatforms = f.DefaultPlatforms
	schedule := tracking.NewSchedule(s.DB, jobs, time.Now, s.Metrics, s.Log)
	leader := s.DB.NewLeader("schedule")
	table := timetable.New(leader, s.DB.TaskHistory(), s.Tasks, s.Log)
	table.Every("schedule", timetable.Interval(tracking.ScheduleInterval), schedule.Tick)
	table.Every("prune tracking", timetable.Daily(3, 50), schedule.Prune)
	table.OnFollow(schedule.ForgetStalled)
	canary := s.DB.StopPanel
	if f.Canary == "on" {
		canary = schedule.AskCanary
	}
	table.Every("canary panel", timetable.Interval(tracking.ScheduleInterval), canary)
	s.Add(
		lifecycle.Closing("leader of the schedule", s.Log, leader.Close),
		lifecycle.Part{Name: "schedule", After: allStores, Run: table.Run},
	)

	api := trackingapi.New(s.DB, jobs, schedule, time.Now)
	authenticate := gate.Keys.Require(auth.TrackingWrite)
	if gate.Tokens != nil {
		authenticate = gate.Tokens.RequireTokenOrKey(gate.Keys, auth.TrackingWrite)
		// An API key does not reach the keys of platforms.
		trackingapi.MountPlatforms(server.App.Group("/api/providers"), platforms, gate.Tokens.RequireToken)
	}
	starts, estimates := httpd.NewCallerLimit(f.StartLimit, time.Now), httpd.NewCallerLimit(f.StartLimit, time.Now)
	requests := httpd.NewCallerLimit(trackingRate, time.Now)
	api.Mount(server, "/api/tracking", authenticate, requests.Handle, starts.Handle, estimates.Handle)
	if withWeb && gate.Provider != nil {
		signedIn := gate.Provider.RequireDashboard
		trackingapi.MountPlatforms(server.App.Group(auth.DashboardPrefix+"/providers"), platforms, signedIn)
		api.Mount(server, auth.DashboardPrefix+"/tracking", signedIn, requests.Handle, starts.Handle, estimates.Handle)
	}
	if callbacks != nil {
		api.MountCallbacks(server, callbacks)
	}
	secret := s.Settings.CronSecret.Reveal()
	if secret == "" {
		s.Log.Info("/cron refuses all", "reason", "CRON_SECRET is empty")
	}
	api.MountCron(server, secret)
	if withWeb {
		trackingapi.MountWebCron(server, secret, api.StartDue)
	}
	return nil
}

var allStores = []lifecycle.Store{lifecycle.Postgres, lifecycle.ClickHouse, lifecycle.Kafka}

// addJobs adds the workers of tracking jobs.
func addJobs(
	s *service.Service, appends *producer.Producer, callbacks *tracking.Callbacks,
) (*tracking.Jobs, error) {
	jobs, err := newJobs(s.Engines, appends, s.Metrics)
	if err == nil {
		jobs.Callbacks = callbacks
		s.Add(lifecycle.Part{Name: "tracking jobs", After: allStores, Run: jobs.Run})
	}
	return jobs, err
}

// newJobs makes tracking jobs that append with a producer; without one they can be started, and not worked on.
func newJobs(e *service.Engines, appends *producer.Producer, metrics prometheus.Registerer) (*tracking.Jobs, error) {
	platforms, err := newPlatforms(e.Settings, e.DB)
	if err != nil {
		return nil, err
	}
	return tracking.NewJobs(tracking.Parts{
		DB: e.DB, ListPlatforms: platforms.List, Append: appends.AppendAll, Room: appends.AwaitRoom,
		Landed: lookup(e.Warehouse, clickhouse.LandedAnswers), Dead: lookup(e.Warehouse, clickhouse.DeadAnswers),
		Now: time.Now,
	}, metrics, e.Log)
}

// newPlatforms returns the AI platforms as organizations have them.
func newPlatforms(settings config.Settings, db *postgres.DB) (*tracking.Platforms, error) {
	ring, err := settings.SecretRing()
	if err != nil {
		return nil, usageError{err}
	}
	platforms := tracking.NewPlatforms(settings.Outside, db, ring)
	if err := platforms.Validate(); err != nil {
		return nil, usageError{err}
	}
	return platforms, nil
}
