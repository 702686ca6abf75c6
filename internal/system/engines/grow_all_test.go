//go:build all

package engines

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A growth is an installation on two shards, and a server that is to be the third.
type growth struct {
	env     []string // with the addresses of all
	servers *testkit.GrowingShards
	added   string
}

// refused migrates, which names what is left.
func (g growth) refused(t *testing.T, flag string, says ...string) {
	t.Helper()
	r := run.ToEnd(t, g.env, "", strings.Fields("migrate "+flag)...)
	for _, want := range says {
		if r.Status != run.ExitFailed || !strings.Contains(r.Stdout+r.Stderr, want) {
			t.Errorf("migrate %s: status %d, %s%s, want %s", flag, r.Status, r.Stdout, r.Stderr, want)
		}
	}
}

// killed migrates until a step is reported, and kills it there.
func (g growth) killed(t *testing.T, step string) {
	t.Helper()
	cmd, log := run.Command(t.Context(), t, g.env, "migrate"), &logbuffer.Buffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the step "+step, func() bool { return strings.Contains(log.String(), step) })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (g growth) open(t *testing.T, server string) *clickhouse.Conn {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = server
	return store.OpenWarehouse(t, c)
}

func (g growth) exec(t *testing.T, statement string) {
	t.Helper()
	if err := g.open(t, g.added).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func (g growth) competitors(t *testing.T, server string) (n uint64) {
	t.Helper()
	row := g.open(t, server).QueryRow(t.Context(), "SELECT count() FROM dimension_competitors FINAL")
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// comeIn imports two answers, which the summary counts beside others.
func (g growth) comeIn(t *testing.T, s *run.Server, key string, others int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "more.ndjson")
	at := time.Now().UTC().Add(-time.Minute * time.Duration(others)).Format(time.RFC3339)
	run.Write(t, file, strings.Join(strings.SplitAfter(fmt.Sprintf(run.AnswersFile, at, at, at), "\n")[:2], ""))
	run.Must(t, g.env, "import", file, "--org", "acme-inc", "--brand", "acme")
	run.AwaitResults(t, s.URL, key, others+2)
}

// addShard adds the third shard while everything runs and rows come in. The command is killed, says what people must do
// before it can go on, and in the end all rows are counted, and the shard has what was edited meanwhile.
func (g growth) addShard(t *testing.T, s *run.Server, key, answers string) {
	t.Helper()
	before := g.env
	g.env = slices.Clone(before)
	for i, entry := range g.env {
		if strings.HasPrefix(entry, "ANSWERSCOPE_CLICKHOUSE_SHARDS=") {
			g.env[i] += ";" + g.added
		}
	}
	host := clickhouse.HostOf(g.added)
	g.refused(t, "--check", "clickhouse shard 2: new server "+host, "list "+host+" in remote_servers of 127.0.0.1:")
	g.exec(t, "CREATE TABLE strange ENGINE = MergeTree ORDER BY () AS SELECT 1 AS n")
	g.refused(t, "", "has 1 rows of its own: want an empty database")
	g.exec(t, "DROP TABLE strange SYNC")
	g.killed(t, "shard 2: 0009_")
	g.refused(t, "", "the new servers are prepared: list "+host+" in remote_servers of 127.0.0.1:")
	growth{env: before}.comeIn(t, s, key, 2)
	if r := run.ToEnd(t, g.env, "", "pipeline"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "shard 2: new server "+host) {
		t.Errorf("a process with a shard that is not complete: status %d, %s", r.Status, r.Stderr)
	}
	var first string
	for n := range 2 {
		first = g.servers.Start(t, n, 3)
	}
	run.Must(t, g.env, "migrate")
	if steps := run.Must(t, g.env, "migrate", "--check"); steps != "" {
		t.Errorf("in the end steps remain: %s", steps)
	}
	growth{env: before}.comeIn(t, s, key, 4)
	// The process that runs copies the edit to the two shards that it knows.
	run.Must(t, before, "competitor", "add", "Initech", "--org", "acme-inc", "--brand", "acme")
	wait.For(t, "the competitor to be copied", func() bool { return g.competitors(t, first) == 2 })
	if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("all ended with status %d", status)
	}
	if n := g.competitors(t, g.added); n != 1 {
		t.Errorf("the new shard has %d competitors before a process knows it", n)
	}
	s = run.Serve(t, g.env, "all")
	wait.For(t, "the competitor on the new shard", func() bool { return g.competitors(t, g.added) == 2 })
	if r := run.ToEnd(t, g.env, "", "import", answers, "--org", "acme-inc",
		"--brand", "acme"); r.Stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import on three shards: %s%s", r.Stdout, r.Stderr)
	}
	g.comeIn(t, s, key, 6)
}
