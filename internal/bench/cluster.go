//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// clustering is how many records each number of pipelines takes from the log, and for how long beacons are sent.
var clustering = struct {
	records map[string]int // by topic
	beacons time.Duration
}{map[string]int{event.TopicVisits: 1_000_000, event.TopicAnswers: 15_000}, 10 * time.Second}

// A clusterLeg is one set-up, which has a process with a network of its own: each broker, server and pipeline is on a
// host of its own there.
type clusterLeg struct {
	Name      string
	Options   cluster.Options
	Pipelines []int // each number of them is measured in turn
	Dir       string
	Records   map[string]int
	Beacons   time.Duration
}

// single is one engine of each kind, measured first and last, so that the machine's noise shows. The others
// differ from it in one number.
const single, singleAgain = "single", "again"

var clusterLegs = []clusterLeg{
	{Name: single, Options: clusterOf(1, 1, 1), Pipelines: []int{1, 2, 4}},
	{Name: "shards", Options: clusterOf(1, 2, 1), Pipelines: []int{1, 2, 4}},
	{Name: "replicas", Options: clusterOf(1, 1, 2), Pipelines: []int{1}},
	{Name: "brokers", Options: clusterOf(3, 1, 1), Pipelines: []int{1}},
	{Name: singleAgain, Options: clusterOf(1, 1, 1), Pipelines: []int{1}},
}

func clusterOf(brokers, shards, replicas int) cluster.Options {
	o := cluster.Options{Brokers: brokers, Postgres: 1, Shards: shards, Replicas: replicas}
	if replicas > 1 {
		o.Keepers = 3
	}
	return o
}

// A clusterRate is what one set-up did with one load: beacons, visits or answers.
type clusterRate struct {
	Pipelines int
	Load      string
	PerSecond float64
	CPU       map[string]float64 // milliseconds of 1,000 records, by the kind of node
}

// cpu returns the milliseconds of all nodes.
func (c clusterRate) cpu() (sum float64) {
	for _, ms := range c.CPU {
		sum += ms
	}
	return sum
}

// measureCluster measures what shards, replicas and brokers on one machine cost: beacons a second that a collector
// accepts, and visits and answers a second that pipelines take from a log with a backlog into all tables. The machine
// has the same cores for all of them, so the CPU time of 1,000 records is what grows with a cluster.
func measureCluster(ctx context.Context, o Options, s *stack, r *Result) error {
	if os.Geteuid() != 0 {
		return errors.New("want root, who may make network namespaces")
	}
	measured := map[string][]clusterRate{}
	for _, leg := range clusterLegs {
		o.Progress("  %s: %+v", leg.Name, leg.Options)
		leg.Dir, leg.Records, leg.Beacons = filepath.Join(s.dir, leg.Name), clustering.records, clustering.beacons
		part, err := partOf(ctx, "cluster", leg)
		if err != nil {
			return err
		}
		var rates []clusterRate
		if err := outputOf(ctx, part, &rates); err != nil {
			return fmt.Errorf("measure %s: %w", leg.Name, err)
		}
		measured[leg.Name] = rates
		for _, rate := range rates { // a later leg may fail
			o.Progress("    %.0f %s a second, pipelines %d, CPU of 1,000 %.1f ms",
				rate.PerSecond, rate.Load, rate.Pipelines, rate.cpu())
		}
	}
	r.compareLegs(measured)
	return nil
}

// compareLegs adds all rates, each beside the mean of both runs of the single set-up with one pipeline.
func (r *Result) compareLegs(measured map[string][]clusterRate) {
	perSecond, cpu := map[string]float64{}, map[string]float64{}
	for _, rate := range slices.Concat(measured[single], measured[singleAgain]) {
		if rate.Pipelines <= 1 {
			perSecond[rate.Load] += rate.PerSecond / 2
			cpu[rate.Load] += rate.cpu() / 2
		}
	}
	for load := range perSecond {
		r.Ceilings[load+"_per_s"], r.Ceilings[load+"_cpu_ms"] = perSecond[load], cpu[load]
	}
	for _, leg := range clusterLegs {
		for _, rate := range measured[leg.Name] {
			name := leg.Name
			if rate.Pipelines > 0 {
				name += "-" + strconv.Itoa(rate.Pipelines)
			}
			key := name + "_" + rate.Load
			r.Figures[key+"_per_s"], r.Figures[key+"_cpu_ms"] = rate.PerSecond, rate.cpu()
			r.Ratios[key], r.Ratios[key+"_cpu"] = rate.PerSecond/perSecond[rate.Load], rate.cpu()/cpu[rate.Load]
			var kinds []string
			for _, kind := range slices.Sorted(maps.Keys(rate.CPU)) {
				kinds = append(kinds, fmt.Sprintf("%s %.1f", kind, rate.CPU[kind]))
				r.Figures[key+"_cpu_ms_"+kind] = rate.CPU[kind]
			}
			r.Lines = append(r.Lines, fmt.Sprintf("%-11s %-8s%8.0f a second, %4.2f; CPU of 1,000 %6.1f ms, %4.2f: %s",
				name, rate.Load, rate.PerSecond, r.Ratios[key], rate.cpu(), r.Ratios[key+"_cpu"], strings.Join(kinds, ", ")))
		}
	}
}

// runChild runs the hidden subcommand of this process, if it has one, and then does not return.
func runChild() { cluster.RunNode() }

// runLeg measures the leg that is the task.
func runLeg(ctx context.Context, task *json.Decoder) (_ any, err error) {
	cluster.Isolate()
	var r clusterRun
	if err := task.Decode(&r.leg); err != nil {
		return nil, fmt.Errorf("read leg: %w", err)
	}
	if err := os.Mkdir(r.leg.Dir, 0o700); err != nil {
		return nil, err
	}
	if r.Cluster, err = cluster.Start(ctx, r.leg.Dir, r.leg.Options); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.stack = &stack{
		dir: r.leg.Dir, log: slog.New(slog.DiscardHandler), postgres: r.PostgresDSN("postgres"),
		connection: producer.Connection{Brokers: r.Addresses("kafka")},
	}
	defer func() { err = errors.Join(err, r.stack.close()) }()
	if err := r.startServices(ctx); err != nil {
		return nil, err
	}
	return r.measure(ctx)
}

// A clusterRun is the cluster of a leg while it runs.
type clusterRun struct {
	*cluster.Cluster
	leg     clusterLeg
	stack   *stack   // what the bench has opened on it
	beacons [][]byte // whole requests
	rates   []clusterRate
}

// startServices starts the services, and stops the pipelines until there is a backlog.
func (r *clusterRun) startServices(ctx context.Context) error {
	product, err := findProduct()
	if err != nil {
		return err
	}
	const partitions = "ANSWERSCOPE_KAFKA_PARTITIONS=8" // the same number for each pipeline and shard
	if err := r.Migrate(ctx, product, partitions); err != nil {
		return err
	}
	if r.beacons, err = beacons(ctx, r.stack, collecting.sites); err != nil { // a collector reads its sites at the start
		return err
	}
	noLimits := []string{"ANSWERSCOPE_SITE_LIMIT=" + strconv.Itoa(noLimit)}
	err = r.StartServices(ctx, []cluster.Service{
		{Name: "collector", Count: 1, Program: []string{product, "collector"}, Env: noLimits},
		{Name: "pipeline", Count: slices.Max(r.leg.Pipelines), Program: []string{product, "pipeline"}},
	})
	return errors.Join(err, r.stopPipelines())
}

// measure measures each load, after a part of it that does not count: a JVM compiles itself, and ClickHouse its
// expressions.
func (r *clusterRun) measure(ctx context.Context) ([]clusterRate, error) {
	if err := r.sendBeacons(ctx); err != nil {
		return nil, err
	}
	next := map[string]int{}
	for round, pipelines := range slices.Concat(r.leg.Pipelines[:1], r.leg.Pipelines) {
		for _, topic := range event.Topics[:len(clusterRecords)] {
			first, n := next[topic.Name], r.leg.Records[topic.Name]
			if round == 0 {
				n /= 4
			}
			next[topic.Name] += n
			if _, err := r.stack.appendMany(ctx, "", topic.Name, first, first+n, clusterRecords[topic.Name]); err != nil {
				return nil, err
			}
			if err := r.drain(ctx, topic, pipelines); err != nil {
				return nil, fmt.Errorf("drain %s with %d pipelines: %w", topic.Name, pipelines, err)
			}
		}
		if round == 0 {
			r.rates = r.rates[1:2] // of beacons, the second time
		}
	}
	return r.rates, nil
}

// clusterRecords make the records of a topic.
var clusterRecords = map[string]func(i int) (producer.Record, error){
	event.TopicVisits: visitRecord,
	event.TopicAnswers: func(i int) (producer.Record, error) {
		a := someAnswer(i)
		a.Brand.Entity = entity("brand", i%200) // so many that partitions get the same share
		value, err := event.EncodeAnswer(nil, &a)
		return producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value}, err
	},
}

// sendBeacons measures beacons that the collector accepts, twice.
func (r *clusterRun) sendBeacons(ctx context.Context) error {
	plan := loadPlan{
		Address: r.Addresses("collector")[0], Requests: r.beacons,
		Connections: collecting.connections, Time: r.leg.Beacons,
	}
	for range 2 {
		err := r.add("beacons", 0, func() (int, time.Duration, error) {
			result, err := sendLoad(ctx, plan)
			return len(result.Times), result.Took, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// drain measures how fast pipelines bring all records of a topic into the warehouse, once each of them has its
// partitions.
func (r *clusterRun) drain(ctx context.Context, topic event.Topic, pipelines int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("not done in time"))
	defer cancel()
	if err := r.startPipelines(ctx, topic.Group, pipelines); err != nil {
		return err
	}
	return errors.Join(r.add(topic.Name, pipelines, func() (most int, took time.Duration, err error) {
		begin := time.Now()
		err = poll(ctx, 50*time.Millisecond, func() (bool, error) {
			positions, err := consume.Positions(ctx, r.stack.connection, topic.Group, topic.Name)
			if errors.Is(err, context.DeadlineExceeded) {
				return false, nil // the broker is busy
			}
			left := 0
			for _, p := range positions {
				left += int(p.End - max(0, p.Committed))
			}
			most = max(most, left)
			return left == 0, err
		})
		return most, time.Since(begin), err
	}), r.stopPipelines())
}

// startPipelines starts so many pipelines, and waits until all are members of a group.
func (r *clusterRun) startPipelines(ctx context.Context, group string, pipelines int) error {
	starting, startCtx := errgroup.WithContext(ctx)
	for _, node := range r.Nodes("pipeline")[:pipelines] {
		starting.Go(func() error { return node.Start(startCtx) })
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	client := &kafka.Client{Addr: r.stack.connection.Address()}
	err := poll(ctx, 10*time.Millisecond, func() (bool, error) {
		groups, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
		if err != nil {
			return false, err
		}
		return groups.Groups[0].GroupState == "Stable" && len(groups.Groups[0].Members) == pipelines, nil
	})
	if err != nil {
		return fmt.Errorf("wait for members of %s: %w", group, err)
	}
	return nil
}

func (r *clusterRun) stopPipelines() error {
	var stopping errgroup.Group
	for _, node := range r.Nodes("pipeline") {
		stopping.Go(node.Stop)
	}
	return stopping.Wait()
}

// add adds the rate of a load. do returns the number of records, and how long they took.
func (r *clusterRun) add(load string, pipelines int, do func() (int, time.Duration, error)) error {
	before, err := r.cpuByKind()
	if err != nil {
		return err
	}
	records, took, err := do()
	if err != nil {
		return err
	}
	cpu, err := r.cpuByKind()
	for kind := range cpu {
		cpu[kind] = (cpu[kind] - before[kind]) * 1000 / float64(records) * 1000
	}
	maps.DeleteFunc(cpu, func(_ string, ms float64) bool { return ms == 0 })
	r.rates = append(r.rates, clusterRate{pipelines, load, float64(records) / took.Seconds(), cpu})
	return err
}

// cpuByKind returns the seconds of CPU time that running nodes of each kind have used, with their children.
func (r *clusterRun) cpuByKind() (map[string]float64, error) {
	kinds := map[int]string{}
	for _, node := range r.Nodes("") {
		kinds[node.PID()] = node.Kind
	}
	delete(kinds, 0) // nodes that do not run
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	used := map[string]float64{}
	for _, process := range processes {
		stat, err := process.Stat()
		if err != nil {
			continue // it has ended
		}
		if kind := cmp.Or(kinds[stat.PID], kinds[stat.PPID]); kind != "" {
			used[kind] += stat.CPUTime()
		}
	}
	return used, nil
}
