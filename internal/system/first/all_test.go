package first

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The whole of a first hour: start, join, make a key, bring answers in, ask, be refused a second owner, stop, come
// back.
func TestAllFromTheFirstStartToTheNext(t *testing.T) {
	t.Parallel()
	dir := run.DataDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	first := run.Serve(t, env, "all")
	if status, body := run.Fetch(t, first.URL+"/healthz", ""); status != 200 || body != `{"status":"ok"}` {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, body := run.Fetch(t, first.Admin(t)+"/readyz", ""); status != 200 {
		t.Errorf("readyz: %d %s", status, body)
	}
	if log := first.Log.String(); !strings.Contains(log, "\n  "+run.Binary(t)+" org add \"Acme\"\n") {
		t.Errorf("an empty installation does not say what is next:\n%s", log)
	}

	organization := strings.Fields(run.Must(t, env, "org", "add", "Acme Inc"))
	if len(organization) != 2 || organization[1] != "acme-inc" {
		t.Fatalf("org add printed %q", organization)
	}
	added := strings.Split(run.Must(t, env, "user", "add", "ana@example.org", "--org", "acme-inc", "--role", "owner"),
		"\n")
	if len(added) != 2 || !strings.HasSuffix(added[0], " ana@example.org owner") ||
		!strings.HasPrefix(added[1], "password ") {
		t.Errorf("user add printed %q", added)
	}
	key := run.Must(t, env, "key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "test")
	if status, body := run.Fetch(t, first.URL+"/api/v1/whoami", key); status != 200 ||
		!strings.Contains(body, organization[0]) {
		t.Errorf("whoami: %d %s", status, body)
	}

	answers, brands := filepath.Join(dir, "answers.ndjson"), filepath.Join(dir, "brands.json")
	now := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	run.Write(t, brands, run.BrandsFile)
	run.Write(t, answers, fmt.Sprintf(run.AnswersFile, now, now, now))
	r := run.ToEnd(t, env, "", "import", answers, "--org", "acme-inc", "--create", brands)
	if r.Status != run.ExitRefused || r.Stdout != `{"imported":2,"skipped":0,"refused":1}`+"\n" ||
		!strings.Contains(r.Stderr, "line 3: ") {
		t.Fatalf("import: status %d, stdout %s, stderr %s", r.Status, r.Stdout, r.Stderr)
	}
	summary := run.AwaitResults(t, first.URL, key, 2)

	second := run.ToEnd(t, env, "", "all", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if second.Status != run.ExitFailed || !strings.Contains(second.Stderr, first.URL) || second.Stdout != "" {
		t.Errorf("a second all: status %d, stdout %q, stderr %q, want it refused with %s", second.Status, second.Stdout,
			second.Stderr, first.URL)
	}
	check := run.ToEnd(t, env, "", "cluster", "add-partitions", "8", "--check")
	if check.Status != run.ExitFailed || !strings.Contains(check.Stdout, "kafka topic answers, 6 to 8 partitions") ||
		!strings.Contains(check.Stderr, "answerscope all is running: stop it") {
		t.Errorf("more partitions beside all: status %d, %s%s", check.Status, check.Stdout, check.Stderr)
	}
	if status := first.Stop(t, syscall.SIGTERM); status != run.ExitDone || first.Stdout != "" {
		t.Errorf("all ended with status %d and printed %q beside its ready line", status, first.Stdout)
	}

	// Without a server a short command starts what it needs, for its own time.
	if list := run.Must(t, env, "org", "list", "--json"); !strings.Contains(list, `"slug":"acme-inc"`) {
		t.Errorf("org list: %s", list)
	}
	run.Must(t, env, "cluster", "add-partitions", "8")
	again := run.Serve(t, append(env, "ANSWERSCOPE_KAFKA_PARTITIONS=8"), "all")
	if steps := run.Must(t, env, "cluster", "add-partitions", "8"); steps != "" {
		t.Errorf("partitions were added once more: %s", steps)
	}
	if kept := run.AwaitResults(t, again.URL, key, 2); kept != summary {
		t.Errorf("after a restart the summary is\n%s\nand was\n%s", kept, summary)
	}
	r = run.ToEnd(t, env, "", "import", answers, "--org", "acme-inc", "--brand", "acme")
	if r.Stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import again: %s%s", r.Stdout, r.Stderr)
	}

	var listed postgres.Key
	if err := json.Unmarshal([]byte(run.Must(t, env, "key", "list", "--org", "acme-inc", "--json")),
		&listed); err != nil {
		t.Fatal(err)
	}
	run.Must(t, env, "key", "revoke", listed.ID.String())
	if status, _ := run.Fetch(t, again.URL+"/api/v1/whoami", key); status != 401 {
		t.Errorf("a revoked key: %d, want 401", status)
	}
	create := []string{"key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "tracker"}
	tracker := run.Must(t, env,
		append(create, "--scope", "tracking:write", "--expires", time.Now().UTC().Format(time.DateOnly))...)
	if status, body := run.Fetch(t, again.URL+"/api/v1/whoami", tracker); status != 403 ||
		!strings.Contains(body, "lacks the scope metrics:read") {
		t.Errorf("whoami with a key for tracking: %d %s", status, body)
	}
	for _, wrong := range [][]string{{"--scope", "metrics"}, {"--expires", "2026-13-01"}, {"--expires", "2026-11-01"}} {
		if r := run.ToEnd(t, env, "", append(create, wrong...)...); r.Status != run.ExitUsage ||
			!strings.Contains(r.Stderr, "want") {
			t.Errorf("%q: status %d, %s", wrong, r.Status, r.Stderr)
		}
	}
	run.Must(t, env, "user", "add", "vic@example.org", "--org", "acme-inc", "--role", "viewer")
	r = run.ToEnd(t, env, "", "key", "create", "--org", "acme-inc", "--user", "vic@example.org", "--name", "tracker",
		"--scope", "tracking:write")
	if r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr,
			"the scope tracking:write is not for a viewer: want the role member or one above it") {
		t.Errorf("a key that its user may not use: status %d, %s", r.Status, r.Stderr)
	}
}

func TestATakenAddressIsAClearError(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	r := run.ToEnd(t, []string{"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t)}, "", "all", "--listen", taken)
	if r.Status != run.ExitFailed || !strings.Contains(r.Stderr, taken) || !strings.Contains(r.Stderr, "--listen") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
}

// Stores that are not embedded are changed on request alone: they are brought up by migrate, or by all.
func TestOutsideStoresAreMigratedOnRequest(t *testing.T) {
	t.Parallel()
	env := []string{
		"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t),
		"ANSWERSCOPE_POSTGRES_DSN=" + testkit.Postgres(t),
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + testkit.ClickHouse(t),
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(testkit.Kafka(t), ","),
		"ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + testkit.Prefix(t),
		"ANSWERSCOPE_KAFKA_PARTITIONS=2",
	}
	if r := run.ToEnd(t, env, "", "org", "list"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "run: answerscope migrate") {
		t.Errorf("on empty stores: status %d, %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "migrate", "--check"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stdout, "postgres 0001") || !strings.Contains(r.Stdout, "kafka topic ") {
		t.Errorf("migrate --check: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	run.Must(t, env, "migrate")
	if r := run.ToEnd(t, env, "", "migrate", "--check"); r.Status != run.ExitDone || r.Stdout != "" {
		t.Errorf("migrate --check after migrate: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "migrate"); r.Status != run.ExitDone || r.Stderr != "" {
		t.Errorf("migrate again: status %d, %s", r.Status, r.Stderr)
	}
	run.Must(t, env, "org", "add", "Acme")

	// What is imported is on the log; status says how much of it no pipeline has counted yet.
	answer := `{"platform":"chatgpt","prompt":"best lamp?","answered_at":"2026-03-02T09:05:00Z",` +
		`"text":"Lumen is best."}`
	brands := run.Written(t, "brands.json", []byte(run.LampsFile(t, 1)))
	if r := run.ToEnd(t, env, answer, "import", "-", "--org", "acme",
		"--create", brands); r.Stdout != `{"imported":1,"skipped":0,"refused":0}`+"\n" {
		t.Errorf("import: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if text := run.Must(t, env, "status"); !strings.Contains(text, "1 records, 1 of them not landed yet") ||
		strings.Contains(text, "MB free") {
		t.Errorf("status without a pipeline:\n%s", text)
	}

	split := run.Serve(t, env, "pipeline")
	if status, _ := run.Fetch(t, split.URL+"/healthz", ""); status != 200 {
		t.Errorf("healthz of pipeline: %d", status)
	}
	wait.For(t, "the answer to land", func() bool {
		return strings.Contains(run.Must(t, env, "status"), "1 records, 0 of them not landed yet")
	})

	// A brand without a slug is the one of its name, in any case, and no second one.
	again := run.Written(t, "again.json", []byte(`{"brands": [{"name": "LUMEN", "competitors": [{"name": "Torch"}]}]}`))
	r := run.ToEnd(t, env, answer, "import", "-", "--org", "acme", "--create", again)
	if r.Stdout != `{"imported":0,"skipped":1,"refused":0}`+"\n" || !strings.Contains(r.Stderr, `competitor "Torch"`) {
		t.Errorf("import without a slug: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}

	// Once a newer release has migrated, this one says so and works on what there is.
	warehouse := clickhouse.DefaultConfig()
	warehouse.DSN = strings.TrimPrefix(env[2], "ANSWERSCOPE_CLICKHOUSE_DSN=")
	const newer = "INSERT INTO schema_migrations (version, dirty, sequence) SELECT max(version) + 1, 0, " +
		"max(sequence) + 1 FROM schema_migrations"
	if err := store.OpenWarehouse(t, warehouse).Exec(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if r := run.ToEnd(t, env, "", "migrate"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "a newer release has migrated it; run that release") {
		t.Errorf("migrate of an older release: status %d, %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "reconcile"); r.Status != run.ExitDone ||
		!strings.Contains(r.Stderr, "schema is newer than this binary") {
		t.Errorf("reconcile of an older release: status %d, %s", r.Status, r.Stderr)
	}
}
