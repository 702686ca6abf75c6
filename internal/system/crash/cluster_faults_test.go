//go:build all

package crash

import (
	"context"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// What is broken, how often and in which order: see CONTRIBUTING.md.
const (
	forVariable    = "ANSWERSCOPE_CLUSTER_FOR"    // how long faults are drawn, after one of each kind
	eachVariable   = "ANSWERSCOPE_CLUSTER_EACH"   // instead, how many of each kind there are
	faultsVariable = "ANSWERSCOPE_CLUSTER_FAULTS" // an expression that their kinds match
)

// A faultKind breaks something, and mends it some seconds later.
type faultKind struct {
	name   string
	strike func(c *clusterTest, t *testing.T) error
}

// faultKinds are those that an expression matches.
func faultKinds(expression string) (kinds []faultKind) {
	killed := []string{"clickhouse", "zookeeper", "kafka", "collector", "pipeline", "ingest", "queryapi"}
	for _, kind := range killed {
		one := func(c *clusterTest, t *testing.T) error { return c.kill(t, c.one(kind)) }
		every := func(c *clusterTest, t *testing.T) error { return c.kill(t, c.Nodes(kind)...) }
		kinds = append(kinds, faultKind{kind + " killed", one}, faultKind{"every " + kind + " killed", every})
	}
	kinds = append(kinds,
		faultKind{"standby killed", func(c *clusterTest, t *testing.T) error { return c.kill(t, c.Standby()) }},
		faultKind{"primary lost", (*clusterTest).losePrimary},
		faultKind{"packets lost between two", (*clusterTest).cut},
		faultKind{"host off", (*clusterTest).powerOff},
		faultKind{"clickhouse disk lost", (*clusterTest).loseReplica},
		faultKind{"kafka disk lost", func(c *clusterTest, t *testing.T) error {
			broker := c.one("kafka")
			if err := broker.LoseDisk(); err != nil {
				return err
			}
			c.pause(5)
			return broker.Start(t.Context())
		}})
	matches := regexp.MustCompile(expression)
	return slices.DeleteFunc(kinds, func(k faultKind) bool { return !matches.MatchString(k.name) })
}

// one is a node of a kind at random.
func (c *clusterTest) one(kind string) *cluster.Node {
	nodes := c.Nodes(kind)
	return nodes[c.random.IntN(len(nodes))]
}

// pause is how long something is broken: up to some seconds.
func (c *clusterTest) pause(most int) {
	<-time.After(time.Duration(c.random.IntN(1000*most)) * time.Millisecond)
}

// kill kills nodes at once, and starts them again.
func (c *clusterTest) kill(t *testing.T, nodes ...*cluster.Node) error {
	var killing, starting errgroup.Group
	for _, n := range nodes {
		killing.Go(n.Kill)
	}
	if err := killing.Wait(); err != nil {
		return err
	}
	c.kills += len(nodes)
	c.pause(5)
	for _, n := range nodes { // at once, since some wait for each other
		starting.Go(func() error { return n.Start(t.Context()) })
	}
	return starting.Wait()
}

// losePrimary kills PostgreSQL's primary, or takes the power of its host, and makes it a standby of the new one.
func (c *clusterTest) losePrimary(t *testing.T) error {
	if c.random.IntN(2) == 0 {
		if err := c.Primary().PowerOff(); err != nil {
			return err
		}
	}
	if err := c.Promote(t.Context()); err != nil {
		return err
	}
	c.pause(5)
	return c.Remake(t.Context())
}

// cut loses every packet between any two hosts; one of them may be that of browsers and balancers.
func (c *clusterTest) cut(*testing.T) error {
	hosts := []string{cluster.Gateway}
	for _, n := range c.Nodes("") {
		hosts = append(hosts, n.Name)
	}
	c.random.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	if err := c.Cut(hosts[0], hosts[1]); err != nil {
		return err
	}
	c.pause(15)
	return c.Heal(hosts[0], hosts[1])
}

// powerOff takes the power of any host but the primary's.
func (c *clusterTest) powerOff(t *testing.T) error {
	nodes := slices.DeleteFunc(c.Nodes(""), func(n *cluster.Node) bool { return n == c.Primary() })
	n := nodes[c.random.IntN(len(nodes))]
	if err := n.PowerOff(); err != nil {
		return err
	}
	c.pause(15)
	return n.Start(t.Context())
}

// loseReplica loses the disk of a replica, and has it filled again.
func (c *clusterTest) loseReplica(t *testing.T) error {
	replica := c.one("clickhouse")
	if err := replica.LoseDisk(); err != nil {
		return err
	}
	c.pause(5)
	if err := replica.Start(t.Context()); err != nil {
		return err
	}
	// Keeper has a session of the lost one for some seconds.
	c.accepted(t, "a replica without a disk", func() error { return c.command(t, "migrate") })
	return nil
}

// draw is each kind once or as often as is asked for, and then kinds at random while there is time.
func (c *clusterTest) draw(t *testing.T) iter.Seq[faultKind] {
	t.Helper()
	kinds, each, duration := faultKinds(os.Getenv(faultsVariable)), 1, time.Duration(0)
	var err error
	if text := os.Getenv(eachVariable); text != "" {
		each, err = strconv.Atoi(text)
	} else if text := os.Getenv(forVariable); text != "" {
		duration, err = time.ParseDuration(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(faultKind) bool) {
		begin := time.Now()
		for range each {
			c.random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
			for _, kind := range kinds {
				if !yield(kind) {
					return
				}
			}
		}
		if len(kinds) == 0 {
			<-time.After(duration)
		}
		for time.Since(begin) < duration && yield(kinds[c.random.IntN(len(kinds))]) {
		}
	}
}

// A recovery says how a kind of fault went.
type recovery struct {
	times   int
	slowest time.Duration // from the moment when it was mended until everything goes on
	silence time.Duration // the longest without an answer of /api/v1
	refused int           // beacons that were not accepted
}

// breakAll breaks what is drawn, and waits each time until everything goes on by itself.
func (c *clusterTest) breakAll(t *testing.T) {
	t.Helper()
	c.recovers(t)
	defer c.report(t)
	for kind := range c.draw(t) {
		c.polls.silence.Store(0)
		refused := c.beacons.notAccepted()
		begin := time.Now()
		if err := kind.strike(c, t); err != nil {
			t.Errorf("%s: %v", kind.name, err)
		}
		mended := time.Now()
		c.recovers(t)
		r := c.results[kind.name]
		r.times, c.faults = r.times+1, c.faults+1
		r.slowest = max(r.slowest, time.Since(mended))
		r.silence = max(r.silence, time.Duration(c.polls.silence.Load()))
		r.refused += c.beacons.notAccepted() - refused
		c.results[kind.name] = r
		t.Logf("fault %d: %s for %s, everything goes on after %s", c.faults, kind.name,
			mended.Sub(begin).Round(time.Millisecond), time.Since(mended).Round(time.Millisecond))
	}
}

// recovers waits until everything that is on the log now has been taken, and every service and broker does its work.
func (c *clusterTest) recovers(t *testing.T) {
	t.Helper()
	for _, n := range c.Nodes("") {
		if n.PID() == 0 {
			t.Errorf("%s has ended by itself; started again: %v", n.Name, n.Start(t.Context()))
		}
	}
	c.taken(t)
	c.beacons.await(t, 204, 1)
	for _, n := range c.Nodes("queryapi") {
		wait.For(t, n.Name+" to answer", func() bool {
			_, err := c.figure(t.Context(), "http://"+n.HostPort(), "visibility-summary"+run.Window(c.brands[0]))
			return err == nil
		})
	}
	wait.For(t, "brokers to be in sync", func() bool { return c.InSync(t.Context()) })
}

// taken waits until everything that is on the log now has been taken.
func (c *clusterTest) taken(t *testing.T) {
	t.Helper()
	ends := map[string][]consume.Position{}
	groups := map[string]string{run.GroupOfResults: event.TopicAnswers}
	for _, topic := range event.Topics {
		groups[topic.Group] = topic.Name
	}
	for group, topic := range groups {
		wait.Until(t, func() string {
			at, err := c.positions(t.Context(), group, topic)
			if err != nil {
				return err.Error()
			}
			if ends[group] == nil {
				ends[group] = at
			}
			for i, p := range at {
				if p.Committed < ends[group][i].End && ends[group][i].End > 0 {
					return fmt.Sprintf("group %s is at %d of %d in partition %d", group, p.Committed,
						ends[group][i].End, p.Partition)
				}
			}
			return ""
		})
	}
}

func (c *clusterTest) positions(ctx context.Context, group, topic string) ([]consume.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return consume.Positions(ctx, producer.Connection{Brokers: c.brokers}, group, topic)
}

// report prints how each kind of fault went.
func (c *clusterTest) report(t *testing.T) {
	t.Helper()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FAULT\tTIMES\tSLOWEST RECOVERY\tLONGEST WITHOUT AN ANSWER\tBEACONS NOT ACCEPTED")
	for _, kind := range faultKinds("") {
		if r := c.results[kind.name]; r.times > 0 {
			fmt.Fprintf(table, "%s\t%d\t%.1f s\t%.1f s\t%d\n",
				kind.name, r.times, r.slowest.Seconds(), r.silence.Seconds(), r.refused)
		}
	}
	_ = table.Flush()
	t.Logf("recoveries:\n%s", &text)
}
