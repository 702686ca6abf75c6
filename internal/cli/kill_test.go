package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// linesARound is how many lines the file grows by for each import.
const linesARound = 40

// killsVariable says how many kills there are on each broker, in place of the few
// that every run of the tests has: see make test-crash.
const killsVariable = "ANSWERSCOPE_TEST_KILLS"

// An import runs while everything is killed (see blows): the process that holds
// broker, sinks, API and engines at every point of produce, plan, insert and commit
// and at random moments, its engines, a second pipeline, and the import itself.
// Visits are told beside it, and told again; names and competitors are edited, so
// that kept answers are read again meanwhile. Afterwards the import is run to its
// end. Each answer and each visit is then counted once, in the landing tables, in
// the target of every view and by the API, as the last names have it, and one more
// import changes no byte of any response.
func TestKilledUnderImportEachAnswerIsCountedOnce(t *testing.T) {
	for _, kind := range []string{"kafka", "apache"} {
		t.Run(kind, func(t *testing.T) { killedUnderImport(t, kind) })
	}
}

func killedUnderImport(t *testing.T, kind string) {
	k := newKilling(t, kind)
	k.calm(t)
	for n, least := 0, leastKills(t, kind); n < least || n < 3*least && k.replays == 0; n++ {
		k.round(t, k.blow(n))
	}
	k.lines += linesARound // on the log nothing comes after these, so that with them everything has been taken
	file := captured(t, k.lines)
	s := serve(t, k.env, "all")
	k.replays += replaysOf(s)
	k.settleNames(t)
	must(t, k.env, "import", file, "--org", "acme", "--create", k.create)
	k.tellAll(t)
	k.counted(t, s)
	t.Logf("%d kills, %d of them with a part of the round landed; %d planned batches replayed, %d answers corrected", k.kills, k.partial, k.replays, k.corrected(t))
	if k.replays == 0 || k.corrected(t) == 0 { // a replay is a batch that a kill has left half done
		t.Error("no kill met the sink at work")
	}

	responses := k.responses(t, s)
	var again struct{ Imported, Skipped int }
	if err := json.Unmarshal([]byte(must(t, k.env, "import", file, "--org", "acme", "--create", k.create)), &again); err != nil {
		t.Fatal(err)
	}
	if told := k.lines * len(k.brands); again.Imported != 0 || again.Skipped != told {
		t.Errorf("imported again: %+v, want all %d skipped", again, told)
	}
	k.tellAll(t)
	k.counted(t, s)
	for path, before := range responses {
		if _, after := fetch(t, s.url+path, k.key); after != before {
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

// fewKills are enough for every run of the tests: the blows come in another order
// each time, and Apache Kafka keeps the partitions of a killed member for the session
// timeout.
var fewKills = map[string]int{"kafka": 6, "apache": 4}

// leastKills are a few, or as many as the environment says.
func leastKills(t *testing.T, kind string) int {
	t.Helper()
	text := os.Getenv(killsVariable)
	if text == "" {
		return fewKills[kind]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: want the number of kills on each broker", killsVariable, text)
	}
	return n
}

// killing is a data directory whose processes are killed over and over.
type killing struct {
	env    []string
	create string // the brands file
	key    string
	brands []string // ids, in the order of the brands file
	lines  int      // of the file, so far; each brand has as many visits
	random *rand.Rand

	organization uuid.UUID
	apache       *engine.ApacheKafka
	brokers      []string // nil: embedded
	blows        []blow

	start, landing time.Duration // how long an import takes undisturbed until its first answer lands, and from then to the last

	kills, partial, replays int
}

// partitions are those of the topic. Brands are added until each has some.
const partitions = 2

func newKilling(t *testing.T, kind string) *killing {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	k := &killing{
		env:    []string{"ANSWERSCOPE_DATA_DIR=" + dataDir(t), fmt.Sprintf("ANSWERSCOPE_KAFKA_PARTITIONS=%d", partitions)},
		random: rand.New(rand.NewPCG(seed, 0)),
		blows:  blows(kind),
	}
	rest := k.blows[1:]
	k.random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	if kind == "apache" {
		k.startApache(t)
		k.env = append(k.env, "ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(k.brokers, ","))
	}
	return k
}

// calm imports the first lines without a kill, and takes the time.
func (k *killing) calm(t *testing.T) {
	t.Helper()
	s := serve(t, k.env, "all")
	must(t, k.env, "org", "add", "Acme", "--slug", "acme")
	must(t, k.env, "user", "add", "ann@acme.example", "--org", "acme")
	k.key = must(t, k.env, "key", "create", "--org", "acme", "--user", "ann@acme.example", "--name", "test")
	k.organization = organizationOf(t, s, k.key)
	k.addBrands(t, s)

	began := time.Now()
	importing, warehouse, end := k.importing(t, s)
	defer end()
	k.awaitLanded(t, s, warehouse, 1)
	k.start = time.Since(began)
	k.awaitLanded(t, s, warehouse, k.told())
	k.landing = time.Since(began) - k.start
	if err := importing.Wait(); err != nil {
		t.Fatalf("import: %v\n%s", err, s.log)
	}
	t.Logf("an import undisturbed: its first answer lands after %s, its last %s later", k.start, k.landing)
	if status := s.stop(t, syscall.SIGTERM); status != exitDone {
		t.Errorf("all ended with status %d", status)
	}
}

// addBrands creates brands until every partition is that of one of them.
func (k *killing) addBrands(t *testing.T, s *server) {
	t.Helper()
	nothing, used := written(t, "none.ndjson", nil), map[int]bool{}
	for n := 6; len(used) < partitions; n++ {
		k.create = brandsOf(t, n)
		must(t, k.env, "import", nothing, "--org", "acme", "--create", k.create)
		k.brands = k.brandIDs(t, s)
		for _, id := range k.brands {
			used[producer.Partition(event.AnswerKey(uuid.Must(uuid.FromString(id))), []int{0, 1})] = true
		}
	}
}

func (k *killing) brandIDs(t *testing.T, s *server) []string {
	t.Helper()
	_, body := fetch(t, s.url+"/api/v1/brands", k.key)
	var list struct{ Brands []struct{ ID, Name string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("brands: %s, %v", body, err)
	}
	ids := make([]string, len(list.Brands))
	for _, brand := range list.Brands {
		for b, name := range lamps {
			if name == brand.Name {
				ids[b] = brand.ID
			}
		}
	}
	return ids
}

// importing starts an import of the file, grown by a round's lines, and opens
// the warehouse to look how it goes.
func (k *killing) importing(t *testing.T, s *server) (importing *exec.Cmd, warehouse *clickhouse.Conn, end func()) {
	t.Helper()
	k.lines += linesARound
	file := captured(t, k.lines)
	warehouse, leave := opened(t, k.env)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	importing = binary(ctx, k.env, "import", file, "--org", "acme", "--create", k.create)
	importing.Stderr = s.log
	if err := importing.Start(); err != nil {
		t.Fatal(err)
	}
	return importing, warehouse, func() { cancel(); leave() }
}

// told is how many answers a round brings.
func (k *killing) told() uint64 { return uint64(linesARound * len(k.brands)) }

func replaysOf(s *server) int {
	return strings.Count(s.log.String(), `msg="replaying planned batch"`)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// landed is how many answers of the present round are in the landing table.
func (k *killing) landed(t *testing.T, warehouse *clickhouse.Conn) (n uint64) {
	t.Helper()
	if err := warehouse.QueryRow(t.Context(), "SELECT count() FROM answers WHERE sample > ? AND text != ''", k.lines-linesARound).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (k *killing) awaitLanded(t *testing.T, s *server, warehouse *clickhouse.Conn, want uint64) {
	t.Helper()
	eventually(t, s, 5*time.Millisecond, func() string {
		if n := k.landed(t, warehouse); n < want {
			return fmt.Sprintf("%d answers of the round have landed, want %d", n, want)
		}
		return ""
	})
}

// eventually waits until look has nothing to say against it.
func eventually(t *testing.T, s *server, every time.Duration, look func() string) {
	t.Helper()
	again, deadline := time.NewTicker(every), time.After(bound)
	defer again.Stop()
	for {
		against := look()
		if against == "" {
			return
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("after %s: %s\n%s", bound, against, s.log)
		}
	}
}

// counted waits until every table counts every answer so far, none of them counts
// more, and the API and prompt_results say the same.
func (k *killing) counted(t *testing.T, s *server) {
	t.Helper()
	warehouse, leave := opened(t, k.env)
	defer leave()
	for _, tally := range tallies {
		eventually(t, s, 50*time.Millisecond, func() string { return k.differs(t, warehouse, tally, true) })
	}
	eventually(t, s, 100*time.Millisecond, func() string { return k.stale(t, warehouse) }) // what was on its way with older names has come by now
	for _, tally := range tallies {                                                        // an insert reaches the targets of views after the landing table
		eventually(t, s, 50*time.Millisecond, func() string { return k.differs(t, warehouse, tally, false) })
	}
	eventually(t, s, 50*time.Millisecond, func() string { return lags(t, warehouse) })
	eventually(t, s, 100*time.Millisecond, func() string { return k.writtenOtherwise(t, warehouse) })
	for b, id := range k.brands {
		k.summarized(t, s, b, id)
	}
}

// differs says what a tally finds of which brand instead of what it should,
// if only too little then only that.
func (k *killing) differs(t *testing.T, warehouse *clickhouse.Conn, tally tally, less bool) string {
	t.Helper()
	rows, err := warehouse.Query(t.Context(), tally.sql)
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
		if n, want := found[id], tally.want(k.lines, b); n < want || n > want && !less {
			return fmt.Sprintf("%s: %d of brand %s, want %d", tally.sql, n, id, want)
		}
	}
	return ""
}

// lags says where log_progress is, unless that is where the landing table is.
func lags(t *testing.T, warehouse *clickhouse.Conn) string {
	t.Helper()
	const sql = `SELECT
    (SELECT toString(groupArray((log_partition, last))) FROM (SELECT log_partition, max(last_offset) AS last FROM log_progress WHERE endsWith(log_topic, 'answers') GROUP BY ALL ORDER BY ALL)),
    (SELECT toString(groupArray((log_partition, last))) FROM (SELECT log_partition, max(log_offset) AS last FROM answers GROUP BY ALL ORDER BY ALL))`
	var reached, landed string
	if err := warehouse.QueryRow(t.Context(), sql).Scan(&reached, &landed); err != nil {
		t.Fatal(err)
	}
	if reached != landed || strings.Count(landed, "(") != partitions {
		return fmt.Sprintf("log_progress is at %s, the landing table at %s; want the same of %d partitions", reached, landed, partitions)
	}
	return ""
}

// summarized compares the summary of a brand with what was imported.
func (k *killing) summarized(t *testing.T, s *server, b int, id string) {
	t.Helper()
	status, body := fetch(t, s.url+"/api/v1/visibility-summary"+window(id), k.key)
	var summary struct {
		Totals struct {
			ResultCount, TotalMentions, TotalCitations, MentionAnswers uint64
		}
		TopCompetitors []struct{ Mentions uint64 }
	}
	if err := json.Unmarshal([]byte(body), &summary); err != nil || status != 200 || len(summary.TopCompetitors) != 1 {
		t.Fatalf("summary of %s: %d %s, %v", lamps[b], status, body, err)
	}
	named := ownNames(k.lines, b)
	want := summary
	want.Totals.ResultCount, want.Totals.TotalMentions, want.Totals.TotalCitations, want.Totals.MentionAnswers = uint64(k.lines), named, ownPages(k.lines, b), named
	if summary.Totals != want.Totals || summary.TopCompetitors[0].Mentions != rivalNames(k.lines, b) {
		t.Errorf("summary of %s: %s, want %+v and %d of the competitor", lamps[b], body, want.Totals, rivalNames(k.lines, b))
	}
}

// window asks for every day of the file.
func window(brand string) string {
	return "?brand_id=" + url.QueryEscape(brand) + "&date_from=2026-01-01&date_to=2026-06-30"
}

// responses are those of every endpoint, by path.
func (k *killing) responses(t *testing.T, s *server) map[string]string {
	t.Helper()
	paths := []string{"/api/v1/brands", "/api/v1/whoami"}
	for _, id := range k.brands {
		trend := "/api/v1/visibility-trend" + window(id)
		paths = append(paths, "/api/v1/visibility-summary"+window(id), trend, trend+"&granularity=week")
	}
	bodies := map[string]string{}
	for _, path := range paths {
		var status int
		if status, bodies[path] = fetch(t, s.url+path, k.key); status != 200 {
			t.Errorf("%s: %d %s", path, status, bodies[path])
		}
	}
	return bodies
}

// opened is the warehouse of a running data directory.
func opened(t *testing.T, env []string) (warehouse *clickhouse.Conn, leave func()) {
	t.Helper()
	dir := strings.TrimPrefix(env[0], "ANSWERSCOPE_DATA_DIR=")
	set, err := engine.Open(t.Context(), engine.Options{DataDir: dir, ClickHouse: true, Owner: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = set.ClickHouse()
	conn, err := clickhouse.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		if err := errors.Join(conn.Close(), set.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	}
}
