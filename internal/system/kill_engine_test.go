package system

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// An embedded engine that is killed is started again. Meanwhile every beacon is answered with 204, /readyz names the
// engine and the API answers with 503; afterwards each beacon is counted once, and the process is still the same.
func TestAKilledEngineComesBack(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t), "ANSWERSCOPE_SITE_LIMIT=100000", "ANSWERSCOPE_KAFKA_PARTITIONS=2"}
	s := serve(t, env, "all")
	key, brand := onlyBrandOf(t, env, s)
	body := beaconOf(brand, "/a?utm_source=chatgpt.com", `,"n":1,"z":"Europe/Paris"`)
	counted := func() int64 { return countedVisits(t, s.url, brand, key) }
	accepted := int64(0)
	wait.For(t, "the brand's domain to be known", func() bool { status, _ := post(t, s.url, body); return status == 204 })
	accepted++

	for name, path := range map[string]string{"clickhouse": "ai-traffic?brand_id=" + brand, "postgres": "brands"} {
		others, end := s.beacons(t, body)
		killEngine(t, s, name)
		wait.For(t, "readyz to name "+name, func() bool {
			status, text := fetch(t, s.admin(t)+"/readyz", "")
			return status == 503 && strings.Contains(text, name)
		})
		if status, text := fetch(t, s.url+"/api/v1/"+path, key); status != 503 && status != 200 {
			t.Errorf("%s while %s is away: %d %s, want 503 or, once it is back, 200", path, name, status, text)
		}
		wait.For(t, "readyz to be well again", func() bool { status, _ := fetch(t, s.admin(t)+"/readyz", ""); return status == 200 })
		end()
		accepted += others.Load()
	}
	wait.For(t, fmt.Sprintf("%d visits to be counted", accepted), func() bool { return counted() >= accepted })
	if got := counted(); got != accepted {
		t.Errorf("%d visits, want %d", got, accepted)
	}
	if status := s.stop(t, syscall.SIGTERM); status != exitDone {
		t.Errorf("all ended with status %d", status)
	}
}

// beacons sends beacons from four clients until end, each of which must be accepted, and counts them.
func (s *server) beacons(t *testing.T, body string) (accepted *atomic.Int64, end func()) {
	t.Helper()
	accepted = new(atomic.Int64)
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if status, _ := post(t, s.url, body); status != 204 {
					t.Errorf("a beacon was answered with %d", status)
					return
				}
				accepted.Add(1)
				<-time.After(5 * time.Millisecond) // leaves the machine to what is tested
			}
		})
	}
	return accepted, func() { close(done); clients.Wait() }
}

// killEngine kills an embedded engine.
func killEngine(t *testing.T, s *server, name string) {
	t.Helper()
	signalEngine(t, s, name, syscall.SIGKILL)
}

// signalEngine sends a signal to an embedded engine, whose process id is in the log.
func signalEngine(t *testing.T, s *server, name string, signal syscall.Signal) {
	t.Helper()
	lines := regexp.MustCompile(`msg="engine ready" engine=`+name+` .* pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1)
	if len(lines) == 0 {
		t.Fatalf("no process id of %s in the log:\n%s", name, s.log)
	}
	pid, err := strconv.Atoi(lines[len(lines)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
