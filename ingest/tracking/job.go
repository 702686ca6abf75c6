// Package tracking runs tracking jobs: it asks AI platforms a brand's prompts and appends what they answer to the log.
//
// A job has one run for each prompt, platform, model, region and sample. River queues jobs, a worker of one process
// drives all runs of a job (work.go), and PostgreSQL keeps what became of each. The way of a run, a fault point a step:
//
//  1. claimed: the worker has taken the job up. What it writes is void once another worker does so.
//  2. asked: the run's state is asking, which is committed before the request is sent.
//  3. answered: the answer's record is stored with the state, in one transaction.
//  4. appended: the log has the record.
//  5. marked: it is stored no more, and the run is done.
//
// A crash after 3 repeats step 4, which is harmless, since the record has one id. A crash between 2 and 3 leaves a
// request of unknown outcome: it is sent again, and counted as a repeat. While PostgreSQL is away the worker goes on:
// nobody else can take its job.
package tracking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	queueName = "tracking"
	maxJobs   = 1000 // that a process drives at once: a waiting one costs next to nothing

	beatInterval     = 2 * time.Second  // between two heartbeats of a worker
	heartbeatTimeout = 15 * time.Second // without one, its job is given to another worker
	finishing        = 10 * time.Second // for requests in flight to end when the process stops
	retryJob         = 5 * time.Second  // after a worker failed
)

// PlatformSource lists and opens the platforms that an organization can ask: *Platforms, but for tests and benches.
type PlatformSource interface {
	List(ctx context.Context, organization uuid.UUID) ([]Platform, error)
	Open(ctx context.Context, organization uuid.UUID, slug string, cast simulator.Cast) (platform.Platform, error)
}

// Parts are what jobs work with.
type Parts struct {
	DB        *postgres.DB
	Platforms PlatformSource

	// Append appends records to a topic, and waits for room on the disk.
	Append func(ctx context.Context, topic string, records []producer.Record) (int, error)
	// Landed says which answers are in the warehouse.
	Landed answer.Lookup
	// Dead says which answers are dead letters, and never land.
	Dead answer.Lookup
	// Room waits until the disk has room: nothing is asked that could not be stored.
	Room func(ctx context.Context) error

	Now func() time.Time
}

// Jobs starts tracking jobs and, while it runs, works on them. It is safe for concurrent use.
type Jobs struct {
	Parts
	log     *slog.Logger
	metrics *metrics
	queue   *river.Client[postgres.Tx]
	gates   *gates

	beatInterval, silence time.Duration // heartbeatTimeout, but in tests

	stopping context.Context // ends when nothing more is to be asked
	stop     context.CancelFunc
}

// NewJobs makes jobs that are not worked on yet.
func NewJobs(parts Parts, registerer prometheus.Registerer, log *slog.Logger) (*Jobs, error) {
	j := &Jobs{Parts: parts, log: log, metrics: newMetrics(registerer), gates: newGates(parts.DB, log), beatInterval: beatInterval, silence: heartbeatTimeout}
	j.stopping, j.stop = context.WithCancel(context.Background())
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{jobs: j})
	var err error
	j.queue, err = river.NewClient(riverpgxv5.New(parts.DB.Pool), &river.Config{
		Schema: postgres.QueueSchema, Queues: map[string]river.QueueConfig{queueName: {MaxWorkers: maxJobs}}, Workers: workers,
		JobTimeout: -1, // a worker gives signs of life instead
		// Workers that end without a word are found by Resume, which is quicker; River's own rescue is for a job that none
		// of our processes has beaten for.
		RescueStuckJobsAfter: time.Hour,
		RetryPolicy:          retryPolicy{},
		ReindexerIndexNames:  []string{}, // it would need a right that our role has not, and the tables stay small
		Logger:               slog.New(riverLog{log.Handler()}),
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue of tracking jobs: %w", err)
	}
	return j, nil
}

// Run works on jobs until ctx ends. Then it asks nothing more, gives requests in flight some seconds to end, and hands
// the jobs to other processes.
func (j *Jobs) Run(ctx context.Context) error {
	working, cancel := lifecycle.Finishing(ctx, 2*finishing)
	defer cancel()
	if err := j.queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the queue of tracking jobs: %w", err)
	}
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() { defer close(renewed); j.gates.run(renewing) }()
	var last, since time.Time // PostgreSQL answered, each time since
	for ; ctx.Err() == nil; _ = lifecycle.Pause(ctx, j.beatInterval) {
		if time.Since(last) > j.silence/3 {
			since = time.Now() // PostgreSQL was away, or this process was paused
		}
		if j.resume(ctx, time.Since(since) > j.silence) {
			last = time.Now()
		}
	}
	j.stop()
	err := j.queue.Stop(working)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		forced, done := context.WithTimeout(context.WithoutCancel(ctx), finishing)
		defer done()
		err = j.queue.StopAndCancel(forced)
	}
	stopRenewing()
	<-renewed
	if err != nil {
		return fmt.Errorf("stop the queue of tracking jobs: %w", err)
	}
	return nil
}

// resume announces this process as a worker and, if it may, has jobs taken up again whose worker is silent. It may once
// PostgreSQL has answered for as long as a worker may be silent: before, it was away for all workers, and their requests
// are in flight. It reports whether PostgreSQL answered.
func (j *Jobs) resume(ctx context.Context, may bool) bool {
	ctx, done := context.WithTimeout(ctx, j.silence/3)
	defer done()
	err := j.announce(ctx)
	var resumed int64
	if err == nil && may {
		resumed, err = j.DB.ResumeTracking(ctx, j.silence)
	}
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		j.log.Warn("interrupted tracking jobs are not looked for", "cause", err, "next", "check that postgres answers")
	case resumed > 0:
		j.log.Info("tracking jobs of a silent worker are taken up again", "jobs", resumed)
	}
	return err == nil
}

// args are what River keeps of a job.
type args struct {
	JobID uuid.UUID `json:"job_id"`
}

// Kind is the name that resume_tracking_jobs.sql knows, too.
func (args) Kind() string { return "tracking" }

// enqueue puts a job on the queue in the transaction that makes it.
func (j *Jobs) enqueue(ctx context.Context) func(tx postgres.Tx, id uuid.UUID) error {
	return func(tx postgres.Tx, id uuid.UUID) error {
		_, err := j.queue.InsertTx(ctx, tx, args{id}, &river.InsertOpts{Queue: queueName, MaxAttempts: math.MaxInt16})
		return err
	}
}

type riverWorker struct {
	river.WorkerDefaults[args]
	jobs *Jobs
}

func (w *riverWorker) Work(ctx context.Context, queued *river.Job[args]) error {
	err := w.jobs.work(ctx, queued.ID, queued.Args.JobID)
	if errors.Is(err, errStopping) {
		return river.JobSnooze(0) //nolint:wrapcheck // River's own sign
	}
	return err
}

type retryPolicy struct{}

func (retryPolicy) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(retryJob) }

// riverLog has River's log say less: it logs each start of a service.
type riverLog struct{ slog.Handler }

func (l riverLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}
