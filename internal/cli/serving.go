package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// service is a process that serves: what its parts share.
type service struct {
	*engines

	metrics   *prometheus.Registry
	ready     *httpd.Readiness
	traces    trace.TracerProvider // nil when nothing is traced
	listener  net.Listener         // of the public surfaces
	server    *httpd.Server        // on it, once a part has asked for it
	appends   *producer.Producer   // of pipeline and collector; a part of its own
	takes     *collectorFlags      // how beacons are taken; nil where none are
	answers   apiFlags             // how /api/v1 answers
	proxies   httpd.Proxies        // whose headers are believed
	timetable *timetable.Timetable // of the pipeline; entered before the parts run
	tasks     *timetable.Metrics   // of every timetable
	tokens    *identity.Tokens     // whose users are; nil where nobody can sign in
	dashboard *identity.Provider   // whose users the dashboard is for; nil where it is not served
	keys      *apikey.Resolver
	tracks    *trackingFlags // how jobs are started; nil where none are
	jobs      *tracking.Jobs
	stores    *stores
	gated     bool // the server's routes from here on wait for the stores
	parts     []lifecycle.Part
	leads     []*postgres.Leader // of parts; closed once every part has stopped
}

// assembly adds the parts of a room to a service whose engines run and whose schemas are up.
type assembly func(ctx context.Context, s *service) error

// plan says what a serving command runs.
type plan struct {
	exclusive bool // own the embedded engines
	needs     needs
	unchecked bool     // schemas of given engines are not looked at
	hurried   bool     // ends when an engine is away at the start
	requires  []string // what /readyz waits for
	at        listenFlags
	takes     *collectorFlags // how beacons are taken; nil where none are
	tracks    *trackingFlags  // how tracking jobs are started; nil where none are
	assemble  []assembly
	settled   func(ctx context.Context, s *service) error // once ready, before the ready line; nil for nothing
}

// serve runs a plan until ctx ends or one of its parts does. Its addresses are taken before anything is started; the
// admin listener is there from first to last, so that /readyz shows the progress of the start.
func (p *process) serve(ctx context.Context, plan plan) error {
	if err := errors.Join(p.settings.Validate(), plan.at.validate(), plan.takes.validate(plan.at.proxyFlags), plan.tracks.validate()); err != nil {
		return usageError{err}
	}
	p.log = p.logger(slog.LevelInfo)
	if err := p.checkEngines(plan); err != nil {
		return usageError{err}
	}
	s := &service{engines: &engines{process: p}, takes: plan.takes, tracks: plan.tracks, answers: plan.at.apiFlags, metrics: prometheus.NewRegistry(), ready: httpd.NewReadiness(plan.requires...)}
	s.tasks = timetable.NewMetrics(s.metrics)
	s.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), thisBuild().metric(), s.ready)
	var err error
	if s.proxies, err = plan.at.proxies(); err != nil {
		return usageError{err}
	}
	if s.listener, err = listen(ctx, plan.at.Listen, "--listen"); err != nil {
		return err
	}
	defer s.listener.Close() // for the ways out before a server owns it
	p.log.Info("public listener", "address", s.url())
	operator, err := plan.at.operator(ctx, p)
	if err != nil {
		return err
	}
	traces, err := plan.at.traces(p)
	if err != nil {
		return err
	}
	s.traces = traces.Provider()
	admin := httpd.NewAdmin(operator, s.ready, s.metrics, p.log)
	p.log.Info("admin listener", "address", admin.URL())
	return lifecycle.All(ctx, p.log,
		lifecycle.Part{Name: "traces", Run: traces.Run},
		lifecycle.Part{Name: "admin", Run: admin.Run},
		lifecycle.Part{Name: p.command, Run: func(ctx context.Context) error { return s.run(ctx, plan) }},
	)
}

// checkEngines warns of variables that name no setting. Of a part with some engines given and others not, one of them
// may be the misspelt address of an engine, in whose place an empty one would be started.
func (p *process) checkEngines(plan plan) error {
	for _, unknown := range p.unknown {
		p.log.Warn("a variable has no effect", "cause", unknown, "next", "correct its name, or remove it")
	}
	embedded := p.embedded(plan.needs)
	if plan.exclusive || embedded == (needs{}) || embedded == plan.needs {
		return nil
	}
	if len(p.unknown) > 0 {
		return fmt.Errorf("some engines are given and others are not, and %w", errors.Join(p.unknown...))
	}
	p.log.Warn("some engines are given, and the others are those of the data directory", "directory", p.settings.DataDir,
		"next", "nothing, if that is meant; else give the addresses of all")
	return nil
}

// url is the address of the public surfaces.
func (s *service) url() string { return "http://" + s.listener.Addr().String() }

// run opens the engines, brings their schemas up, runs the parts, and closes everything in reverse.
func (s *service) run(ctx context.Context, plan plan) (err error) {
	e, err := s.open(ctx, plan.needs, plan.exclusive, s.url())
	if err != nil {
		return unlessStopped(ctx, err)
	}
	s.engines = e
	defer func() {
		s.disconnect()
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	s.watchDisk(plan)
	s.stores = newStores(plan.needs)
	s.ready.Provide("schema", s.stores.ready)
	if err := s.bringUp(ctx, plan, true); err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() {
		for _, lead := range s.leads {
			if err := lead.Close(); err != nil {
				s.log.Warn("close lead", "error", err, "next", "nothing: the process ends")
			}
		}
	}()
	for _, assemble := range plan.assemble {
		if err := assemble(ctx, s); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	goOn := func(ctx context.Context) error { return s.bringUp(ctx, plan, false) }
	parts := append([]lifecycle.Part{{Name: "engines", Run: s.watch}, {Name: "stores", Run: goOn}}, s.parts...)
	parts = append(parts, lifecycle.Part{Name: "ready", Run: func(ctx context.Context) error { return s.announce(ctx, plan) }})
	return lifecycle.All(ctx, s.log, parts...)
}

// watchDisk has a service that takes something in see that the disks of its engines and its spool have room.
func (s *service) watchDisk(plan plan) {
	if s.takes != nil {
		s.room = disk.New(s.settings.MinFree, s.settings.DataDir, s.takes.spool(s.settings.DataDir).Dir)
	}
	if s.room == nil || !plan.needs.Kafka {
		return
	}
	s.room.Register(s.metrics)
	s.ready.Provide("disk", func(context.Context) error { return s.room.Err() })
	s.part("disk", needs{}, func(ctx context.Context) error { return s.room.Watch(ctx, s.log) })
}

// watch ends when an engine does.
func (s *service) watch(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.lost():
		return s.running.Err()
	}
}

// announce says on stdout that the service is ready, once it is.
func (s *service) announce(ctx context.Context, plan plan) error {
	if err := s.ready.Wait(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	if plan.settled != nil {
		if err := plan.settled(ctx, s); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	if err := s.print("ready " + s.url()); err != nil {
		return err
	}
	s.log.Info("ready", "command", s.command)
	<-ctx.Done()
	return nil
}

// openStores makes the clients of both stores, which may be away.
func openStores(ctx context.Context, s *service) (err error) {
	if s.db, err = postgres.OpenLater(ctx, s.postgresConfig); err != nil {
		return err
	}
	if s.warehouse, err = clickhouse.OpenLater(s.clickhouseConfig); err != nil {
		return err
	}
	s.ready.Provide("postgres", s.db.Reach)
	s.ready.Provide("clickhouse", s.warehouse.Ping)
	return nil
}

// lead is the lock under which one process of many does a task.
func (s *service) lead(name string) *postgres.Leader {
	lead := s.db.NewLeader(name)
	s.leads = append(s.leads, lead)
	return lead
}

// part adds a part that begins once the stores in after are up, and stops before the parts added earlier.
func (s *service) part(name string, after needs, run func(context.Context) error) {
	s.parts = append(s.parts, lifecycle.Part{Name: name, Run: func(ctx context.Context) error {
		if s.stores.await(ctx, after) != nil {
			return nil //nolint:nilerr // stopped before they were up
		}
		return run(ctx)
	}})
}

// public adds the public listener, for surfaces to add their routes to.
func (s *service) public(cfg httpd.Config) *httpd.Server {
	cfg.Traces = s.traces
	s.server = httpd.New(cfg, s.listener, s.log, s.metrics)
	s.part(cfg.Name, needs{}, s.server.Run)
	s.ready.Provide(cfg.Name, s.server.Ready)
	return s.server
}

// gate has the routes that are added from here on answer 503 until both stores are up.
func (s *service) gate() {
	if s.gated {
		return
	}
	s.gated = true
	s.server.Precondition(func() error {
		if s.stores.up(bothStores) {
			return nil
		}
		return problem.New(problem.Unavailable, "the databases of this service are away or being set up; ask again in a moment")
	})
}

// unlessStopped drops the error of a start that was interrupted on purpose.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
