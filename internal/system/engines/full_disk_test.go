package engines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/fulldisk"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A disk that another program fills to the last byte under beacons and an import: new beacons are answered with 503,
// /readyz and the import say "disk". When there is room again all goes on by itself, and what was accepted is counted
// once.
func TestAFullDiskIsSaidAndWaitedFor(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 320<<20)
	env := []string{
		"ANSWERSCOPE_DATA_DIR=" + dir, "ANSWERSCOPE_MIN_FREE=100000000", "ANSWERSCOPE_SITE_LIMIT=100000",
		"ANSWERSCOPE_KAFKA_PARTITIONS=2",
	}
	s := run.Serve(t, env, "all")
	key, brand := onlyBrandOf(t, env, s)
	body := run.BeaconOf(brand, "/a?utm_source=chatgpt.com", `,"n":1,"z":"Europe/Paris"`)
	wait.For(t, "the brand's domain to be known", func() bool {
		status, _ := run.Post(t, s.URL, body)
		return status == 204
	})

	beacons := tryBeacons(t, s, body)
	wait.For(t, "beacons to be accepted", func() bool { return beacons.accepted.Load() > 100 })
	filler := fulldisk.Fill(t, dir)
	wait.For(t, "beacons to be answered with 503", func() bool { return beacons.refused.Load() > 0 })
	if status, header := run.Post(t, s.URL, body); status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("a beacon was answered with %d and headers %v, want 503 with Retry-After", status, header)
	}
	wait.For(t, "readyz to name the disk", func() bool {
		status, text := run.Fetch(t, s.Admin(t)+"/readyz", "")
		return status == 503 && strings.Contains(text, `"name":"disk"`)
	})
	answers := filepath.Join(t.TempDir(), "answers.ndjson")
	run.Write(t, answers, fmt.Sprintf(run.AnswersFile, yesterday(), yesterday(), yesterday()))
	importing := run.Command(t.Context(), t, env, "import", answers, "--org", "acme", "--brand", "acme")
	said, imported := &logbuffer.Buffer{}, new(bytes.Buffer)
	importing.Stdout, importing.Stderr = imported, said
	if err := importing.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, func() string {
		if strings.Contains(said.String(), "the disk is full") {
			return ""
		}
		return "the import does not say that it waits for the disk: " + said.String()
	})

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, func() string {
		_, text := run.Fetch(t, s.Admin(t)+"/readyz", "")
		return strings.TrimPrefix(strings.TrimSpace(text), `{"ready":true}`)
	})
	if err := importing.Wait(); importing.ProcessState.ExitCode() != run.ExitRefused ||
		!strings.HasPrefix(imported.String(), `{"imported":2,`) {
		t.Errorf("import: %v, %s%s", err, imported, said)
	}
	beacons.end()
	wait.For(t, "a beacon to be accepted", func() bool { status, _ := run.Post(t, s.URL, body); return status == 204 })
	least := beacons.accepted.Load() + 2 // the first one and the last
	wait.Until(t, func() string {
		if visits := countedVisits(t, s.URL, brand, key); visits < least {
			return fmt.Sprintf("%d visits are counted, %d were accepted", visits, least)
		}
		return ""
	})
	if visits, most := countedVisits(t, s.URL, brand, key), least+beacons.unknown.Load(); visits > most {
		t.Errorf("%d visits are counted, want %d", visits, most)
	}
	t.Logf("%d beacons accepted, %d refused with 503, %d answered with 500", least, beacons.refused.Load(),
		beacons.unknown.Load())
	if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("all ended with status %d", status)
	}
}

func yesterday() string { return time.Now().UTC().AddDate(0, 0, -1).Format(time.RFC3339) }

// smallDisk is a migrated data directory on a file system of its own, of so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	from, dir := run.MigratedDir(t), run.DataDir(t)
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0711", size), "tmpfs", dir},
		{"cp", "-a", from + "/.", dir},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s\nthis test fills a file system of its own: run it as root, or below `unshare "+
				"--map-root-user --mount`", command, err, out)
		}
		if command[0] == "mount" {
			t.Cleanup(func() {
				if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
					t.Errorf("umount: %v: %s", err, out)
				}
			})
		}
	}
	return dir
}

// triedBeacons are beacons by what they were answered with: 204, 503, or 500, of which it is not known whether they
// count.
type triedBeacons struct {
	accepted, refused, unknown atomic.Int64
	end                        func()
}

// tryBeacons sends beacons from four clients until end.
func tryBeacons(t *testing.T, s *run.Server, body string) *triedBeacons {
	t.Helper()
	tried, done := &triedBeacons{}, make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				switch status, _ := run.Post(t, s.URL, body); status {
				case 204:
					tried.accepted.Add(1)
				case 503:
					tried.refused.Add(1)
				case 500:
					tried.unknown.Add(1)
				default:
					t.Errorf("a beacon was answered with %d", status)
					return
				}
				<-time.After(5 * time.Millisecond) // leaves the machine to what is tested
			}
		})
	}
	tried.end = sync.OnceFunc(func() { close(done); clients.Wait() })
	t.Cleanup(tried.end)
	return tried
}

// onlyBrandOf adds an organization acme with a brand acme, and a key.
func onlyBrandOf(t *testing.T, env []string, s *run.Server) (key, brand string) {
	t.Helper()
	run.Must(t, env, "org", "add", "Acme")
	run.Must(t, env, "user", "add", "ana@example.org", "--org", "acme", "--role", "owner")
	key = run.Must(t, env, "key", "create", "--org", "acme", "--user", "ana@example.org", "--name", "test")
	brands, none := filepath.Join(t.TempDir(), "brands.json"), filepath.Join(t.TempDir(), "none.ndjson")
	run.Write(t, brands, run.BrandsFile)
	run.Write(t, none, "")
	run.Must(t, env, "import", none, "--org", "acme", "--create", brands)
	return key, run.OnlyBrand(t, s.URL, key)
}

// countedVisits asks the API; -1 while it does not answer.
func countedVisits(t *testing.T, url, brand, key string) int64 {
	t.Helper()
	var got run.Traffic
	status, text := run.Fetch(t, url+"/api/v1/ai-traffic?brand_id="+brand, key)
	if err := json.Unmarshal([]byte(text), &got); status != 200 || err != nil {
		return -1
	}
	return int64(got.Visits)
}
