package system

import (
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A growth is an installation on two shards, and a server that is to be the third.
type growth struct {
	env     []string
	servers *testkit.GrowingShards
	added   string
}

func (g growth) command() []string {
	return []string{"cluster", "add-shard", clickhouse.HostOf(g.added)}
}

// refused runs the command, which has steps left that it names.
func (g growth) refused(t *testing.T, flag string, says ...string) {
	t.Helper()
	r := run(t, g.env, "", strings.Fields(strings.Join(g.command(), " ")+" "+flag)...)
	for _, want := range says {
		if r.status != exitFailed || !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("add-shard %s: status %d, %s%s, want %s", flag, r.status, r.stdout, r.stderr, want)
		}
	}
}

// killed runs the command until it reports a step, and kills it there.
func (g growth) killed(t *testing.T, step string) {
	t.Helper()
	cmd, log := binary(t.Context(), g.env, g.command()...), &logbuffer.Buffer{}
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

// addShard adds the third shard while everything runs. The command is killed twice, says what people must do before it
// can go on, and in the end figures are what they were, and the shard has what was edited meanwhile.
func (g growth) addShard(t *testing.T, s *server, key, answers string) {
	t.Helper()
	g.refused(t, "--check", "clickhouse shard 2: 0001_answers", "list it in remote_servers of 127.0.0.1:", "restart answerscope all with the new addresses")
	g.exec(t, "CREATE TABLE strange ENGINE = MergeTree ORDER BY () AS SELECT 1 AS n")
	g.refused(t, "", "has 1 rows of its own: want an empty database")
	g.exec(t, "DROP TABLE strange SYNC")
	for _, step := range []string{"shard 2: 0009_", "shard 2: rows of dimensions"} {
		g.killed(t, step)
	}
	g.refused(t, "", "append it to cluster answerscope in remote_servers of 127.0.0.1:")
	awaitResults(t, s.url, key, 2)
	var first string
	for n := range 2 {
		first = g.servers.Start(t, n, 3)
	}
	g.refused(t, "", "restart answerscope all with its addresses")
	// The process that runs copies the edit to the two shards that it knows.
	must(t, g.env, "competitor", "add", "Initech", "--org", "acme-inc", "--brand", "acme")
	wait.For(t, "the competitor to be copied", func() bool { return g.competitors(t, first) == 2 })
	if status := s.stop(t, syscall.SIGTERM); status != exitDone {
		t.Errorf("all ended with status %d", status)
	}
	for i, entry := range g.env {
		if strings.HasPrefix(entry, "ANSWERSCOPE_CLICKHOUSE_SHARDS=") {
			g.env[i] += ";" + g.added
		}
	}
	s = serve(t, g.env, "all")
	g.refused(t, "--check", "shard 2: rows of dimension_competitors")
	must(t, g.env, g.command()...)
	if steps := must(t, g.env, append(g.command(), "--check")...); steps != "" || g.competitors(t, g.added) != 2 {
		t.Errorf("in the end steps remain: %s, and the shard has %d competitors, want 2", steps, g.competitors(t, g.added))
	}
	if r := run(t, g.env, "", "import", answers, "--org", "acme-inc", "--brand", "acme"); r.stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import on three shards: %s%s", r.stdout, r.stderr)
	}
	awaitResults(t, s.url, key, 2)
}
