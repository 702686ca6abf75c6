package engines

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// An embedded engine that is killed is started again. Meanwhile every beacon is answered with 204, /readyz names the
// engine and the API answers with 503; afterwards each beacon is counted once, and the process is still the same. An
// engine that hangs is in /readyz, too; one that ends again and again leaves no process behind that looks alive, and no
// import that had joined the engines: it says how far it was.
func TestAKilledEngineComesBack(t *testing.T) {
	t.Parallel()
	dir := run.MigratedDir(t)
	env := []string{
		"ANSWERSCOPE_DATA_DIR=" + dir, "ANSWERSCOPE_SITE_LIMIT=100000", "ANSWERSCOPE_KAFKA_PARTITIONS=2",
	}
	s := run.Serve(t, env, "all")
	key, brand := onlyBrandOf(t, env, s)
	body := run.BeaconOf(brand, "/a?utm_source=chatgpt.com", `,"n":1,"z":"Europe/Paris"`)
	counted := func() int64 { return countedVisits(t, s.URL, brand, key) }
	accepted := int64(0)
	wait.For(t, "the brand's domain to be known", func() bool {
		status, _ := run.Post(t, s.URL, body)
		return status == 204
	})
	accepted++

	for name, path := range map[string]string{"clickhouse": "ai-traffic?brand_id=" + brand, "postgres": "brands"} {
		others, end := s.Beacons(t, body)
		killEngine(t, s, name)
		wait.For(t, "readyz to name "+name, func() bool {
			status, text := run.Fetch(t, s.Admin(t)+"/readyz", "")
			return status == 503 && strings.Contains(text, name)
		})
		if status, text := run.Fetch(t, s.URL+"/api/v1/"+path, key); status != 503 && status != 200 {
			t.Errorf("%s while %s is away: %d %s, want 503 or, once it is back, 200", path, name, status, text)
		}
		namesNo(t, s, name)
		end()
		accepted += others.Load()
	}
	wait.For(t, fmt.Sprintf("%d visits to be counted", accepted), func() bool { return counted() >= accepted })
	if got := counted(); got != accepted {
		t.Errorf("%d visits, want %d", got, accepted)
	}
	// Only the server that accepts connections is stopped: those that there are go on.
	signalEngine(t, s, "postgres", syscall.SIGSTOP)
	resume := sync.OnceFunc(func() { signalEngine(t, s, "postgres", syscall.SIGCONT) })
	t.Cleanup(resume)
	names(t, s, "postgres")
	resume()
	namesNo(t, s, "postgres")
	importing, log := joinedImport(t, env)
	endsWithAnEngine(t, s, dir)
	wait.For(t, "the import to end", func() bool { return len(importing) == 1 })
	if status := <-importing; status != run.ExitFailed || !strings.Contains(log.String(), "went away") ||
		!strings.Contains(log.String(), "Kafka has") {
		t.Errorf("the import ended with status %d: %s", status, log)
	}
}

// joinedImport starts an import that has joined the engines of a server, and waits for more lines.
func joinedImport(t *testing.T, env []string) (status chan int, log *logbuffer.Buffer) {
	t.Helper()
	brands := run.Written(t, "brands.json", []byte(`{"brands":[{"name":"Initech"}]}`))
	cmd := run.Command(t.Context(), t, env, "import", "-", "--org", "acme", "--create", brands)
	lines, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log = &logbuffer.Buffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	status = make(chan int, 1)
	go func() {
		_ = cmd.Wait() // its status says more
		status <- cmd.ProcessState.ExitCode()
	}()
	wait.For(t, "the import to begin", func() bool {
		if _, err := fmt.Fprintf(lines, run.AnswersFile, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
			""); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(log.String(), "created brand")
	})
	return status, log
}

// endsWithAnEngine kills PostgreSQL, which was killed once, as often as it comes back.
func endsWithAnEngine(t *testing.T, s *run.Server, dir string) {
	t.Helper()
	kills := 1
	wait.For(t, "all to end", func() bool {
		if starts := strings.Count(s.Log.String(), `"engine ready" engine=postgres`); starts > kills {
			killEngine(t, s, "postgres")
			kills++
		}
		select {
		case <-s.Ended:
			return true
		default:
			return false
		}
	})
	if status := s.Cmd.ProcessState.ExitCode(); status != run.ExitFailed || kills != 5 ||
		!strings.Contains(s.Log.String(), filepath.Join(dir, "log")) {
		t.Errorf("status %d after %d kills, want 1 after 5 and the log to read", status, kills)
	}
}

// killEngine kills an embedded engine.
func killEngine(t *testing.T, s *run.Server, name string) {
	t.Helper()
	signalEngine(t, s, name, syscall.SIGKILL)
}

// signalEngine sends a signal to an embedded engine, whose process id is in the log.
func signalEngine(t *testing.T, s *run.Server, name string, signal syscall.Signal) {
	t.Helper()
	lines := regexp.MustCompile(`msg="engine ready" engine=`+name+` .* pid=(\d+)`).FindAllStringSubmatch(s.Log.String(),
		-1)
	if len(lines) == 0 {
		t.Fatalf("no process id of %s in the log:\n%s", name, s.Log)
	}
	pid, err := strconv.Atoi(lines[len(lines)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
