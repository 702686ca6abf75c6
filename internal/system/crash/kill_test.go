package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// linesARound is how many lines the file grows by in each round.
const linesARound = 40

// Imports run while everything is killed (see scenarios): the process that holds broker, sinks, API and engines at
// every point of produce, plan, insert and commit and at random moments, its engines, a second pipeline, and an import
// itself. Visits and crawls are appended beside them, and appended again; names and competitors are edited, so that
// kept answers are read again meanwhile. Afterwards the whole file is imported. Each answer, visit and crawl is then
// counted once, in the landing tables, in the target of every view and by every endpoint of the API, as the last names
// have it, and one more import changes no byte of any response.
func TestKilledUnderImportEachAnswerIsCountedOnce(t *testing.T) {
	parallelUnlessLong(t)
	for _, kind := range killedBrokers() {
		t.Run(kind, func(t *testing.T) {
			parallelUnlessLong(t)
			killedUnderImport(t, kind)
		})
	}
}

// killedBrokers returns the kinds of brokers that kill tests run on. Apache Kafka keeps the partitions of a killed
// member for the session timeout, so only a long run has it.
func killedBrokers() []string {
	if run.LongRun() {
		return []string{"kafka", "apache"}
	}
	return []string{"kafka"}
}

// parallelUnlessLong runs a test beside others, but not in a long run: kills come at random moments of an undisturbed
// round.
func parallelUnlessLong(t *testing.T) {
	if !run.LongRun() {
		t.Parallel()
	}
}

func killedUnderImport(t *testing.T, kind string) {
	k := newKilling(t, kind)
	s := run.Serve(t, k.env, "all")
	k.undisturbedRound(t, s)
	least := leastKills(t)
	for n := 0; n < least || n < least+mostMore && k.replays == 0; n++ {
		k.round(t, k.scenario(n), s)
		s = nil
	}
	k.met(t, least)
	k.lines += linesARound // on the log nothing comes after these, so that with them everything has been taken
	file := run.Captured(t, k.lines)
	s = run.Serve(t, k.env, "all")
	k.replays += replaysOf(s)
	k.settleNames(t)
	run.Must(t, k.env, "import", file, "--org", "acme", "--create", k.create)
	k.appendAll(t)
	k.counted(t, s)
	t.Logf("%d kills; %d planned batches replayed, %d answers corrected", k.kills, k.replays, k.corrected(t))
	if k.replays == 0 || k.corrected(t) == 0 { // a replay is a batch that a kill has left half done
		t.Error("no kill met the sink at work")
	}

	responses := k.responses(t, s)
	var again struct{ Imported, Skipped int }
	if err := json.Unmarshal([]byte(run.Must(t, k.env, "import", file, "--org", "acme", "--create", k.create)),
		&again); err != nil {
		t.Fatal(err)
	}
	if all := k.lines * len(k.brands); again.Imported != 0 || again.Skipped != all {
		t.Errorf("imported again: %+v, want all %d skipped", again, all)
	}
	k.appendAll(t)
	k.stands(t)
	for path, before := range responses {
		if _, after := run.Fetch(t, s.URL+path, k.key); after != before {
			t.Errorf("%s changed from\n%s\nto\n%s", path, before, after)
		}
	}
	if !t.Failed() {
		summed.Add(int64(k.kills))
		t.Logf("%d kills, 0 lost, 0 doubled", summed.Load())
	}
}

// summed are the kills on all brokers so far.
var summed atomic.Int64

// mostMore bounds the kills that follow while no kill has left a batch to replay.
const mostMore = 12

// draws returns how often a test repeats something: few times in `make test`, many in `make test-all` and in a long
// run.
func draws(few, many int) int {
	if run.LongRun() {
		return many
	}
	return testkit.Draws(few, many)
}

// leastKills returns the number of rounds with a kill: a few, or the number in the environment.
func leastKills(t *testing.T) int {
	t.Helper()
	text := os.Getenv(run.KillsVariable)
	if text == "" {
		return draws(2, 4)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: want the number of kills on each broker", run.KillsVariable, text)
	}
	return n
}

// killing is a data directory whose processes are killed over and over.
type killing struct {
	env    []string
	create string // the brands file
	key    string
	brands []string // ids, in the order of the brands file
	lines  int      // of the file, so far; each brand has visitsALine of each
	random *rand.Rand

	organization uuid.UUID
	warehouse    *clickhouse.Conn    // of a cluster; nil: that of the data directory
	apache       *engine.ApacheKafka // nil: the embedded broker
	brokers      []string            // nil: embedded
	scenarios    []scenario

	// how long a round takes undisturbed until its first answer lands, and from then to the last
	start, landing time.Duration

	imports *importers           // of the present round
	turns   map[string]turnCount // by name of the scenario

	kills, partial, replays, rebalances, inherited int
}

func newKilling(t *testing.T, kind string) *killing {
	t.Helper()
	k := &killing{
		random:    rand.New(rand.NewPCG(testkit.Seed(t), 0)),
		scenarios: scenarios(kind),
		turns:     map[string]turnCount{},
	}
	rest := k.scenarios[2:] // the first two happen in every run of the tests
	k.random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	k.env = []string{
		"ANSWERSCOPE_DATA_DIR=" + run.MigratedDir(t), fmt.Sprintf("ANSWERSCOPE_KAFKA_PARTITIONS=%d", run.Partitions),
	}
	if kind == "apache" {
		k.startApache(t)
		k.env = append(k.env, "ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(k.brokers, ","))
	}
	return k
}

// undisturbedRound has a first round without a kill, takes the time, and sees that it is what a round is to be: of
// several batches of answers, and with visits that are sent in parts.
func (k *killing) undisturbedRound(t *testing.T, s *run.Server) {
	t.Helper()
	run.Must(t, k.env, "org", "add", "Acme", "--slug", "acme")
	run.Must(t, k.env, "user", "add", "ann@acme.example", "--org", "acme")
	k.key = run.Must(t, k.env, "key", "create", "--org", "acme", "--user", "ann@acme.example", "--name", "test")
	k.organization = organizationOf(t, s, k.key)
	k.addBrands(t, s)

	k.lines += linesARound
	began := time.Now()
	warehouse, leave := k.opened(t)
	defer leave()
	importing := k.importing(t, s, "")
	defer importing.finish(true)
	k.awaitLanded(t, s, warehouse, 1)
	k.start = time.Since(began)
	k.awaitLanded(t, s, warehouse, k.answersOfRound())
	k.landing = time.Since(began) - k.start
	if <-importing.over; importing.err != nil {
		t.Fatalf("import: %v\n%s", importing.err, s.Log)
	}
	k.appendAll(t)
	wait.Until(t, func() string { return onlySmall(t, warehouse) })
	batches := k.batches(t, s)
	t.Logf("a round undisturbed: its first answer lands after %s, its last %s later, in %d batches", k.start, k.landing,
		batches)
	if batches <= run.Partitions {
		t.Errorf("the answers of a round were %d batches of %d partitions, want several of each", batches,
			run.Partitions)
	}
}

// addBrands creates brands until every partition is that of one of them.
func (k *killing) addBrands(t *testing.T, s *run.Server) {
	t.Helper()
	nothing, used := run.Written(t, "none.ndjson", nil), map[int]bool{}
	for n := 4; len(used) < run.Partitions; n++ {
		k.create = run.BrandsOf(t, n)
		run.Must(t, k.env, "import", nothing, "--org", "acme", "--create", k.create)
		k.brands = k.brandIDs(t, s)
		for _, id := range k.brands {
			used[producer.Partition(event.BrandKey(uuid.Must(uuid.FromString(id))), 2)] = true
		}
	}
}

func (k *killing) brandIDs(t *testing.T, s *run.Server) []string {
	t.Helper()
	_, body := run.Fetch(t, s.URL+"/api/v1/brands", k.key)
	var list struct{ Brands []struct{ ID, Name string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("brands: %s, %v", body, err)
	}
	ids := make([]string, len(list.Brands))
	for _, brand := range list.Brands {
		for b, name := range run.Lamps {
			if name == brand.Name {
				ids[b] = brand.ID
			}
		}
	}
	return ids
}

// answersOfRound is how many answers a round brings.
func (k *killing) answersOfRound() uint64 { return uint64(linesARound * len(k.brands)) }

func replaysOf(s *run.Server) int {
	return strings.Count(s.Log.String(), `msg="replaying planned batch"`)
}

// landed is how many answers of the present round are in the landing table.
func (k *killing) landed(t *testing.T, warehouse *clickhouse.Conn) (n uint64) {
	t.Helper()
	if err := warehouse.QueryRow(t.Context(), "SELECT toUInt64(sum(sign)) FROM answers WHERE sample > ?",
		k.lines-linesARound).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (k *killing) awaitLanded(t *testing.T, s *run.Server, warehouse *clickhouse.Conn, want uint64) {
	t.Helper()
	wait.Until(t, func() string {
		if n := k.landed(t, warehouse); n < want {
			return fmt.Sprintf("%d answers of the round have landed, want %d", n, want)
		}
		return ""
	})
}

// counted waits until every table counts every answer so far, none of them counts
// more, and the API and prompt_results say the same.
func (k *killing) counted(t *testing.T, s *run.Server) {
	t.Helper()
	k.stands(t)
	for b, id := range k.brands {
		k.asked(t, s, b, id)
	}
}

// stands is counted without the API.
func (k *killing) stands(t *testing.T) {
	t.Helper()
	warehouse, leave := k.opened(t)
	defer leave()
	for _, tableCheck := range tableChecks {
		if strings.Contains(tableCheck.sql, "uniqExact(id)") { // of the landing tables
			wait.Until(t, func() string { return k.differs(t, warehouse, tableCheck, true) })
		}
	}
	reconciled(t, warehouse)
	for _, tableCheck := range tableChecks {
		wait.Until(t, func() string { return k.differs(t, warehouse, tableCheck, true) })
	}
	// what was on its way with older names has come by now
	wait.Until(t, func() string { return k.stale(t, warehouse) })
	for _, tableCheck := range tableChecks { // an insert reaches the targets of views after the landing table
		wait.Until(t, func() string { return k.differs(t, warehouse, tableCheck, false) })
	}
	for _, table := range []string{"answers", "visits", "crawls"} {
		wait.Until(t, func() string { return lags(t, warehouse, table) })
	}
	wait.Until(t, func() string { return k.writtenOtherwise(t, warehouse) })
}

// reconciled waits until no month is suspect, as long as they become fewer.
func reconciled(t *testing.T, warehouse *clickhouse.Conn) {
	t.Helper()
	suspects := func() int {
		all, err := clickhouse.Suspects(t.Context(), warehouse)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for before := suspects(); before > 0; {
		wait.Until(t, func() string {
			now := suspects()
			if now >= before {
				return fmt.Sprintf("%d months of repeated batches are suspect", now)
			}
			before = now
			return ""
		})
	}
}

// differs says what a tableCheck finds of which brand instead of what it should, if only too little then only that.
func (k *killing) differs(t *testing.T, warehouse *clickhouse.Conn, tableCheck tableCheck, less bool) string {
	t.Helper()
	rows, err := warehouse.Query(t.Context(), tableCheck.sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]uint64{}
	for rows.Next() {
		var brand string
		var n uint64
		if err := rows.Scan(&brand, &n); err != nil {
			t.Fatal(err)
		}
		found[brand] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for b, id := range k.brands {
		if n, want := found[id], tableCheck.want(k.lines, b); n < want || n > want && !less {
			return fmt.Sprintf("%s: %d of brand %s, want %d", tableCheck.sql, n, id, want)
		}
	}
	return ""
}

// opened is the warehouse while the process runs.
func (k *killing) opened(t *testing.T) (warehouse *clickhouse.Conn, leave func()) {
	t.Helper()
	if k.warehouse != nil {
		return k.warehouse, func() {}
	}
	return run.JoinWarehouse(t, strings.TrimPrefix(k.env[0], "ANSWERSCOPE_DATA_DIR="))
}
