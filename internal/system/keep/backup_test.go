package keep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A backup that was made under traffic comes back elsewhere: every body of /api/v1 is the same, visits that were
// accepted before it are counted once, later ones at most once, and the restored installation goes on.
func TestABackupComesBack(t *testing.T) {
	t.Parallel()
	const lines = 60
	dir := run.MigratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir, "ANSWERSCOPE_SITE_LIMIT=100000"}
	s := run.Serve(t, env, "all")
	keys := map[string]string{} // by organization
	for slug, brands := range map[string]string{"lamps": run.LampsFile(t, 1), "acme": run.BrandsFile} {
		run.Must(t, env, "org", "add", slug)
		run.Must(t, env, "user", "add", "ana@"+slug+".example", "--org", slug)
		keys[slug] = run.Must(t, env, "key", "create", "--org", slug,
			"--user", "ana@"+slug+".example", "--name", "test")
		run.Must(t, env, "import", os.DevNull, "--org", slug, "--create", run.Written(t, "brands.json", []byte(brands)))
	}
	lumen, acme := run.OnlyBrand(t, s.URL, keys["lamps"]), run.OnlyBrand(t, s.URL, keys["acme"])
	track := strings.Fields("track lumen --org lamps --platforms simulator --models sim-atlas")
	run.Must(t, env, "import", run.Captured(t, lines), "--org", "lamps", "--brand", "lumen")
	run.Must(t, env, track...)
	run.Must(t, env, "crawlers", "import", run.Written(t, "access.log", []byte("192.0.2.7 - - [02/Mar/2026:12:00:00 "+
		"+0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"GPTBot\"\n")), "--org", "lamps", "--brand", "lumen")
	run.Must(t, env, "analyst", "add", "ana", "--org", "lamps")
	settled(t, &run.Installation{Server: s, Key: keys["lamps"]}, lumen, lines)
	wait.For(t, "the crawl to be counted", func() bool {
		_, text := run.Fetch(t, s.URL+"/api/v1/ai-crawlers"+run.Window(lumen), keys["lamps"])
		return strings.HasPrefix(text, `{"total_requests":1,`)
	})
	body := run.BeaconOf(acme, "/a?utm_source=chatgpt.com", `,"n":1`)
	wait.For(t, "the brand's domain to be known", func() bool {
		status, _ := run.Post(t, s.URL, body)
		return status == 204
	})

	accepted, end := s.Beacons(t, body)
	wait.For(t, "some visits", func() bool { return accepted.Load() > 100 })
	before := accepted.Load() + 1
	to := filepath.Join(filepath.Dir(dir), "backup")
	run.Must(t, env, "backup", to)
	wait.For(t, "visits after it", func() bool { return accepted.Load() > before+100 })
	end()
	after := accepted.Load() + 1
	if r := run.ToEnd(t, env, "", "backup", to); r.Status != run.ExitUsage || !strings.Contains(r.Stderr, "exists") {
		t.Errorf("a second backup into the same directory: status %d, %s", r.Status, r.Stderr)
	}
	bodies := bodiesOf(t, s, keys["lamps"], lumen)
	if status := s.Stop(t, syscall.SIGINT); status != run.ExitDone {
		t.Fatalf("all ended with status %d", status)
	}

	if r := run.ToEnd(t, env, "", "backup", filepath.Join(dir, "inside")); r.Status != run.ExitUsage ||
		!strings.Contains(r.Stderr, "is in the data directory") {
		t.Errorf("a backup into the data directory: status %d, %s", r.Status, r.Stderr)
	}
	fresh := filepath.Join(filepath.Dir(dir), "restored")
	env[0] = "ANSWERSCOPE_DATA_DIR=" + fresh
	refusesDamage(t, env, to, fresh)
	interruptRestore(t, env, to, fresh)
	if r := run.ToEnd(t, env, "", "restore", to); r.Status != run.ExitDone ||
		!strings.Contains(r.Stderr, "secret-keys") {
		t.Fatalf("restore: status %d, %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "restore", to); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "holds an installation already") {
		t.Errorf("a second restore: status %d, %s", r.Status, r.Stderr)
	}
	left := filepath.Join(fresh, "clickhouse", "data", "backups", "answerscope")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	back := run.Serve(t, env, "all")
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what an interrupted backup left is there: %v", err)
	}
	visits := func() int64 {
		var got run.Traffic
		_, text := run.Fetch(t, back.URL+"/api/v1/ai-traffic?brand_id="+acme, keys["acme"])
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return int64(got.Visits)
	}
	wait.For(t, fmt.Sprintf("%d visits", before), func() bool { return visits() >= before })
	if n := visits(); n > after {
		t.Errorf("%d visits, but only %d were accepted", n, after)
	}
	for path, want := range bodies {
		if _, got := run.Fetch(t, back.URL+path, keys["lamps"]); got != want {
			t.Errorf("%s was\n%s\nand is\n%s", path, want, got)
		}
	}
	// The first job is restored; the next one has another number.
	if r := run.ToEnd(t, env, "", track...); r.Status != run.ExitDone {
		t.Errorf("track: status %d, %s", r.Status, r.Stderr)
	}
	if list := run.Must(t, env, "analyst", "list"); !strings.Contains(list, "ana") {
		t.Errorf("analysts: %s", list)
	}
	if status, _ := run.Post(t, back.URL,
		run.BeaconOf(acme, "/restored?utm_source=chatgpt.com", `,"n":1`)); status != 204 {
		t.Errorf("a beacon is answered with %d", status)
	}
	wait.For(t, "a visit of a page that had none", func() bool { // those of the backup's log may still land
		_, text := run.Fetch(t, back.URL+"/api/v1/ai-traffic?brand_id="+acme, keys["acme"])
		return strings.Contains(text, `"/restored"`)
	})
	if r := run.ToEnd(t, env, "", "reconcile"); r.Status != run.ExitDone {
		t.Errorf("reconcile: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
}

// bodiesOf are those of every endpoint, by path.
func bodiesOf(t *testing.T, s *run.Server, key, brand string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for _, path := range []string{
		"whoami", "brands", "visibility-summary", "visibility-trend", "competitor-comparison", "citations",
		"prompt-performance",
		"shopping-cards", "ai-traffic", "ai-crawlers",
	} {
		path = "/api/v1/" + path
		if !strings.HasSuffix(path, "whoami") && !strings.HasSuffix(path, "brands") {
			path += run.Window(brand)
		}
		var status int
		if status, bodies[path] = run.Fetch(t, s.URL+path, key); status != 200 {
			t.Errorf("%s: %d %s", path, status, bodies[path])
		}
	}
	return bodies
}

// interruptRestore has a restore end when the files are in place and the engines are not found. Once, a start on what
// it left was a healthy installation whose figures were all 0.
func interruptRestore(t *testing.T, env []string, backup, fresh string) {
	t.Helper()
	r := run.ToEnd(t, append(slices.Clone(env), "ANSWERSCOPE_ENGINES_HOME="+fresh), "", "restore", backup)
	if r.Status != run.ExitFailed {
		t.Errorf("a restore without engines: status %d, %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "all"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "has a part of the backup "+backup) {
		t.Errorf("all on half a restore: status %d, %s", r.Status, r.Stderr)
	}
	if err := os.RemoveAll(fresh); err != nil {
		t.Fatal(err)
	}
}

// refusesDamage restores copies of a backup that something happened to, each of which is refused before anything is
// written.
func refusesDamage(t *testing.T, env []string, whole, fresh string) {
	t.Helper()
	brands := filepath.Join("postgres", "public.brands")
	for said, harm := range map[string]func(dir string) error{
		"is not as backup wrote it": func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, brands))
			return errors.Join(err,
				os.WriteFile(filepath.Join(dir, brands),
					bytes.Replace(text, []byte("Lumen"), []byte("Lum3n"), 1), 0o600))
		},
		"is missing": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "kafka")) },
		"which backup did not write": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "analysts", "zz.xml"), nil, 0o600)
		},
		"is no whole backup": func(dir string) error { return os.Remove(filepath.Join(dir, "backup.json")) },
	} {
		dir := filepath.Join(t.TempDir(), "damaged")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(whole)), harm(dir)); err != nil {
			t.Fatal(err)
		}
		if r := run.ToEnd(t, env, "", "restore", dir); r.Status != run.ExitFailed || !strings.Contains(r.Stderr, said) {
			t.Errorf("status %d, %s; want %q", r.Status, r.Stderr, said)
		}
	}
	if _, err := os.Stat(fresh); !os.IsNotExist(err) {
		t.Errorf("a refused backup left %s: %v", fresh, err)
	}
}
