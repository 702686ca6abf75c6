// Package pipeline wires the consumers of the log and the scheduled tasks of the warehouse.
package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/canary"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/pipeline/results"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Deps has the dependencies of the pipeline.
type Deps struct {
	DB        *postgres.DB
	Warehouse *clickhouse.Conn
	Kafka     producer.Connection
	Producer  *producer.Producer // appends rereads
	Prefix    string             // of topics and consumer groups
	Retention config.Retention
	Notify    notify.Config

	Traces  trace.TracerProvider
	Tasks   *timetable.Metrics
	Metrics prometheus.Registerer
	Log     *slog.Logger
}

// The stores that parts wait for.
var (
	databases  = []lifecycle.Store{lifecycle.Postgres, lifecycle.ClickHouse}
	everything = append(databases, lifecycle.Kafka)
)

// Build returns the parts of the pipeline: first the mirror, so that dimensions are there early, then the consumers,
// and last the timetable, whose tasks need the others.
func Build(d Deps) ([]lifecycle.Part, error) {
	leader, purgeLeader := d.DB.NewLeader("timetable"), d.DB.NewLeader("purge")
	table := timetable.New(leader, d.DB.TaskHistory(), d.Tasks, d.Log)
	feed := upkeep.NewMirror(d.DB, d.Warehouse, d.Metrics, d.Log)
	parts := []lifecycle.Part{
		lifecycle.Closing("leaders", d.Log, leader.Close, purgeLeader.Close),
		{Name: "mirror", After: databases, Run: feed.Run, Ready: feed.Ready},
	}

	var errs []error
	for _, topic := range event.Topics {
		part, err := sinks[topic.Name].part(d, topic)
		parts, errs = append(parts, part), append(errs, err)
	}
	resultRows := results.New(extract.Version, d.DB, d.Warehouse, time.Now, d.Metrics, d.Log)
	resultConfig := d.consumerConfig(groupResults, event.TopicAnswers)
	resultConfig.Limits.Records, resultConfig.Limits.Bytes = 1000, 8<<20 // a batch is a transaction
	part, err := consumerPart(d, "results", resultConfig, resultRows)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	parts = append(parts, part)
	table.Every("prune results", timetable.Daily(3, 20), resultRows.Prune)
	table.Every("renew results", timetable.Daily(3, 40), resultRows.Renew)

	rereadConfig := reread.DefaultConfig()
	rereadConfig.Connection = d.Kafka
	rereadConfig.Group, rereadConfig.Topic = d.Prefix+event.Topics[0].Group, d.Prefix+event.TopicAnswers
	rereader, err := reread.New(rereadConfig, d.DB, d.Warehouse, d.Producer, d.Metrics, d.Log)
	if err != nil {
		return nil, err
	}
	table.Every("sweep of rereads", timetable.Hourly(17), rereader.Sweep)

	reconciler, err := NewReconciler(d)
	if err != nil {
		return nil, err
	}
	table.Every("reconcile", timetable.Daily(2, 40), reconciler.Nightly)
	// Rollups may be wrong for about so long after a repeated batch.
	table.Every("reconcile suspect months", timetable.Interval(10*time.Second), reconciler.Suspects)
	// A part that was broken at a start is reported after so long.
	table.Every("broken parts", timetable.Interval(30*time.Second), reconciler.BrokenParts)
	table.OnFollow(reconciler.ForgetBrokenParts)

	expiry, err := upkeep.NewRetention(d.retentionConfig(), d.DB, d.Warehouse, time.Now, d.Metrics, d.Log)
	if err != nil {
		return nil, err
	}
	// Hourly, since a machine that sleeps at night has months too.
	table.Every("retention", timetable.Hourly(37), expiry.Enforce)
	purger := upkeep.NewPurger(d.DB, d.Warehouse, purgeLeader, d.Metrics, d.Log)
	table.Every("purge", timetable.Daily(4, 10), purger.Nightly)

	notifier, err := notify.New(d.Notify, d.DB, d.Metrics, d.Log)
	if err != nil {
		return nil, err
	}
	addTasks(d, table)
	return append(parts,
		lifecycle.Part{Name: "notify", After: []lifecycle.Store{lifecycle.Postgres}, Run: notifier.Run},
		lifecycle.Part{Name: "reread", After: everything, Run: rereader.Run},
		lifecycle.Part{Name: "purge", After: everything, Run: purger.Run},
		lifecycle.Part{Name: "timetable", After: everything, Run: table.Run},
	), nil
}

// addTasks adds the tasks that belong to no part.
func addTasks(d Deps, table *timetable.Timetable) {
	verdicts := upkeep.NewVerdicts(d.DB, d.Warehouse, time.Now, d.Log)
	table.Every("check verdicts", timetable.Daily(4, 40), verdicts.Nightly)
	// Collectors drop salts, too; but salts must also go when no collector runs any more.
	table.Every("visitor salts", timetable.Hourly(7), d.DB.DropSalts)
	table.Every("prune events", timetable.Daily(3, 50), d.DB.PruneEvents)

	advisor := advice.New(d.DB, d.Warehouse, time.Now, d.Log)
	table.Every("changed suggestions", timetable.Interval(5*time.Minute), advisor.Changed)
	table.Every("suggestions", timetable.Daily(3, 0), advisor.Nightly)

	judge := canary.New(d.DB, d.Warehouse, time.Now, d.Metrics, d.Log)
	table.Every("canary", timetable.Daily(2, 10), judge.Nightly)
	table.OnFollow(judge.Forget)

	reporter := notify.NewReporter(d.DB, d.Warehouse, time.Now, d.Log)
	table.Every("judge", timetable.Hourly(27), reporter.Hourly)
	table.Every("weekly reports", timetable.Hourly(2), reporter.Weekly)
}

// groupResults is the consumer group that reads answers for prompt_results.
const groupResults = "answerscope-results"

// sinks has the sink of each topic.
var sinks = map[string]topicSink{
	event.TopicAnswers: sinkOf(sink.NewAnswers),
	event.TopicVisits:  sinkOf(newVisits),
	event.TopicCrawls:  sinkOf(sink.NewCrawls),
}

func newVisits(conn *clickhouse.Conn, metrics prometheus.Registerer, log *slog.Logger) *sink.Visits {
	return sink.NewVisits(conn, sink.CachedVisitIDs, metrics, log)
}

// A topicSink runs the sink of a topic, or recovers lost rows with it. Sinks have different types of rows.
type topicSink struct {
	part    func(Deps, event.Topic) (lifecycle.Part, error)
	recover func(context.Context, Deps, clickhouse.Month, progress) (reconcile.Recovered, error)
}

// progress receives the number of records that are done, and the total.
type progress = func(done, total int64)

func sinkOf[R sink.Row](newSink func(*clickhouse.Conn, prometheus.Registerer, *slog.Logger) *sink.Sink[R]) topicSink {
	return topicSink{
		part: func(d Deps, topic event.Topic) (lifecycle.Part, error) {
			target := newSink(d.Warehouse, d.Metrics, d.Log)
			cfg := d.consumerConfig(topic.Group, topic.Name)
			cfg.Lock, cfg.Assigned = consume.LockWith(d.DB.LockSinksShared), target.Assigned
			if topic.Name == event.TopicVisits {
				cfg.Limits = sink.VisitLimits(cfg.Limits)
			}
			return consumerPart(d, "sink of "+topic.Name, cfg, target)
		},
		recover: func(
			ctx context.Context, d Deps, month clickhouse.Month, step progress,
		) (reconcile.Recovered, error) {
			reconciler, err := NewReconciler(d)
			if err != nil {
				return reconcile.Recovered{}, err
			}
			return reconcile.Recover(ctx, reconciler, newSink(d.Warehouse, d.Metrics, d.Log), month, step)
		},
	}
}

// Recover puts back, from the log, the rows of a month that a topic's landing table has lost.
func Recover(
	ctx context.Context, d Deps, topic string, month clickhouse.Month, step progress,
) (reconcile.Recovered, error) {
	return sinks[topic].recover(ctx, d, month, step)
}

// Sinks returns the groups of all sinks, with a prefix of their topics and groups. None may have a batch under way
// while a table is replaced.
func Sinks(prefix string) (all []consume.SinkGroup) {
	for _, topic := range event.Topics {
		group, name := prefix+topic.Group, prefix+topic.Name
		all = append(all, consume.SinkGroup{Group: group, Topic: name, Landing: topic.Name})
	}
	return all
}

// KeyedReaders returns the groups that read topics whose records have keys, with a prefix of their topics and groups.
func KeyedReaders(prefix string) []consume.SinkGroup {
	keyed := slices.DeleteFunc(Sinks(prefix), func(s consume.SinkGroup) bool { return s.Landing == event.TopicVisits })
	return append(keyed, consume.SinkGroup{Group: prefix + groupResults, Topic: prefix + event.TopicAnswers})
}

func (d Deps) consumerConfig(group, topic string) consume.Config {
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = d.Kafka, d.Prefix+group, d.Prefix+topic
	cfg.Shards, cfg.Traces = d.Warehouse.Shards(), d.Traces
	return cfg
}

// consumerPart hands the batches of a topic to a target.
func consumerPart[T any](d Deps, name string, cfg consume.Config, target consume.Target[T]) (lifecycle.Part, error) {
	consumer, err := consume.New(cfg, target, d.Metrics, d.Log)
	if err != nil {
		return lifecycle.Part{}, err
	}
	return lifecycle.Part{Name: name, After: everything, Run: consumer.Run, Ready: consumer.Ready}, nil
}

// NewReconciler compares rollups with their landing rows, and stops the sinks for a repair. It needs no producer.
func NewReconciler(d Deps) (*reconcile.Reconciler, error) {
	cfg := reconcile.DefaultConfig()
	cfg.Connection, cfg.Sinks = d.Kafka, Sinks(d.Prefix)
	return reconcile.New(cfg, d.DB, d.Warehouse, d.Metrics, d.Log)
}

func (d Deps) retentionConfig() upkeep.RetentionConfig {
	cfg := upkeep.DefaultRetention()
	cfg.Months, cfg.DeadLetters = d.Retention.Months(), d.Retention.Deadletters
	cfg.Connection, cfg.Sinks = d.Kafka, Sinks(d.Prefix)
	return cfg
}
