//go:build all

package engines

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Everything on a warehouse of two shards: brought up on request, filled by import, asked by the API, reconciled,
// recovered and exported. Then a third shard is added.
func TestEverythingOnTwoShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := testkit.NewGrowingShards(t, 3)
	shards := servers.Start(t, 0, 2) + ";" + servers.Start(t, 1, 2)
	env := []string{
		"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t),
		"ANSWERSCOPE_POSTGRES_DSN=" + store.ControlPlane(t).DSN,
		"ANSWERSCOPE_CLICKHOUSE_SHARDS=" + shards,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(testkit.Kafka(t), ","),
		"ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + testkit.Prefix(t),
		"ANSWERSCOPE_KAFKA_PARTITIONS=4",
	}
	if r := run.ToEnd(t, env, "", "migrate", "--check"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stdout, "clickhouse shard 0: new server ") ||
		!strings.Contains(r.Stdout, "clickhouse shard 1: new server ") {
		t.Errorf("migrate --check: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	run.Must(t, env, "migrate")
	if r := run.ToEnd(t, env, "", "migrate", "--check"); r.Status != run.ExitDone || r.Stdout != "" {
		t.Errorf("migrate --check after migrate: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	s := run.Serve(t, env, "all")
	run.Must(t, env, "org", "add", "Acme Inc")
	run.Must(t, env, "user", "add", "ana@example.org", "--org", "acme-inc", "--role", "owner")
	key := run.Must(t, env, "key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "test")
	answers, brands := filepath.Join(dir, "answers.ndjson"), filepath.Join(dir, "brands.json")
	now := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	run.Write(t, brands, run.BrandsFile)
	run.Write(t, answers, fmt.Sprintf(run.AnswersFile, now, now, now))
	if r := run.ToEnd(t, env, "", "import", answers, "--org", "acme-inc",
		"--create", brands); r.Stdout != `{"imported":2,"skipped":0,"refused":1}`+"\n" {
		t.Fatalf("import: status %d, stdout %s, stderr %s", r.Status, r.Stdout, r.Stderr)
	}
	run.AwaitResults(t, s.URL, key, 2)
	if r := run.ToEnd(t, env, "", "import", answers, "--org", "acme-inc",
		"--brand", "acme"); r.Stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import again: %s%s", r.Stdout, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "reconcile"); r.Status != run.ExitDone {
		t.Errorf("reconcile: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	loseRows(t, env, "answer_daily")
	if r := run.ToEnd(t, env, "", "reconcile"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stdout, "answer_daily") {
		t.Errorf("reconcile of a rollup that lacks rows: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "reconcile", "--fix"); r.Status != run.ExitDone {
		t.Errorf("reconcile --fix: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	loseRows(t, env, "answers")
	if r := run.ToEnd(t, env, "", "recover", "answers",
		now[:len("2026-03")]); r.Stdout != `{"read":2,"present":0,"recovered":2}`+"\n" {
		t.Errorf("recover: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "reconcile"); r.Status != run.ExitDone {
		t.Errorf("reconcile after what was lost is back: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	run.AwaitResults(t, s.URL, key, 2)
	if text := run.Must(t, env, "export", "--org", "acme-inc", "--brand", "acme"); strings.Count(text, "\n") < 1 ||
		!strings.Contains(text, "Acme makes the best anvil.") {
		t.Errorf("export: %s", text)
	}
	if r := run.ToEnd(t, env, "", "analyst", "add", "bob", "--org", "acme-inc"); r.Status != run.ExitDone ||
		!strings.Contains(r.Stdout, "answers_local") || !strings.Contains(r.Stderr, "every server") {
		t.Errorf("analyst add: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	growth{env, servers, servers.Start(t, 2, 3)}.addShard(t, s, key, answers)
}

// loseRows takes the rows of a table away, on whichever shard they are.
func loseRows(t *testing.T, env []string, table string) {
	t.Helper()
	c := clickhouse.DefaultConfig()
	for _, entry := range env {
		if shards, ok := strings.CutPrefix(entry, "ANSWERSCOPE_CLICKHOUSE_SHARDS="); ok {
			c.Shards = shards
		}
	}
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for n := range conn.Shards() {
		shard, err := conn.Shard(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := shard.Exec(t.Context(),
			"ALTER TABLE "+table+"_local DELETE WHERE 1 SETTINGS mutations_sync = 1"); err != nil {
			t.Fatal(err)
		}
	}
}
