package crash

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An outage is how many beacons a second come, how many of them come while Kafka is away, and how often the collector
// is killed meanwhile.
type outage struct{ rate, away, kills int }

// leastOutage is short in every run of the tests, and a minute among many kills.
func leastOutage() outage {
	if run.LongRun() {
		return outage{5000, 60 * 5000, 2}
	}
	return outage{150, 300, testkit.Draws(1, 2)}
}

// Beacons come all the time. Kafka is stopped, the collector is killed and started again meanwhile, and Kafka comes
// back. Each beacon that was answered 204 is then counted once, in the landing table and by the API; none that
// was refused is; and one without an answer, because the collector died, at most once.
func TestKilledCollectorEachAcceptedBeaconIsCountedOnce(t *testing.T) {
	parallelUnlessLong(t)
	for _, kind := range killedBrokers() {
		t.Run(kind, func(t *testing.T) {
			parallelUnlessLong(t)
			c := newCollectorTest(t, kind)
			of := leastOutage()
			c.start(t)
			c.browserLoad = newBrowserLoad(c, 1)
			end := c.browserLoad.browse(t, of.rate)
			c.browserLoad.await(t, 204, of.rate) // a second's worth
			c.StopKafka(t)
			from := c.browserLoad.sent()
			for range of.kills {
				c.browserLoad.await(t, 204, of.away/(of.kills+1))
				c.kill(t)
				c.start(t)
			}
			c.browserLoad.await(t, 204, of.away/(of.kills+1))
			to := c.browserLoad.sent()
			c.StartKafka(t)
			c.browserLoad.await(t, 204, of.rate*2)
			end()
			c.counted(t)
			t.Logf("%s stopped at %d beacons a second, %d kills of the collector: %s", kind, of.rate, of.kills,
				c.browserLoad)
			t.Logf("while %s was away, answers 204 took p50 %s, p99 %s, at most %s", kind,
				c.browserLoad.took(from, to, 50), c.browserLoad.took(from, to, 99), c.browserLoad.took(from, to, 100))
			if refused := c.browserLoad.count(503); refused > 0 {
				t.Errorf("%d beacons were answered 503, and there was room for all", refused)
			}
			if !t.Failed() {
				summed.Add(int64(of.kills))
				t.Logf("%d kills, 0 lost, 0 doubled", summed.Load())
			}
		})
	}
}

// A collectorTest is a collector and a broker, which are killed and stopped; pipeline and API beside them are left
// alone.
type collectorTest struct {
	*run.OwnKafka
	all         *run.Installation
	env         []string // of the collector
	brand       string
	collector   *run.Server
	browserLoad *browserLoad
}

func newCollectorTest(t *testing.T, kind string) *collectorTest {
	t.Helper()
	c := &collectorTest{OwnKafka: run.NewOwnKafka(t, kind)}
	c.all = run.Install(t, c.Brokers)
	c.brand = c.all.AddBrands(t, c.all.Organization.ID, run.BrandsFile)
	c.all.Start(t)
	c.env = append(slices.Clone(c.all.Env), "ANSWERSCOPE_DATA_DIR="+filepath.Join(c.Dir, "collector"),
		"ANSWERSCOPE_SITE_LIMIT=1000000")
	return c
}

// start starts the collector; beacons go to it as soon as it is ready.
func (c *collectorTest) start(t *testing.T) {
	t.Helper()
	c.collector = run.Serve(t, c.env, "collector")
	if c.browserLoad != nil {
		c.browserLoad.url.Store(&c.collector.URL)
	}
}

// kill kills the collector. Beacons then go to a port where nothing listens, since a server of another test could get
// the port that becomes free.
func (c *collectorTest) kill(t *testing.T) {
	t.Helper()
	c.collector.Stop(t, syscall.SIGKILL)
	if closed := "http://127.0.0.1:1"; c.browserLoad != nil {
		c.browserLoad.url.Store(&closed)
	}
}

// counted waits until the collector has handed over all that it accepted and the pipeline has taken all that there is,
// and looks what of it is counted.
func (c *collectorTest) counted(t *testing.T) {
	t.Helper()
	warehouse := c.all.Warehouse
	accepted := uint64(c.browserLoad.count(204) * c.browserLoad.each)
	wait.Until(t, func() string {
		if n := visitsIn(t, warehouse); n < accepted {
			return fmt.Sprintf("%d visits have landed, and %d were accepted", n, accepted)
		}
		return ""
	})
	if status := c.collector.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("collector ended with status %d:\n%s", status, c.collector.Log)
	}
	wait.Until(t, func() string { return c.behind(t) })
	c.browserLoad.judge(t, sessionsIn(t, warehouse))
	landed := visitsIn(t, warehouse)
	_, body := run.Fetch(t, c.all.URL+"/api/v1/ai-traffic?brand_id="+c.brand, c.all.Key)
	var traffic struct {
		Visits   uint64 `json:"total_visits"`
		Sessions uint64 `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(body), &traffic); err != nil || traffic.Visits != landed ||
		traffic.Sessions != landed {
		t.Errorf("ai-traffic: %.300s, %v, want %d visits and sessions", body, err, landed)
	}
}

// behind says where the sink of visits is, unless that is the log's end.
func (c *collectorTest) behind(t *testing.T) string {
	t.Helper()
	all, err := consume.Positions(t.Context(), producer.Connection{Brokers: c.Brokers}, run.GroupOfVisits,
		event.TopicVisits)
	if err != nil || len(all) != run.Partitions {
		return fmt.Sprintf("positions %v, %v", all, err)
	}
	for _, at := range all {
		if at.Committed != at.End && at.End > 0 {
			return fmt.Sprintf("partition %d is taken up to %d of %d", at.Partition, at.Committed, at.End)
		}
	}
	return ""
}

func visitsIn(t *testing.T, warehouse *clickhouse.Conn) (n uint64) {
	t.Helper()
	if err := warehouse.QueryRow(t.Context(), "SELECT count() FROM visits").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// sessionsIn is how many visits of each session have landed.
func sessionsIn(t *testing.T, warehouse *clickhouse.Conn) map[string]uint64 {
	t.Helper()
	rows, err := warehouse.Query(t.Context(), "SELECT session, count() FROM visits GROUP BY session")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]uint64{}
	for rows.Next() {
		var session string
		var n uint64
		if err := rows.Scan(&session, &n); err != nil {
			t.Fatal(err)
		}
		found[session] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
