//go:build all

// The test of a cluster needs root: see make test-cluster.

package crash

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A cluster of everything is broken at random while beacons, imports, tracking, edits and deletions come. /api/v1 is
// asked all the time: it answers within ten seconds or with an error, and never counts less than what was committed
// before the question. Everything goes on without a hand. At the end each beacon that was answered 204, each imported
// answer and each tracked run is counted once, on every replica, and the naive computation says the same as /api/v1.
func TestClusterLosesAndDoublesNothing(t *testing.T) {
	if !cluster.Isolated(t) {
		return
	}
	c := newClusterTest(t)
	endLoad := c.load(t)
	endPolls := c.poll(t)
	c.breakAll(t)
	endLoad()
	c.judge(t)
	endPolls()
	if !t.Failed() {
		t.Logf("%d faults, %d kills, 0 lost, 0 doubled; %s; %d lines imported for each of %d brands, "+
			"%d tracked runs; %s",
			c.faults, c.kills, c.beacons, c.lines, len(c.brands), c.runs, &c.polls)
	}
}

// A clusterTest is the product on a cluster, and what comes in.
type clusterTest struct {
	*cluster.Cluster
	*killing // of brands whose answers, visits and crawls are known; the last one is edited all the time
	*run.Installation
	env     []string // of commands
	log     *logIndex
	random  *rand.Rand // of the draw
	faults  int
	kills   int                 // of processes, in those faults
	results map[string]recovery // by kind of fault

	beacons *browserLoad
	site    string // the brand of the beacons
	tracked postgres.Brand
	runs    int64    // that jobs have ended
	doomed  []string // brands that are deleted, one after the other
	polls   polls
}

// newClusterTest starts a cluster with an organization and its brands.
func newClusterTest(t *testing.T) *clusterTest {
	t.Helper()
	seed := testkit.Seed(t)
	running, err := cluster.Start(t.Context(), filepath.Dir(run.DataDir(t)),
		cluster.Options{Brokers: 3, Postgres: 2, Shards: 2, Replicas: 2, Keepers: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Close(); err != nil {
			t.Error(err)
		}
	})
	settings := []string{
		"ANSWERSCOPE_SITE_LIMIT=1000000", fmt.Sprintf("ANSWERSCOPE_KAFKA_PARTITIONS=%d", run.Partitions),
		"ANSWERSCOPE_SECRET_KEYS=k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}
	c := &clusterTest{Cluster: running, random: rand.New(rand.NewPCG(seed, 0)), results: map[string]recovery{}}
	c.env = append([]string{"ANSWERSCOPE_POSTGRES_DSN=" + c.PostgresDSN("postgres")}, c.Cluster.Env("postgres")...)
	c.env = append(c.env, settings...)
	run.Must(t, c.env, "migrate")
	var services []cluster.Service
	for _, name := range []string{"collector", "pipeline", "ingest", "queryapi"} {
		services = append(services, cluster.Service{
			Name: name, Count: 2, Program: []string{run.Binary(t), name}, Env: settings,
		})
	}
	if err := c.StartServices(t.Context(), services); err != nil {
		t.Fatal(err)
	}
	c.populate(t)
	return c
}

// populate adds an organization, and the brands that the load is about.
func (c *clusterTest) populate(t *testing.T) {
	t.Helper()
	control, warehouse := postgres.DefaultConfig(), clickhouse.DefaultConfig()
	control.DSN, warehouse.Shards = c.PostgresDSN("answerscope"), c.ShardDSNs()
	c.Installation = &run.Installation{
		DB: store.OpenControlPlane(t, control), Warehouse: store.OpenWarehouse(t, warehouse),
	}
	c.Installation.Organization, c.Installation.Key = c.Organize(t, "acme")
	c.killing = &killing{
		env: c.env, key: c.Installation.Key, organization: c.Installation.Organization.ID,
		brokers: c.Addresses("kafka"), warehouse: c.Installation.Warehouse,
	}
	c.killing.addBrands(t, c.service("queryapi"))
	c.tracked = c.BrandToTrack(t, "Tracked", 5)
	c.site = c.Installation.AddBrands(t, c.Installation.Organization.ID, run.BrandsFile)
	var specs []string
	for n := range 100 {
		const spec = `{"name":"Doomed %d","slug":"doomed-%03[1]d","domains":["doomed%[1]d.example"]}`
		specs = append(specs, fmt.Sprintf(spec, n))
	}
	c.Installation.AddBrands(t, c.Installation.Organization.ID, `{"brands":[`+strings.Join(specs, ",")+`]}`)
	if err := run.InPostgres(t, c.env, func(ctx context.Context, conn *pgx.Conn) error {
		const question = "SELECT array_agg(id::text ORDER BY slug) FROM public.brands WHERE slug LIKE 'doomed-%'"
		return conn.QueryRow(ctx, question).Scan(&c.doomed)
	}); err != nil {
		t.Fatal(err)
	}
	ofDoomed := *c.killing
	ofDoomed.brands = c.doomed
	if err := ofDoomed.append(t.Context(), t, 30*time.Second, ofDoomed.portions(t, 0, 1)...); err != nil {
		t.Fatal(err)
	}
}

// service is a service behind its balancer, as the helpers of other tests ask it.
func (c *clusterTest) service(name string) *run.Server {
	return &run.Server{URL: "http://" + c.Balanced(name)}
}
