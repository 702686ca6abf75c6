package service

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A Spec is what a serving command runs.
type Spec struct {
	Needs     Needs
	Exclusive bool // own the embedded engines, and bring schemas up
	Tolerant  bool // take traffic while engines are away, and do not check schemas of given ones
	FailFast  bool // end when an engine is away at the start
	Listeners Listeners
	Spool     string // directory whose disk needs room; "" when nothing is taken in

	// Build adds the parts of the process to a service whose engines run.
	Build func(ctx context.Context, s *Service) error
	// Ready is called once everything is ready, with the address of the public listener.
	Ready func(ctx context.Context, url string) error
}

// A Service is what the parts of one server share.
type Service struct {
	*Engines

	Metrics *prometheus.Registry
	Tasks   *timetable.Metrics
	Traces  trace.TracerProvider // nil when nothing is traced
	Checks  *httpd.Readiness

	listener net.Listener // of the public surfaces
	stores   *stores
	parts    []lifecycle.Part
}

// Run runs a spec until ctx ends or one of its parts does. Its addresses are taken before anything is started; the
// admin listener runs from first to last, so that /readyz shows the progress of the start.
func Run(ctx context.Context, p *Process, spec Spec, metrics ...prometheus.Collector) error {
	// The service is ready only once it is built.
	s := &Service{Engines: &Engines{Process: p}, Metrics: prometheus.NewRegistry(),
		Checks: httpd.NewReadiness("service")}
	s.Tasks = timetable.NewMetrics(s.Metrics)
	s.Metrics.MustRegister(append(metrics, s.Checks, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	var err error
	if s.listener, err = listen(ctx, spec.Listeners.Public, "--listen"); err != nil {
		return err
	}
	defer s.listener.Close() // for the ways out before a server owns it
	p.Log.Info("public listener", "address", s.URL())
	operator, err := spec.Listeners.admin(ctx, p.Log)
	if err != nil {
		return err
	}
	traces, err := spec.Listeners.traces(p)
	if err != nil {
		return err
	}
	s.Traces = traces.Provider()
	admin := httpd.NewAdmin(operator, s.Checks, s.Metrics, p.Log)
	p.Log.Info("admin listener", "address", admin.URL())
	return lifecycle.All(ctx, p.Log,
		lifecycle.Part{Name: "traces", Run: traces.Run},
		lifecycle.Part{Name: "admin", Run: admin.Run},
		lifecycle.Part{Name: p.Command, Run: func(ctx context.Context) error { return s.run(ctx, spec) }},
	)
}

// run opens the engines, brings their schemas up, runs the parts, and closes everything in reverse.
func (s *Service) run(ctx context.Context, spec Spec) (err error) {
	if s.Engines, err = s.Open(ctx, spec.Needs, spec.Exclusive, s.URL()); err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	s.watchDisk(spec)
	s.stores = newStores(spec.Needs)
	s.Checks.Provide("schema", s.stores.ready)
	if err := s.bringUp(ctx, spec, true); err != nil {
		return unlessStopped(ctx, err)
	}
	if err := s.openClientsLater(ctx, spec); err != nil {
		return unlessStopped(ctx, err)
	}
	if err := spec.Build(ctx, s); err != nil {
		return unlessStopped(ctx, err)
	}
	s.Checks.Provide("service", func(context.Context) error { return nil })
	parts := append([]lifecycle.Part{
		{Name: "engines", Run: s.watchEngines},
		{Name: "stores", Run: func(ctx context.Context) error { return s.bringUp(ctx, spec, false) }},
	}, s.parts...)
	parts = append(parts, lifecycle.Part{Name: "ready",
		Run: func(ctx context.Context) error { return s.announce(ctx, spec) }})
	return lifecycle.All(ctx, s.Log, parts...)
}

// watchDisk has a service that takes something in check that the disks of its engines and its spool have room.
func (s *Service) watchDisk(spec Spec) {
	if spec.Spool != "" {
		s.Room = disk.New(s.Settings.MinFree, s.Settings.DataDir, spec.Spool)
	}
	if s.Room == nil || !spec.Needs.Kafka {
		return
	}
	s.Room.Register(s.Metrics)
	s.Add(lifecycle.Part{
		Name: "disk", Run: func(ctx context.Context) error { return s.Room.Watch(ctx, s.Log) },
		Ready: func(context.Context) error { return s.Room.Err() },
	})
}

// openClientsLater makes the clients of the engines, which may be away.
func (s *Service) openClientsLater(ctx context.Context, spec Spec) (err error) {
	check := s.Checks.Provide
	if spec.Tolerant {
		check = s.Checks.Note
	}
	if spec.Needs.Postgres {
		if s.DB, err = postgres.OpenLater(ctx, s.Postgres); err != nil {
			return err
		}
		check("postgres", s.DB.Reach)
	}
	if spec.Needs.ClickHouse {
		if s.Warehouse, err = clickhouse.OpenLater(s.ClickHouse); err != nil {
			return err
		}
		check("clickhouse", s.Warehouse.Ping)
	}
	if spec.Needs.Kafka {
		check("kafka", s.Kafka.Reach)
	}
	return nil
}

// watchEngines ends when an engine does.
func (s *Service) watchEngines(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.lost():
		return s.Running.Err()
	}
}

// announce calls what the spec has for the moment when everything is ready.
func (s *Service) announce(ctx context.Context, spec Spec) error {
	err := s.Checks.Wait(ctx)
	if err == nil {
		err = spec.Ready(ctx, s.URL())
	}
	if err != nil {
		return unlessStopped(ctx, err)
	}
	s.Log.Info("ready", "command", s.Command)
	<-ctx.Done()
	return nil
}

// Add adds parts, each of which begins once its stores are up, and stops before the parts that were added earlier.
func (s *Service) Add(parts ...lifecycle.Part) {
	for _, part := range parts {
		if part.Ready != nil {
			s.Checks.Provide(part.Name, part.Ready)
		}
		s.parts = append(s.parts, lifecycle.Part{Name: part.Name, Run: func(ctx context.Context) error {
			if s.stores.await(ctx, part.After) != nil {
				return nil //nolint:nilerr // stopped before they were up
			}
			return part.Run(ctx)
		}})
	}
}

// URL is the address of the public surfaces.
func (s *Service) URL() string { return "http://" + s.listener.Addr().String() }

// NewServer makes the public server, for surfaces to add their routes to, and its part, which is not added yet.
func (s *Service) NewServer(cfg httpd.Config) (*httpd.Server, lifecycle.Part) {
	cfg.Traces = s.Traces
	server := httpd.New(cfg, s.listener, s.Log, s.Metrics)
	return server, lifecycle.Part{Name: cfg.Name, Run: server.Run, Ready: server.Ready}
}

// Serve makes the public server and adds its part.
func (s *Service) Serve(cfg httpd.Config) *httpd.Server {
	server, part := s.NewServer(cfg)
	s.Add(part)
	return server
}

// RequireDatabases has the routes that are added to a server from here on answer 503 until both databases are up.
func (s *Service) RequireDatabases(server *httpd.Server) {
	server.Precondition(func() error {
		if s.stores.up(lifecycle.Postgres, lifecycle.ClickHouse) {
			return nil
		}
		return problem.New(problem.Unavailable,
			"the databases of this service are away or being set up; ask again in a moment")
	})
}

// unlessStopped drops the error of a start that was interrupted on purpose.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
