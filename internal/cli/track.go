package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// trackCmd is the command track.
type trackCmd struct {
	Brand     string   `arg:"" help:"Slug of the brand whose prompts are asked."`
	Org       string   `required:"" placeholder:"SLUG" help:"Whose brand."`
	Platforms []string `placeholder:"P" help:"See provider list; by default the brand's, or all APIs with a key."`
	Models    []string `placeholder:"M" help:"Models; by default the prompt's, the brand's or the platform's."`
	Regions   []string `placeholder:"R" help:"{track_regions}"`
	Samples   int      `placeholder:"N" help:"How often each prompt is asked, 1 to 10; by default as the prompt says."`
	JSON      bool     `name:"json" help:"One JSON document."`
}

// trackResult is the result of the command.
type trackResult struct {
	JobID        uuid.UUID       `json:"jobId"`
	Status       string          `json:"status"`
	Result       json.RawMessage `json:"result"`
	FailedReason *string         `json:"failedReason"`
}

func (c *trackCmd) Run(ctx context.Context, p *process) error {
	if c.Samples < 0 || c.Samples > tracking.MaxSamples {
		return usageError{fmt.Errorf("--samples %d: want 1 to %d", c.Samples, tracking.MaxSamples)}
	}
	if i := slices.IndexFunc(c.Regions, func(r string) bool { return !tracking.IsRegion(r) }); i >= 0 {
		return usageError{fmt.Errorf("--regions %q: want countries in lower case, such as de", c.Regions[i])}
	}
	owner, err := engine.Running(p.Settings.DataDir)
	if err != nil {
		return err
	}
	if owner == nil && p.Embedded(service.Everything) != (service.Needs{}) {
		return c.serve(ctx, p)
	}
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	jobs, err := newJobs(on, nil, prometheus.NewRegistry())
	if err != nil {
		return err
	}
	return c.start(ctx, p, on.DB, jobs, "the tracking server goes on with it")
}

// serve starts what a job needs, and stays until it is done.
func (c *trackCmd) serve(ctx context.Context, p *process) error {
	quiet := *p
	quiet.stdout = io.Discard // a service says there where it listens
	if quiet.Settings.LogLevel == config.LevelAuto {
		quiet.Settings.LogLevel = "warn"
	}
	quiet.Log = quiet.logger(slog.LevelInfo)
	ctx, done := context.WithCancel(ctx)
	defer done()
	var db *postgres.DB
	var jobs *tracking.Jobs
	var result error
	err := quiet.serve(ctx, nil, service.Spec{
		Needs: service.Everything, Exclusive: true, FailFast: true,
		Listeners: service.Listeners{Public: "127.0.0.1:0", Admin: "127.0.0.1:0", TraceRatio: 1},
		// Without the schedule, which would ask for other brands.
		Build: func(_ context.Context, s *service.Service) error {
			appends, err := addProducer(s, producer.Spool{})
			if err != nil {
				return err
			}
			if err := addPipeline(s, appends); err != nil {
				return err
			}
			db = s.DB
			jobs, err = addJobs(s, appends, nil)
			return err
		},
		Ready: func(ctx context.Context, _ string) error {
			defer done()
			result = c.start(ctx, p, db, jobs, "the next `answerscope all` goes on with it")
			return nil
		},
	})
	return errors.Join(result, err)
}

// start starts the job and follows it to its end. An interrupted command prints left: who goes on with the job.
func (c *trackCmd) start(ctx context.Context, p *process, db *postgres.DB, jobs *tracking.Jobs, left string) error {
	_, brand, err := findBrand(ctx, db, c.Org, c.Brand)
	if err != nil {
		return err
	}
	id, err := jobs.Start(ctx, brand, tracking.Request{Platforms: c.Platforms, Models: c.Models, Regions: c.Regions,
		Samples: c.Samples}, tracking.Caller{})
	if err != nil {
		return err
	}
	done, err := follow(ctx, p, db, brand.OrganizationID, id)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("job %s is left running: %s", id, left)
	}
	if err != nil {
		return err
	}
	if err := p.printResult(c.JSON, trackResult{id, done.Status, done.Result, done.FailedReason},
		summary(done)); err != nil {
		return err
	}
	if done.Status != "completed" {
		return fmt.Errorf("job %s %s", id, done.Status)
	}
	return nil
}

// follow shows how far a job is until it has finished.
func follow(
	ctx context.Context, p *process, db *postgres.DB, organization, id uuid.UUID,
) (postgres.TrackingJob, error) {
	var progress *meter
	phase := ""
	for {
		j, err := db.TrackingJob(ctx, organization, id)
		if err != nil {
			return j, err
		}
		if progress == nil {
			p.say("job %s", id)
			progress = p.newMeter("runs that ended", int64(j.Total))
		}
		progress.reach(int64(j.Completed))
		if j.Phase != phase && (j.Phase == "landing" || j.Phase == "done") && phase != "landing" {
			progress.end()
			p.say("waiting until the answers are in the figures")
		}
		phase = j.Phase
		if j.Finished() {
			return j, nil
		}
		if err := lifecycle.Pause(ctx, 300*time.Millisecond); err != nil {
			return j, err
		}
	}
}

// summary is a finished job in a line.
func summary(j postgres.TrackingJob) string {
	var r struct {
		Answered  int
		NotShown  int
		GaveUp    map[string]int
		Cancelled int
		Repeats   int
		Cost      struct {
			Amount   json.Number
			Currency string
		}
	}
	_ = json.Unmarshal(j.Result, &r) // ours
	parts := []string{fmt.Sprintf("%d of %d answered", r.Answered, j.Total)}
	if r.NotShown > 0 {
		parts = append(parts, fmt.Sprintf("of them %d without an overview", r.NotShown))
	}
	for _, class := range slices.Sorted(maps.Keys(r.GaveUp)) {
		parts = append(parts, fmt.Sprintf("%d given up: %s", r.GaveUp[class], class))
	}
	if r.Cancelled > 0 {
		parts = append(parts, fmt.Sprintf("%d cancelled", r.Cancelled))
	}
	return fmt.Sprintf("%s: %s; %s %s", j.Status, strings.Join(parts, ", "), r.Cost.Amount, r.Cost.Currency)
}
