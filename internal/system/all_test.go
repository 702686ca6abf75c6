package system

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A server is a command that serves, in a process of its own.
type server struct {
	cmd    *exec.Cmd
	url    string // from its ready line
	stdout string // everything before the ready line, and after it once it has ended
	log    *logbuffer.Buffer
	ready  chan string // its URL, once
	ended  chan struct{}
}

// serve starts a command on free ports and returns once it has said that it is ready.
func serve(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	s := launch(t, env, args...)
	if !s.await(t) {
		t.Fatalf("answerscope %s ended before it was ready:\n%s", strings.Join(args, " "), s.log)
	}
	return s
}

// launch starts a command on free ports.
func launch(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	args = append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	s := &server{cmd: binary(context.WithoutCancel(t.Context()), env, args...), log: &logbuffer.Buffer{}, ready: make(chan string, 1), ended: make(chan struct{})}
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if url, ok := strings.CutPrefix(line, "ready "); ok {
				s.ready <- strings.TrimSpace(url)
			} else {
				s.stdout += line
			}
			if err != nil {
				_ = s.cmd.Wait() // its status is looked at where it matters
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.stop(t, syscall.SIGTERM)
		if t.Failed() {
			t.Logf("answerscope %s said:\n%s", strings.Join(args, " "), s.log)
		}
	})
	return s
}

// await waits until it has said that it is ready; false when it has ended before.
func (s *server) await(t *testing.T) bool {
	t.Helper()
	select {
	case s.url = <-s.ready:
		return true
	case <-s.ended:
		return false
	case <-time.After(bound):
		t.Fatalf("not ready after %s:\n%s", bound, s.log)
		return false
	}
}

// stop sends a signal, waits for the end and returns the exit status.
func (s *server) stop(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	_ = s.cmd.Process.Signal(sig) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(bound):
		_ = s.cmd.Process.Kill()
		t.Errorf("still there %s after %s", bound, sig)
		<-s.ended
	}
	return s.cmd.ProcessState.ExitCode()
}

// admin is the address of the admin listener, from the log.
func (s *server) admin(t *testing.T) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.log.String(), `msg="admin listener" address=`)
	address, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no admin listener in the log:\n%s", s.log)
	}
	return address
}

// dataDir is a directory for engines; PostgreSQL, another user under root, must pass.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "answerscope-cli-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kept %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "var")
}

// migratedDir is a dataDir whose ClickHouse and PostgreSQL have their schemas: a copy of one that was migrated once.
func migratedDir(t *testing.T) string {
	t.Helper()
	archive := testkit.Once(t, "cli-migrated-"+store.Fingerprint(t, "sql")+".tar", func() ([]byte, error) {
		dir := dataDir(t)
		must(t, []string{"ANSWERSCOPE_DATA_DIR=" + dir}, "migrate")
		return exec.CommandContext(t.Context(), "tar", "-C", dir, "--exclude=*.port", "-c", "clickhouse", "postgres").Output()
	})
	dir := dataDir(t)
	if err := os.Mkdir(dir, 0o711); err != nil { // PostgreSQL is another user under root
		t.Fatal(err)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-C", dir, "-xp")
	unpack.Stdin = bytes.NewReader(archive)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory: %v\n%s", err, out)
	}
	return dir
}

const (
	brandsFile  = `{"brands":[{"name":"Acme","slug":"acme","domains":["acme.example"],"competitors":[{"name":"Globex","domains":["globex.example"]}]}]}`
	answersFile = `{"platform":"chatgpt","prompt":"best anvil?","answered_at":"%s","text":"Acme makes the best anvil. Globex follows."}
{"platform":"chatgpt","prompt":"best rocket?","answered_at":"%s","text":"Globex makes rockets."}
{"platform":"chatgpt","prompt":"","answered_at":"%s","text":"no prompt"}
`
)

// The whole of a first hour: start, join, make a key, bring answers in, ask, be refused a second owner, stop, come
// back.
func TestAllFromTheFirstStartToTheNext(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	first := serve(t, env, "all")
	if status, body := fetch(t, first.url+"/healthz", ""); status != 200 || body != `{"status":"ok"}` {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, body := fetch(t, first.admin(t)+"/readyz", ""); status != 200 {
		t.Errorf("readyz: %d %s", status, body)
	}
	if log := first.log.String(); !strings.Contains(log, "\n  "+os.Args[0]+" org add \"Acme\"\n") {
		t.Errorf("an empty installation does not say what is next:\n%s", log)
	}

	organization := strings.Fields(must(t, env, "org", "add", "Acme Inc"))
	if len(organization) != 2 || organization[1] != "acme-inc" {
		t.Fatalf("org add printed %q", organization)
	}
	added := strings.Split(must(t, env, "user", "add", "ana@example.org", "--org", "acme-inc", "--role", "owner"), "\n")
	if len(added) != 2 || !strings.HasSuffix(added[0], " ana@example.org owner") || !strings.HasPrefix(added[1], "password ") {
		t.Errorf("user add printed %q", added)
	}
	key := must(t, env, "key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "test")
	if status, body := fetch(t, first.url+"/api/v1/whoami", key); status != 200 || !strings.Contains(body, organization[0]) {
		t.Errorf("whoami: %d %s", status, body)
	}

	answers, brands := filepath.Join(dir, "answers.ndjson"), filepath.Join(dir, "brands.json")
	now := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	write(t, brands, brandsFile)
	write(t, answers, fmt.Sprintf(answersFile, now, now, now))
	r := run(t, env, "", "import", answers, "--org", "acme-inc", "--create", brands)
	if r.status != exitRefused || r.stdout != `{"imported":2,"skipped":0,"refused":1}`+"\n" || !strings.Contains(r.stderr, "line 3: ") {
		t.Fatalf("import: status %d, stdout %s, stderr %s", r.status, r.stdout, r.stderr)
	}
	summary := awaitResults(t, first.url, key, 2)

	second := run(t, env, "", "all", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if second.status != exitFailed || !strings.Contains(second.stderr, first.url) || second.stdout != "" {
		t.Errorf("a second all: status %d, stdout %q, stderr %q, want it refused with %s", second.status, second.stdout, second.stderr, first.url)
	}
	check := run(t, env, "", "cluster", "add-partitions", "8", "--check")
	if check.status != exitFailed || !strings.Contains(check.stdout, "kafka topic answers, 6 to 8 partitions") || !strings.Contains(check.stderr, "answerscope all is running: stop it") {
		t.Errorf("more partitions beside all: status %d, %s%s", check.status, check.stdout, check.stderr)
	}
	if status := first.stop(t, syscall.SIGTERM); status != exitDone || first.stdout != "" {
		t.Errorf("all ended with status %d and printed %q beside its ready line", status, first.stdout)
	}

	// Without a server a short command starts what it needs, for its own time.
	if list := must(t, env, "org", "list", "--json"); !strings.Contains(list, `"slug":"acme-inc"`) {
		t.Errorf("org list: %s", list)
	}
	must(t, env, "cluster", "add-partitions", "8")
	again := serve(t, append(env, "ANSWERSCOPE_KAFKA_PARTITIONS=8"), "all")
	if steps := must(t, env, "cluster", "add-partitions", "8"); steps != "" {
		t.Errorf("partitions were added once more: %s", steps)
	}
	if kept := awaitResults(t, again.url, key, 2); kept != summary {
		t.Errorf("after a restart the summary is\n%s\nand was\n%s", kept, summary)
	}
	r = run(t, env, "", "import", answers, "--org", "acme-inc", "--brand", "acme")
	if r.stdout != `{"imported":0,"skipped":2,"refused":1}`+"\n" {
		t.Errorf("the same import again: %s%s", r.stdout, r.stderr)
	}

	var listed postgres.Key
	if err := json.Unmarshal([]byte(must(t, env, "key", "list", "--org", "acme-inc", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	must(t, env, "key", "revoke", listed.ID.String())
	if status, _ := fetch(t, again.url+"/api/v1/whoami", key); status != 401 {
		t.Errorf("a revoked key: %d, want 401", status)
	}
	create := []string{"key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "tracker"}
	tracker := must(t, env, append(create, "--scope", "tracking:write", "--expires", time.Now().UTC().Format(time.DateOnly))...)
	if status, body := fetch(t, again.url+"/api/v1/whoami", tracker); status != 403 || !strings.Contains(body, "lacks the scope metrics:read") {
		t.Errorf("whoami with a key for tracking: %d %s", status, body)
	}
	for _, wrong := range [][]string{{"--scope", "metrics"}, {"--expires", "2026-13-01"}, {"--expires", "2026-11-01"}} {
		if r := run(t, env, "", append(create, wrong...)...); r.status != exitUsage || !strings.Contains(r.stderr, "want") {
			t.Errorf("%q: status %d, %s", wrong, r.status, r.stderr)
		}
	}
	must(t, env, "user", "add", "vic@example.org", "--org", "acme-inc", "--role", "viewer")
	r = run(t, env, "", "key", "create", "--org", "acme-inc", "--user", "vic@example.org", "--name", "tracker", "--scope", "tracking:write")
	if r.status != exitFailed || !strings.Contains(r.stderr, "the scope tracking:write is not for a viewer: want the role member or one above it") {
		t.Errorf("a key that its user may not use: status %d, %s", r.status, r.stderr)
	}
}

// awaitResults polls the summary of the only brand until it counts so many answers, and returns it.
func awaitResults(t *testing.T, url, key string, results int) string {
	t.Helper()
	brand, body := onlyBrand(t, url, key), ""
	wait.For(t, fmt.Sprintf("the summary to count %d answers", results), func() bool {
		_, body = fetch(t, url+"/api/v1/visibility-summary?brand_id="+brand, key)
		return strings.Contains(body, fmt.Sprintf(`"resultCount":%d,`, results))
	})
	return body
}

// onlyBrand is the id of the only brand of a key's organization.
func onlyBrand(t *testing.T, url, key string) string {
	t.Helper()
	var list struct{ Brands []struct{ ID string } }
	_, body := fetch(t, url+"/api/v1/brands", key)
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Brands) != 1 {
		t.Fatalf("brands: %s", body)
	}
	return list.Brands[0].ID
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestATakenAddressIsAClearError(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	r := run(t, []string{"ANSWERSCOPE_DATA_DIR=" + dataDir(t)}, "", "all", "--listen", taken)
	if r.status != exitFailed || !strings.Contains(r.stderr, taken) || !strings.Contains(r.stderr, "--listen") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// Stores that are not embedded are changed on request alone: they are brought up by migrate, or by all.
func TestOutsideStoresAreMigratedOnRequest(t *testing.T) {
	t.Parallel()
	env := []string{
		"ANSWERSCOPE_DATA_DIR=" + dataDir(t),
		"ANSWERSCOPE_POSTGRES_DSN=" + testkit.Postgres(t),
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + testkit.ClickHouse(t),
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(testkit.Kafka(t), ","),
		"ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + testkit.Prefix(t),
		"ANSWERSCOPE_KAFKA_PARTITIONS=2",
	}
	if r := run(t, env, "", "org", "list"); r.status != exitFailed || !strings.Contains(r.stderr, "run: answerscope migrate") {
		t.Errorf("on empty stores: status %d, %s", r.status, r.stderr)
	}
	if r := run(t, env, "", "migrate", "--check"); r.status != exitFailed || !strings.Contains(r.stdout, "postgres 0001") || !strings.Contains(r.stdout, "kafka topic ") {
		t.Errorf("migrate --check: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	must(t, env, "migrate")
	if r := run(t, env, "", "migrate", "--check"); r.status != exitDone || r.stdout != "" {
		t.Errorf("migrate --check after migrate: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if r := run(t, env, "", "migrate"); r.status != exitDone || r.stderr != "" {
		t.Errorf("migrate again: status %d, %s", r.status, r.stderr)
	}
	must(t, env, "org", "add", "Acme")

	// What is imported is on the log; status says how much of it no pipeline has counted yet.
	answer := `{"platform":"chatgpt","prompt":"best lamp?","answered_at":"2026-03-02T09:05:00Z","text":"Lumen is best."}`
	if r := run(t, env, answer, "import", "-", "--org", "acme", "--create", written(t, "brands.json", []byte(lampsFile(t, 1)))); r.stdout != `{"imported":1,"skipped":0,"refused":0}`+"\n" {
		t.Errorf("import: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if text := must(t, env, "status"); !strings.Contains(text, "1 records, 1 of them not landed yet") || strings.Contains(text, "MB free") {
		t.Errorf("status without a pipeline:\n%s", text)
	}

	split := serve(t, env, "pipeline")
	if status, _ := fetch(t, split.url+"/healthz", ""); status != 200 {
		t.Errorf("healthz of pipeline: %d", status)
	}
	wait.For(t, "the answer to land", func() bool {
		return strings.Contains(must(t, env, "status"), "1 records, 0 of them not landed yet")
	})
	api := serve(t, env, "queryapi")
	if status, _ := fetch(t, api.url+"/api/v1/whoami", "svc_nonsense"); status != 401 {
		t.Errorf("whoami with no key: %d, want 401", status)
	}

	// Once a newer release has migrated, this one says so and works on what there is.
	warehouse := clickhouse.DefaultConfig()
	warehouse.DSN = strings.TrimPrefix(env[2], "ANSWERSCOPE_CLICKHOUSE_DSN=")
	const newer = "INSERT INTO schema_migrations (version, dirty, sequence) SELECT max(version) + 1, 0, max(sequence) + 1 FROM schema_migrations"
	if err := store.OpenWarehouse(t, warehouse).Exec(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if r := run(t, env, "", "migrate"); r.status != exitFailed || !strings.Contains(r.stderr, "a newer release has migrated it; run that release") {
		t.Errorf("migrate of an older release: status %d, %s", r.status, r.stderr)
	}
	if r := run(t, env, "", "reconcile"); r.status != exitDone || !strings.Contains(r.stderr, "schema is newer than this binary") {
		t.Errorf("reconcile of an older release: status %d, %s", r.status, r.stderr)
	}
}

// An engine that ends again and again must not leave a process behind that looks alive.
func TestAllEndsWithAnEngineThatCannotStay(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	s := serve(t, []string{"ANSWERSCOPE_DATA_DIR=" + dir}, "all")
	kills := 0
	wait.For(t, "all to end", func() bool {
		if starts := strings.Count(s.log.String(), `"engine ready" engine=postgres`); starts > kills {
			killEngine(t, s, "postgres")
			kills++
		}
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	if status := s.cmd.ProcessState.ExitCode(); status != exitFailed || kills != 5 || !strings.Contains(s.log.String(), filepath.Join(dir, "log")) {
		t.Errorf("status %d after %d kills, want 1 after 5 and the log to read", status, kills)
	}
}

// An import that has joined the engines of a server ends when they go away, and says how far it was.
func TestAJoinedImportEndsWithTheEngines(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	s := serve(t, env, "all")
	must(t, env, "org", "add", "Acme")
	brands := filepath.Join(dir, "brands.json")
	write(t, brands, brandsFile)

	cmd := binary(t.Context(), env, "import", "-", "--org", "acme", "--create", brands)
	lines, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := &logbuffer.Buffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the import to begin", func() bool {
		if _, err := fmt.Fprintf(lines, answersFile, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", ""); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(log.String(), "created brand")
	})
	s.stop(t, syscall.SIGKILL)
	gone := time.Now()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the import ended with %v: %s", err, log)
	}
	if took := time.Since(gone); took > time.Minute {
		t.Errorf("it took %s to end", took)
	}
	if !strings.Contains(log.String(), "went away") || !strings.Contains(log.String(), "Kafka has") {
		t.Errorf("it said %s", log)
	}
}
