package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/powercut"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The machine loses power while beacons come, files are imported, crawls appended, names edited and brands deleted: at
// random moments and at the points of a record's way. Its disk then has what was synced, and little else. Each time
// everything starts by itself, and at the end each beacon that was answered 204, each imported answer and each crawl is
// counted once, nothing is left of a deleted brand, and reconcile finds nothing.
func TestPowerCutsLoseAndDoubleNothing(t *testing.T) {
	parallelUnlessLong(t)
	p := newPowerTest(t)
	cuts := leastCuts(t)
	s := p.prepare(t, cuts)
	for n := range cuts {
		p.round(t, n, s)
		s = nil
	}
	p.lines += linesARound // as after kills
	s = run.Launch(t, p.env, "all")
	if !s.Await(t) {
		t.Fatalf("all does not start:\n%s", s.Log)
	}
	p.beacons.url.Store(&s.URL)
	p.beacons.await(t, 204, 100)
	p.beacons.end()
	p.keptWhatWasAcknowledged(t)
	for _, brand := range p.doomed {
		p.remove(t, brand)
	}

	p.settleNames(t)
	run.Must(t, p.env, "import", run.Captured(t, p.lines), "--org", "acme", "--create", p.create)
	p.appendAll(t)
	p.counted(t, s)
	p.isWhole(t)
	if !t.Failed() {
		t.Logf("%d cuts of power, 0 lost, 0 doubled; %s", cuts, p.beacons)
	}
}

// leastCuts are one at a random moment and, in `make test-all`, one at a point, or a third of the kills of a long run.
func leastCuts(t *testing.T) int {
	if !run.LongRun() {
		return testkit.Draws(1, 2)
	}
	return max(30, leastKills(t)/3)
}

// A powerTest is a data directory on a disk that loses power.
type powerTest struct {
	*killing
	disk     *powercut.Disk
	beacons  *steadyBeacons
	doomed   []string // ids of brands, one of which is deleted in each round
	imported int      // lines that imports brought whose end was seen
}

// steadyBeacons come all the time. What is answered while the power goes is not known.
type steadyBeacons struct {
	*browserLoad
	end func()
}

func newPowerTest(t *testing.T) *powerTest {
	t.Helper()
	k := newKilling(t, "kafka")
	dir := strings.TrimPrefix(k.env[0], "ANSWERSCOPE_DATA_DIR=")
	// Merged parts are removed as soon as their settings let them.
	quick := filepath.Join(dir, "clickhouse", "config.d", "quick.xml")
	if err := os.MkdirAll(filepath.Dir(quick), 0o700); err != nil {
		t.Fatal(err)
	}
	const settings = `<clickhouse><merge_tree>
		<cleanup_delay_period>1</cleanup_delay_period>
		<cleanup_delay_period_random_add>0</cleanup_delay_period_random_add>
		<max_cleanup_delay_period>1</max_cleanup_delay_period>
	</merge_tree></clickhouse>`
	if err := os.WriteFile(quick, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	k.env = append(k.env, "ANSWERSCOPE_SITE_LIMIT=1000000")
	return &powerTest{killing: k, disk: powercut.Mount(t, dir, k.random)}
}

// prepare starts all, makes the brands, of which so many are to be deleted, and starts the beacons.
func (p *powerTest) prepare(t *testing.T, cuts int) *run.Server {
	t.Helper()
	s := run.Serve(t, p.env, "all")
	p.undisturbedRound(t, s)
	var specs []string
	for n := range cuts {
		specs = append(specs,
			fmt.Sprintf(`{"name":"Doomed %d","slug":"doomed-%[1]d","domains":["doomed%[1]d.example"]}`, n))
	}
	nothing := run.Written(t, "none.ndjson", nil)
	for _, file := range []string{run.BrandsFile, `{"brands":[` + strings.Join(specs, ",") + `]}`} {
		run.Must(t, p.env, "import", nothing, "--org", "acme", "--create", run.Written(t, "brands.json", []byte(file)))
	}
	var site string
	if err := run.InPostgres(t, p.env, func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, "SELECT id::text FROM public.brands WHERE slug = 'acme'").Scan(&site); err != nil {
			return err
		}
		return conn.QueryRow(ctx,
			"SELECT array_agg(id::text ORDER BY slug) FROM public.brands WHERE slug LIKE 'doomed-%'").Scan(&p.doomed)
	}); err != nil {
		t.Fatal(err)
	}
	ofDoomed := *p.killing
	ofDoomed.brands = p.doomed
	if err := ofDoomed.append(t.Context(), t, 30*time.Second, ofDoomed.portions(t, 0, 2)...); err != nil {
		t.Fatal(err)
	}
	p.beacons = &steadyBeacons{browserLoad: browsing(site, s, 1)}
	p.beacons.end = p.beacons.browse(t, draws(50, 200))
	p.beacons.await(t, 204, 100)
	return s
}

// cut takes the power from a process, its engines and others that use the disk, and gives it back when all have ended.
func (p *powerTest) cut(t *testing.T, s *run.Server, others ...func()) {
	t.Helper()
	p.beacons.unsure.Store(true)
	p.disk.Cut()
	s.Stop(t, syscall.SIGKILL)
	for _, end := range others {
		end()
	}
	p.disk.Restore(t)
	p.beacons.unsure.Store(false)
}

// round starts all unless it runs, imports, appends, edits, deletes a brand, and cuts the power at a random moment or
// at a point.
func (p *powerTest) round(t *testing.T, n int, s *run.Server) {
	t.Helper()
	at := fault.Point("")
	if n%2 == 1 {
		at = fault.Points[p.random.IntN(len(fault.Points))]
	}
	p.lines += linesARound
	isReady := s != nil
	if !isReady {
		s = run.Launch(t, p.armed(at), "all")
		isReady = s.Await(t)
	}
	if !isReady {
		if !s.Shot() {
			t.Fatalf("after %d cuts all does not start:\n%s", n, s.Log)
		}
		p.cut(t, s)
		t.Logf("cut %d: at %s, before all was ready", n+1, at)
		return
	}
	p.beacons.url.Store(&s.URL)
	p.edit(t, p.brands[:1])
	p.remove(t, p.doomed[n])
	p.imports = p.importing(t, s, "")
	endAppending := p.appending(t)
	if at == "" {
		p.wait(t, s)
	} else {
		p.awaitEnd(t, s)
	}
	p.beacons.unsure.Store(true)
	seen := p.imports.whole.Load()
	p.cut(t, s, func() { p.imports.finish(true) }, endAppending)
	p.imported = max(p.imported, int(seen))
	t.Logf("cut %d: at %q, %d planned batches of earlier rounds replayed", n+1, at, replaysOf(s))
}

// remove deletes a brand, all of whose rows are purged then.
func (p *powerTest) remove(t *testing.T, brand string) {
	t.Helper()
	if err := run.InPostgres(t, p.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DELETE FROM public.brands WHERE id = $1", brand)
		return err
	}); err != nil {
		t.Logf("delete a brand: %v", err) // Postgres goes with the process that dies; they are deleted again at the end
	}
}

// keptWhatWasAcknowledged waits until the beacons and the lines of imports that are known to have ended are counted.
func (p *powerTest) keptWhatWasAcknowledged(t *testing.T) {
	t.Helper()
	warehouse, leave := p.opened(t)
	defer leave()
	number := func(question string, args ...any) (n uint64) {
		if err := warehouse.QueryRow(t.Context(), question, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	wait.Until(t, func() string {
		want := uint64(p.imported * len(p.brands))
		if n := number("SELECT toUInt64(sum(sign)) FROM answers WHERE sample <= ?", p.imported); n < want {
			return fmt.Sprintf("%d answers of imports that had ended are counted, want %d", n, want)
		}
		return ""
	})
	accepted := uint64(p.beacons.count(204))
	wait.Until(t, func() string {
		if n := number("SELECT count() FROM visits WHERE session != ''"); n < accepted {
			return fmt.Sprintf("%d visits of beacons are counted, and %d were accepted", n, accepted)
		}
		return ""
	})
}

// isWhole checks what the checks after kills do not: beacons, deleted brands, and that no comparison finds anything.
func (p *powerTest) isWhole(t *testing.T) {
	t.Helper()
	warehouse, leave := p.opened(t)
	defer leave()
	found := sessionsIn(t, warehouse)
	delete(found, "") // of visits that were appended
	p.beacons.judge(t, found)
	nothingIsLeft(t, warehouse, p.doomed)
	var detached []string
	if err := warehouse.QueryRow(t.Context(),
		"SELECT groupArray(table || ' ' || name || ' ' || reason) FROM system.detached_parts").
		Scan(&detached); err != nil {
		t.Fatal(err)
	}
	t.Logf("detached parts: %q", detached)
	if said := run.Must(t, p.env, "reconcile"); strings.Contains(said, "\n") ||
		!strings.Contains(said, "repaired 0, left 0") {
		t.Errorf("reconcile found:\n%s", said)
	}
}

// nothingIsLeft waits until the visits and crawls of deleted brands are purged.
func nothingIsLeft(t *testing.T, warehouse *clickhouse.Conn, brands []string) {
	t.Helper()
	const question = "SELECT count() FROM {table:Identifier} WHERE has({brands:Array(UUID)}, brand_id)"
	for _, table := range []string{"visits", "visit_daily", "crawls", "crawl_daily"} {
		wait.Until(t, func() string {
			var rows uint64
			if err := warehouse.QueryRow(t.Context(), question,
				driver.Named("table", table), driver.Named("brands", brands)).Scan(&rows); err != nil {
				t.Fatal(err)
			}
			if rows > 0 {
				return fmt.Sprintf("%s has %d rows of deleted brands", table, rows)
			}
			return ""
		})
	}
}
