package system

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
	r := run(t, g.env, "", strings.Fields("migrate "+flag)...)
	for _, want := range says {
		if r.status != exitFailed || !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("migrate %s: status %d, %s%s, want %s", flag, r.status, r.stdout, r.stderr, want)
		}
	}
}

// killed migrates until a step is reported, and kills it there.
func (g growth) killed(t *testing.T, step string) {
	t.Helper()
	cmd, log := binary(t.Context(), g.env, "migrate"), &logbuffer.Buffer{}
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
func (g growth) comeIn(t *testing.T, s *server, key string, others int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "more.ndjson")
	at := time.Now().UTC().Add(-time.Minute * time.Duration(others)).Format(time.RFC3339)
	write(t, file, strings.Join(strings.SplitAfter(fmt.Sprintf(answersFile, at, at, at), "\n")[:2], ""))
	must(t, g.env, "import", file, "--org", "acme-inc", "--brand", "acme")
	awaitResults(t, s.url, key, others+2)
}

// addShard adds the third shard while everything runs and rows come in. The command is killed, says what people must do
// before it can go on, and in the end all rows are counted, and the shard has what was edited meanwhile.
func (g growth) addShard(t *testing.T, s *server, key, answers string) {
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
	if r := run(t, g.env, "", "pipeline"); r.status != exitFailed || !strings.Contains(r.stderr, "shard 2: new server "+host) {
		t.Errorf("a process with a shard that is not complete: status %d, %s", r.status, r.stderr)
	}
	var first string
	for n := range 2 {
		first = g.servers.Start(t, n, 3)
	}
	must(t, g.env, "migrate")
	if steps := must(t, g.env, "migrate", "--check"); steps != "" {
		t.Errorf("in the end steps remain: %s", steps)
	}
	growth{env: before}.comeIn(t, s, key, 4)
	// The process that runs copies the edit to the two shards that it knows.
	must(t, before, "competitor", "add", "Initech", "--org", "acme-inc", "--brand", "acme")
	wait.For(t, "the competitor to be copied", func() bool { return g.competitors(t, first) == 2 })
	if status := s.stop(t, syscall.SIGTERM); status != exitDone {
		t.Errorf("all ended with status %d", status)
	}
	if n := g.competitors(t, g.added); n != 1 {
		t.Errorf("the new shard has %d competitors before a process knows it", n)
	}
	s = serve(t, g.env, "all")
	wait.For(t, "the competitor on the new shard", func() bool { return g.competitors(t, g.added) == 2 })
	if r := run(t, g.env, "", "import", answers, "--org", "acme-inc", "--brand", "acme"); r.stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import on three shards: %s%s", r.stdout, r.stderr)
	}
	g.comeIn(t, s, key, 6)
}
