// Package tracking runs tracking jobs: it asks AI platforms a brand's prompts and appends the answers to the log.
//
// A job has one run for each prompt, platform, model, region and sample. A request or a schedule starts it (start.go,
// schedule.go); River queues it, and a worker of one process drives all of its runs (work.go); PostgreSQL has the state
// of each. A run goes through five steps, each a named fault point:
//
//  1. claimed: a worker has claimed the job, which voids what another worker writes for it later.
//  2. asked: the run's state is asking, which is committed before the request is sent.
//  3. answered: the answer's record is stored with the state, in one transaction.
//  4. appended: the log has the record.
//  5. marked: the stored record is cleared, and the run is done.
//
// A crash after 3 repeats step 4, which is harmless, since the record has one id. A crash between 2 and 3 leaves a
// request of unknown outcome: it is sent again, and counted as a repeat. While PostgreSQL is away the worker goes on:
// no other process can claim its job.
package tracking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	queueName = "tracking"
	maxJobs   = 1000 // of a process at once: a waiting one costs next to nothing

	heartbeatInterval = 2 * time.Second
	heartbeatTimeout  = 15 * time.Second // without a heartbeat a job is given to another worker
	drainTimeout      = 10 * time.Second // for requests in flight to end when the process stops
	jobRetryDelay     = 5 * time.Second  // after a worker failed
)

// Parts are the dependencies of Jobs.
type Parts struct {
	DB *postgres.DB

	// ListPlatforms returns the platforms of an organization, of uuid.Nil with the environment's keys alone.
	ListPlatforms func(ctx context.Context, organization uuid.UUID) ([]Platform, error)
	// Append appends records to a topic, and waits for room on the disk.
	Append func(ctx context.Context, topic string, records []producer.Record) (int, error)
	// Landed returns which answers are in the warehouse.
	Landed answer.Lookup
	// Dead returns which answers are dead letters, and will not land.
	Dead answer.Lookup
	// Room waits until the disk has room for answers.
	Room func(ctx context.Context) error
	// DefaultPlatforms are asked daily for a brand that has none of its own, as far as they have a key: names, and
	// WithKey.
	DefaultPlatforms []string
	// Callbacks are the addresses that capture providers call; nil: none.
	Callbacks *Callbacks

	Now func() time.Time
}

// Jobs starts tracking jobs and, while Run runs, works on them. It is safe for concurrent use.
type Jobs struct {
	Parts
	log     *slog.Logger
	metrics *metrics
	queue   *river.Client[postgres.Tx]
	limits  *rateLimits
	awaited sync.Map // run id → *runQueue, of runs whose provider has accepted a job

	heartbeatInterval, heartbeatTimeout time.Duration // the constants, but in tests

	stopping context.Context // ends when no more requests may be sent
	stop     context.CancelFunc
}

// NewJobs returns jobs that can be started, and are not worked on before Run.
func NewJobs(parts Parts, registerer prometheus.Registerer, log *slog.Logger) (*Jobs, error) {
	j := &Jobs{
		Parts: parts, log: log, metrics: newMetrics(registerer), limits: newRateLimits(parts.DB, log),
		heartbeatInterval: heartbeatInterval, heartbeatTimeout: heartbeatTimeout,
	}
	j.stopping, j.stop = context.WithCancel(context.Background())
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{jobs: j})
	var err error
	j.queue, err = river.NewClient(riverpgxv5.New(parts.DB.Pool), &river.Config{
		Schema: postgres.QueueSchema, Workers: workers,
		Queues:     map[string]river.QueueConfig{queueName: {MaxWorkers: maxJobs}},
		JobTimeout: -1, // heartbeats instead
		// River's own rescue is for a job without a heartbeat while none of our processes runs resumeSilentJobs.
		RescueStuckJobsAfter: time.Hour,
		RetryPolicy:          fixedDelay{},
		ReindexerIndexNames:  []string{}, // it would need a right that our role has not, and the tables stay small
		Logger:               slog.New(warningsOnly{log.Handler()}),
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue of tracking jobs: %w", err)
	}
	return j, nil
}

// Run works on jobs until ctx ends. Then it sends no more requests, gives those in flight some seconds to end, and
// leaves the jobs to other processes.
func (j *Jobs) Run(ctx context.Context) error {
	working, cancel := lifecycle.Finishing(ctx, 2*drainTimeout)
	defer cancel()
	if err := j.queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the queue of tracking jobs: %w", err)
	}
	leasing, stopLeasing := context.WithCancel(context.WithoutCancel(ctx))
	leasesReleased := make(chan struct{})
	go func() { defer close(leasesReleased); j.limits.run(leasing) }()
	j.resumeSilentJobs(ctx)
	j.stop()
	err := j.queue.Stop(working)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		forced, done := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer done()
		err = j.queue.StopAndCancel(forced)
	}
	stopLeasing()
	<-leasesReleased
	if err != nil {
		return fmt.Errorf("stop the queue of tracking jobs: %w", err)
	}
	return nil
}

// resumeSilentJobs queues jobs of silent workers again until ctx ends, and announces this process as a worker. It waits
// until PostgreSQL has answered for as long as a worker may be silent: before, all workers may have been cut off from
// it, with their requests in flight.
func (j *Jobs) resumeSilentJobs(ctx context.Context) {
	var lastAnswer, answersSince time.Time
	for ; ctx.Err() == nil; _ = lifecycle.Pause(ctx, j.heartbeatInterval) {
		if time.Since(lastAnswer) > j.heartbeatTimeout/3 {
			answersSince = time.Now() // PostgreSQL was away, or this process was paused
		}
		resumed, err := j.announceAndResume(ctx, time.Since(answersSince) > j.heartbeatTimeout)
		switch {
		case err == nil:
			lastAnswer = time.Now()
		case !errors.Is(err, context.Canceled):
			j.log.Warn("silent tracking jobs are not looked for", "cause", err, "next", "check that postgres answers")
		}
		if resumed > 0 {
			j.log.Info("tracking jobs of a silent worker are queued again", "jobs", resumed)
		}
	}
}

// announceAndResume announces this worker with the platforms and capture providers that its environment has a key of.
func (j *Jobs) announceAndResume(ctx context.Context, resume bool) (resumed int64, err error) {
	ctx, done := context.WithTimeout(ctx, j.heartbeatTimeout/3)
	defer done()
	platforms, err := j.ListPlatforms(ctx, uuid.Nil)
	if err != nil {
		return 0, err
	}
	var withKey []string
	for _, p := range platforms {
		if p.NeedsKey && p.Unavailable == "" {
			withKey = append(withKey, p.Slug)
			for _, provider := range p.Providers {
				withKey = append(withKey, provider.Slug)
			}
		}
	}
	if err := j.DB.RegisterWorker(ctx, j.limits.holder, withKey, j.heartbeatTimeout); err != nil || !resume {
		return 0, err
	}
	return j.DB.ResumeTracking(ctx, j.heartbeatTimeout)
}

// jobArgs is the payload of a job in River's table.
type jobArgs struct {
	JobID uuid.UUID `json:"job_id"`
}

// Kind must match resume_tracking_jobs.sql.
func (jobArgs) Kind() string { return "tracking" }

type riverWorker struct {
	river.WorkerDefaults[jobArgs]
	jobs *Jobs
}

func (w *riverWorker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	err := w.jobs.work(ctx, job.ID, job.Args.JobID)
	if errors.Is(err, errStopping) {
		return river.JobSnooze(0) //nolint:wrapcheck // River recognizes it
	}
	return err
}

type fixedDelay struct{}

func (fixedDelay) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(jobRetryDelay) }

// warningsOnly drops River's lines about each start of its services.
type warningsOnly struct{ slog.Handler }

func (l warningsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}
