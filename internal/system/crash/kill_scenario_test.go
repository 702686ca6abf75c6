package crash

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A scenario is one way to kill. What strike leaves alive is killed after it.
type scenario struct {
	name     string
	all      fault.Point // where the process that serves dies by itself; "": nowhere
	importer fault.Point // likewise the import
	strike   func(k *killing, t *testing.T, s *run.Server)
}

// scenarios are every way to kill on a broker: first those of every run of the tests, of which the second leaves a
// batch to replay.
func scenarios(kind string) []scenario {
	all := []scenario{
		{name: "second pipeline", strike: (*killing).rebalance},
		diesAt(fault.Inserted),
		{name: "at a random moment", strike: (*killing).wait},
		{name: "import at " + string(fault.Produced), importer: fault.Produced, strike: (*killing).awaitImport},
		{name: "ClickHouse", strike: func(k *killing, t *testing.T, s *run.Server) {
			k.killEngine(t, s, "clickhouse")
		}},
		{name: "PostgreSQL", strike: func(k *killing, t *testing.T, s *run.Server) { k.killEngine(t, s, "postgres") }},
	}
	if kind == "apache" {
		all = append(all, scenario{name: "Apache Kafka", strike: (*killing).killApache})
	}
	for _, point := range fault.Points {
		if point != fault.Inserted {
			all = append(all, diesAt(point))
		}
	}
	return all
}

func diesAt(point fault.Point) scenario {
	return scenario{name: "all at " + string(point), all: point, strike: (*killing).awaitEnd}
}

// scenario is the n-th: each in turn.
func (k *killing) scenario(n int) scenario { return k.scenarios[n%len(k.scenarios)] }

// round starts all unless it runs, imports, visits and edits, and strikes.
func (k *killing) round(t *testing.T, b scenario, s *run.Server) {
	t.Helper()
	isReady := s != nil
	if !isReady {
		s = run.Launch(t, k.armed(b.all), "all")
		isReady = s.Await(t)
	}
	defer func() {
		s.Stop(t, syscall.SIGKILL)
		k.kills++
		k.replays += replaysOf(s)
	}()
	k.lines += linesARound
	if !isReady { // it came to its point with what earlier rounds had left
		if b.all == "" || !k.note(b, s) {
			t.Errorf("all ended before it was ready:\n%s", s.Log)
		}
		t.Logf("kill %d: %s, before it was ready", k.kills+1, b.name)
		return
	}
	k.edit(t, k.toEdit(b))
	k.imports = k.importing(t, s, b.importer)
	defer func() { k.imports.finish(k.random.IntN(2) == 0) }()
	defer k.appending(t)()
	b.strike(k, t, s)
	how := "killed"
	if k.note(b, s) {
		how = "died by itself"
	}
	k.imports.enough.Store(true)
	s.Stop(t, syscall.SIGKILL)
	t.Logf("kill %d: %s, %s; %d planned batches of earlier rounds replayed", k.kills+1, b.name, how, replaysOf(s))
}

// armed is the environment of a process that dies at one of the first passes of a point.
func (k *killing) armed(at fault.Point) []string {
	if at == "" {
		return k.env
	}
	return append(slices.Clip(k.env), fmt.Sprintf("%s=%s:%d", fault.Variable, at, 1+k.random.IntN(4)))
}

// toEdit is one brand at random; where all is to die of what it rereads, each of them, which is a page at least.
func (k *killing) toEdit(b scenario) []string {
	if b.all == fault.Produced || b.all == fault.Requested {
		return k.brands
	}
	at := k.random.IntN(len(k.brands))
	return k.brands[at : at+1]
}

// pointTimeout is how long a process may take to come to its point.
const pointTimeout = 30 * time.Second

// awaitEnd waits until s dies by itself.
func (k *killing) awaitEnd(t *testing.T, s *run.Server) {
	t.Helper()
	select {
	case <-s.Ended:
	case <-time.After(pointTimeout):
	}
}

// awaitImport waits until an import dies by itself, and then for a random moment, in which what it has appended may
// land.
func (k *killing) awaitImport(t *testing.T, _ *run.Server) {
	t.Helper()
	select {
	case <-k.imports.over:
	case <-time.After(pointTimeout):
	}
	<-time.After(time.Duration(k.random.Int64N(int64(k.start))))
}

// wait waits for a random moment: in one round of four before the first answer usually lands, else when a random number
// of them has, up to three quarters, and a random part of a batch's time later.
func (k *killing) wait(t *testing.T, s *run.Server) {
	t.Helper()
	warehouse, leave := k.opened(t)
	defer leave()
	wait := k.start
	if k.random.IntN(4) > 0 {
		k.awaitLanded(t, s, warehouse, 1+k.random.Uint64N(k.answersOfRound()*3/4))
		wait = k.landing / 10
	}
	<-time.After(time.Duration(k.random.Int64N(int64(wait))))
	if landed := k.landed(t, warehouse); landed > 0 && landed < k.answersOfRound() {
		k.partial++
	}
}

// rebalance has a second pipeline join the groups and die in them. In one turn of three what goes on is left alone
// until it has inherited the partitions, which is when the session of the dead one is over, and has landed what was
// appended meanwhile.
func (k *killing) rebalance(t *testing.T, s *run.Server) {
	t.Helper()
	second := run.Launch(t, k.env, "pipeline")
	if !second.Await(t) {
		t.Errorf("a second pipeline ended:\n%s", second.Log)
	}
	<-time.After(time.Duration(k.random.Int64N(int64(2 * time.Second))))
	before := len(s.Log.String())
	second.Stop(t, syscall.SIGKILL)
	k.replays += replaysOf(second)
	k.kills++
	if k.rebalances++; k.rebalances%3 == 1 {
		k.inherit(t, s, before)
		return
	}
	<-time.After(time.Duration(k.random.Int64N(int64(2 * time.Second))))
}

// inherit imports more while s waits for the partitions of a dead one, until its log, from an index on, says that it
// has all of them, and all has landed.
func (k *killing) inherit(t *testing.T, s *run.Server, from int) {
	t.Helper()
	k.lines += linesARound
	more := k.importing(t, s, "")
	defer more.finish(true)
	wait.Until(t, func() string {
		for _, of := range [][2]string{
			{run.GroupOfAnswers, event.TopicAnswers}, {run.GroupOfVisits, event.TopicVisits},
			{run.GroupOfResults, event.TopicAnswers},
		} {
			group := of[0] + " topic=" + of[1]
			if !hasAll(s.Log.String()[from:], group) {
				return "not all partitions are those of the survivor in " + group
			}
		}
		return ""
	})
	warehouse, leave := k.opened(t)
	defer leave()
	k.awaitLanded(t, s, warehouse, k.answersOfRound())
	k.inherited++
}

// hasAll says whether a log says that a member of a group was assigned all partitions.
func hasAll(log, group string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, `msg="partitions assigned" group=`+group+" ") &&
			strings.HasSuffix(line, fmt.Sprintf(" partitions=%d\n", run.Partitions)) {
			return true
		}
	}
	return false
}

// killEngine kills an engine of the process under it, which starts it again.
func (k *killing) killEngine(t *testing.T, s *run.Server, name string) {
	t.Helper()
	<-time.After(time.Duration(k.random.Int64N(int64(2 * time.Second))))
	pid := childOf(t, s.Cmd.Process.Pid, name)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %s: %v", name, err)
	}
	<-time.After(time.Duration(k.random.Int64N(int64(4 * time.Second))))
}

// childOf is the child of a process whose command line names something.
func childOf(t *testing.T, parent int, name string) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var pid, of int
		var state string
		_, after, _ := strings.Cut(string(text), ") ")
		if _, err := fmt.Sscan(after, &state, &of); err != nil || of != parent {
			continue
		}
		if _, err := fmt.Sscan(string(text), &pid); err != nil {
			t.Fatal(err)
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), name) {
			return pid
		}
	}
	t.Fatalf("process %d has no child of %s", parent, name)
	return 0
}

// startApache starts an Apache Kafka of this test's own, which it may kill, or
// starts it again on the same directory and port.
func (k *killing) startApache(t *testing.T) {
	t.Helper()
	dir := filepath.Join(strings.TrimPrefix(k.env[0], "ANSWERSCOPE_DATA_DIR="), "..", "apache")
	var err error
	k.apache, err = engine.StartApacheKafka(context.WithoutCancel(t.Context()),
		engine.ApacheKafkaConfig{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	started := k.apache
	t.Cleanup(func() { _ = started.Stop(context.Background()) }) // killed, mostly
	k.brokers = k.apache.Brokers()
}

// killApache kills the broker in the middle of an import; it is back before the process beside it is killed.
func (k *killing) killApache(t *testing.T, s *run.Server) {
	t.Helper()
	k.wait(t, s)
	if err := syscall.Kill(k.apache.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = k.apache.Stop(context.Background()) // what is left of it
	k.startApache(t)
	<-time.After(time.Duration(k.random.Int64N(int64(3 * time.Second))))
}

// editings change how a brand's answers are read: a name of its own, which is in every text, and a competitor.
var editings = []string{
	`UPDATE public.brands SET aliases = CASE WHEN aliases = '{}' THEN '{"a fine one"}'::text[] ELSE '{}' END ` +
		`WHERE id = $1`,
	`WITH gone AS (DELETE FROM public.competitors WHERE brand_id = $1 AND name = 'Other' RETURNING id)
	INSERT INTO public.competitors (brand_id, name, aliases) SELECT $1, 'Other', '{"fine one"}'
		WHERE NOT EXISTS (SELECT FROM gone)`,
}

// edit edits brands, each at random.
func (k *killing) edit(t *testing.T, brands []string) {
	t.Helper()
	if err := run.InPostgres(t, k.env, func(ctx context.Context, conn *pgx.Conn) error {
		for _, brand := range brands {
			if _, err := conn.Exec(ctx, editings[k.random.IntN(len(editings))], brand); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Logf("edit: %v", err) // Postgres goes with the process that dies
	}
}

// settleNames takes every edit back.
func (k *killing) settleNames(t *testing.T) {
	t.Helper()
	if err := run.InPostgres(t, k.env, func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range []string{
			`UPDATE public.brands SET aliases = '{}'`, `DELETE FROM public.competitors WHERE name = 'Other'`,
		} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// corrected is how many readings were replaced by others.
func (k *killing) corrected(t *testing.T) (n uint64) {
	t.Helper()
	warehouse, leave := k.opened(t)
	defer leave()
	if err := warehouse.QueryRow(t.Context(), "SELECT countIf(sign = -1) FROM answers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// stale says how many answers stand as older names have read them, once the warehouse has learned the newest.
func (k *killing) stale(t *testing.T, warehouse *clickhouse.Conn) string {
	t.Helper()
	var unheard int
	if err := run.InPostgres(t, k.env, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT count(*) FROM private.outbox").Scan(&unheard)
	}); err != nil {
		t.Fatal(err)
	}
	if unheard > 0 {
		return fmt.Sprintf("the warehouse has yet to learn %d changes", unheard)
	}
	const question = `
		SELECT toInt64(sum(answers.sign))
		FROM answers
		INNER JOIN (SELECT id, argMax(revision, version) AS newest FROM dimension_brands GROUP BY id) AS brands
			ON brands.id = answers.brand_id
		WHERE answers.revision < brands.newest`
	var n int64
	if err := warehouse.QueryRow(t.Context(), question).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		return fmt.Sprintf("%d answers stand as older names have read them", n)
	}
	return ""
}
