package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// tracked is how a platform is asked: how many requests it lets be in flight and how long each takes, which makes a
// thousand a second; and for how long that is measured, after a time that does not count.
var tracked = struct {
	inFlight         int
	takes            time.Duration
	prompts, samples int // of the job, enough for the time
	warm, time       time.Duration
}{2000, 2 * time.Second, 4500, 10, 10 * time.Second, 30 * time.Second}

// measureTracking measures the requests a second that a worker of tracking jobs sends, of those that a platform's limit lets
// it, and the most memory that is resident of it. The worker is a process of its own; the platform, PostgreSQL's driver
// of the start and the embedded broker are in that of the bench.
func measureTracking(ctx context.Context, o Options, s *stack, r *Result) error {
	platform, err := startPlatform(ctx, s)
	if err != nil {
		return err
	}
	cfg := postgres.DefaultConfig()
	cfg.DSN = s.postgres
	task := asker{Postgres: s.postgres, Brokers: s.connection.Brokers, URL: platform.url, InFlight: tracked.inFlight}
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	brand, err := brandToTrack(ctx, db)
	if err != nil {
		return err
	}
	jobs, _, err := task.jobs(db, s.log)
	if err != nil {
		return err
	}
	if _, err := jobs.Start(ctx, brand, tracking.Request{Platforms: []string{benchPlatform}, Samples: tracked.samples}, tracking.Caller{}); err != nil {
		return err
	}
	o.Progress("  a job of %d runs", tracked.prompts*tracked.samples)
	cmd, err := partOf(ctx, "tracking", task)
	if err != nil {
		return err
	}
	worker, _, err := s.startReady(ctx, cmd)
	if err != nil {
		return err
	}
	ctx, done := worker.whileRunning(ctx)
	defer done()
	if err := lifecycle.Pause(ctx, tracked.warm); err != nil {
		return err
	}
	began, before := time.Now(), platform.answered.Load()
	if err := lifecycle.Pause(ctx, tracked.time); err != nil {
		return err
	}
	r.Figures["runs_per_s"] = float64(platform.answered.Load()-before) / time.Since(began).Seconds()
	r.Figures["in_flight"] = float64(platform.inFlight.Load())
	r.Figures["rss_bytes"] = float64(worker.memory())
	r.Ceilings["allowed_per_s"] = float64(tracked.inFlight) / tracked.takes.Seconds()
	r.Ratios["allowed_rate"] = r.Figures["runs_per_s"] / r.Ceilings["allowed_per_s"]
	return nil
}

// brandToTrack adds a brand with the prompts of the job.
func brandToTrack(ctx context.Context, db *postgres.DB) (brand postgres.Brand, err error) {
	organization, err := db.AddOrganization(ctx, "Bench", "bench")
	if err != nil {
		return brand, err
	}
	if brand, _, err = db.AddBrand(ctx, organization.ID, postgres.NewBrand{Name: "Lumen", Domains: []string{"lumen.example"}}); err != nil {
		return brand, err
	}
	wanted := make([]postgres.NewPrompt, tracked.prompts)
	for i := range wanted {
		wanted[i].Text = fmt.Sprintf("Which lamp is the best for room number %d of a small hotel?", i)
	}
	_, err = db.EnsurePrompts(ctx, brand.ID, wanted)
	return brand, err
}

// slowPlatform answers each request after a while.
type slowPlatform struct {
	url                string
	inFlight, answered atomic.Int64
}

func startPlatform(ctx context.Context, s *stack) (*slowPlatform, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the platform: %w", err)
	}
	p := &slowPlatform{url: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	s.onClose(func(context.Context) error { return server.Close() })
	go func() { _ = server.Serve(listener) }() // until it is closed
	return p, nil
}

// answerText is as long as answers mostly are.
var answerText = strings.Repeat("Lumen and Glow are named often, and for rooms like this one Lumen has the better lamp. ", 25)

func (p *slowPlatform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.inFlight.Add(1)
	defer p.inFlight.Add(-1)
	_, err := io.Copy(io.Discard, r.Body)
	if err = errors.Join(err, lifecycle.Pause(r.Context(), tracked.takes)); err != nil {
		return
	}
	if json.NewEncoder(w).Encode(map[string]string{"text": answerText}) == nil {
		p.answered.Add(1)
	}
}
