package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const benchPlatform = "bench"

// asker is the process that works on tracking jobs, and where it finds what it needs.
type asker struct {
	Postgres string   `json:"postgres"`
	Brokers  []string `json:"brokers"`
	URL      string   `json:"url"`
	InFlight int      `json:"in_flight"`
}

// run works on jobs until ctx ends.
func (a asker) run(ctx context.Context, announce func(any) error) error {
	debug.SetGCPercent(50) // as the command ingest does
	cfg := postgres.DefaultConfig()
	cfg.DSN = a.Postgres
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	jobs, appends, err := a.jobs(db, log)
	if err != nil {
		return err
	}
	if err := announce("ready"); err != nil {
		return err
	}
	return lifecycle.All(ctx, log, lifecycle.Part{Name: "producer", Run: appends.Run}, lifecycle.Part{Name: "jobs", Run: jobs.Run})
}

// jobs are those of the bench's platform.
func (a asker) jobs(db *postgres.DB, log *slog.Logger) (*tracking.Jobs, *producer.Producer, error) {
	cfg := producer.DefaultConfig()
	cfg.Brokers = a.Brokers
	appends, err := producer.New(cfg, log, prometheus.NewRegistry())
	if err != nil {
		return nil, nil, err
	}
	jobs, err := tracking.NewJobs(tracking.Parts{
		DB: db, ListPlatforms: a.listPlatforms, Append: appends.AppendAll, Room: appends.AwaitRoom, Now: time.Now,
		Landed: func(context.Context, uuid.UUID, uuid.UUID, []uuid.UUID) (map[uuid.UUID]bool, error) {
			return nil, nil // no job of a bench ends
		},
	}, prometheus.NewRegistry(), log)
	return jobs, appends, err
}

// listPlatforms returns one platform, which answers after a while.
func (a asker) listPlatforms(context.Context, uuid.UUID) ([]tracking.Platform, error) {
	return []tracking.Platform{{
		Description: platform.Description{Slug: benchPlatform, Name: "Bench", Limits: platform.Limits{InFlight: a.InFlight}},
		Connect: func(simulator.Cast) (platform.Platform, error) {
			return asks{a.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: a.InFlight}}}, nil
		},
	}}, nil
}

type asks struct {
	url    string
	client *http.Client
}

func (a asks) Ask(ctx context.Context, q platform.Question) (reply platform.Reply, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return reply, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	response, err := a.client.Do(r)
	if err != nil {
		return reply, &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	defer response.Body.Close()
	var answer struct {
		Text string `json:"text"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return reply, &platform.Error{Class: platform.ChangedShape, Cause: fmt.Errorf("decode answer: %w", err)}
	}
	return platform.Reply{Surface: event.SurfaceAPI, Finish: event.FinishComplete, Text: answer.Text, Usage: &event.Usage{InputTokens: 30, OutputTokens: 500}}, nil
}
