package system

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// An access log comes to /api/v1/ai-crawlers, once however often it is imported, and to an export. What is wrong with
// the flags is said.
func TestAnAccessLogComesToTheFigures(t *testing.T) {
	t.Parallel()
	h := installed(t)
	lumen := h.addBrands(t, h.organization.ID, lampsFile(t, 1))
	agent := func(name string) string { return "Mozilla/5.0 (compatible; " + name + "/1.0)" }
	var log strings.Builder
	for n := range 30 {
		fmt.Fprintf(&log, "192.0.2.%d - - [%02d/Mar/2026:12:00:00 +0000] \"GET /p/%d?q=1 HTTP/1.1\" 200 10 \"-\" \"%s\"\n", 1+n%2*100, n%28+1, n%3, agent([]string{"GPTBot", "Claude-User", "Firefox"}[n%3]))
	}
	log.WriteString("- - - [02/Mar/2026:12:00:00 +0000] \"CONNECT * HTTP/1.1\" 400 0 \"-\" \"" + agent("GPTBot") + "\"\n")
	file, ranges := written(t, "access.log", []byte(log.String())), written(t, "gptbot.json", []byte(`{"prefixes":[{"ipv4Prefix":"192.0.2.0/28"}]}`))
	importing := []string{"crawlers", "import", file, "--org", "acme", "--brand", "lumen", "--ranges", "GPTBot=" + ranges}

	if r := run(t, h.env, "", importing...); r.status != exitRefused || r.stdout != `{"imported":20,"skipped":0,"refused":1}`+"\n" || !strings.Contains(r.stderr, "line 31: path") {
		t.Fatalf("import: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	figures := func() string {
		status, body := fetch(t, h.url+"/api/v1/ai-crawlers"+window(lumen), h.key)
		if status != 200 {
			t.Fatalf("ai-crawlers: %d %s", status, body)
		}
		return body
	}
	const want = `{"total_requests":20,"verified_requests":5,"unverified_requests":5,"total_bytes":200,`
	arrived := func() string {
		if body := figures(); !strings.HasPrefix(body, want) {
			return "the figures are " + body
		}
		return ""
	}
	wait.Until(t, arrived)
	if r := run(t, h.env, log.String(), append([]string{"crawlers", "import", "-"}, importing[3:]...)...); r.stdout != `{"imported":0,"skipped":20,"refused":1}`+"\n" {
		t.Errorf("import again: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if wrong := arrived(); wrong != "" {
		t.Error(wrong)
	}
	if r := run(t, h.env, "", "export", "--org", "acme", "--brand", "lumen", "--what", "crawls"); r.status != exitDone || strings.Count(r.stdout, "\n") != 20 || strings.Contains(r.stdout, "192.0.2.") {
		t.Errorf("export: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if r := run(t, h.env, "", "reconcile", "--json"); r.status != exitDone {
		t.Errorf("reconcile: status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	misfit := run(t, h.env, "", append(importing, "--format", "cloudflare")...)
	if misfit.status != exitRefused || strings.Count(misfit.stderr, "\nline ") > 1 || !strings.Contains(misfit.stderr, "None of 31 lines is in the format cloudflare: choose another by --format") {
		t.Errorf("import in another format: status %d, %s", misfit.status, misfit.stderr)
	}
	for flags, want := range map[string]struct {
		status int
		says   string
	}{
		"--site other.example":                  {exitUsage, "want a domain of the brand"},
		"--follow --format cloudfront -":        {exitUsage, "--follow wants a file"},
		"--ranges " + ranges:                    {exitFailed, "GPTBot=gptbot.json"},
		"--ranges GPTBott=" + ranges:            {exitUsage, "want one that is known"},
		"--ranges GPTBot=" + filepath.Dir(file): {exitFailed, "is a directory"},
	} {
		given := append([]string{"crawlers", "import"}, append(strings.Fields(flags), "--org", "acme", "--brand", "lumen")...)
		if !strings.HasSuffix(flags, " -") {
			given = append(given, file)
		}
		if r := run(t, h.env, "", given...); r.status != want.status || !strings.Contains(r.stderr, want.says) {
			t.Errorf("%s: status %d, %s", flags, r.status, r.stderr)
		}
	}
}

// A log is followed through an absence of Kafka in which it is rotated, and each of its lines counts once.
func TestAFollowedLogOutlastsKafka(t *testing.T) {
	t.Parallel()
	c := newCollectorTest(t, "kafka")
	file := filepath.Join(c.dir, "access.log")
	wrote := 0
	writeMore := func() {
		log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for end := wrote + 10; wrote < end; wrote++ {
			fmt.Fprintf(log, "192.0.2.7 - - [02/Mar/2026:12:00:%02d +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"GPTBot\"\n", wrote)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(want int) {
		wait.Until(t, func() string {
			if _, body := fetch(t, c.all.url+"/api/v1/ai-crawlers"+window(c.brand), c.all.key); !strings.HasPrefix(body, fmt.Sprintf(`{"total_requests":%d,`, want)) {
				return fmt.Sprintf("%d lines are written, and the figures are %s", want, body)
			}
			return ""
		})
	}
	var log, result logbuffer.Buffer
	follower := binary(t.Context(), c.all.env, "crawlers", "import", file, "--org", "acme", "--brand", "acme", "--follow")
	follower.Stderr, follower.Stdout = &log, &result
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	writeMore()
	counted(10)
	c.stopKafka(t)
	writeMore()
	wait.Until(t, func() string {
		if !strings.Contains(log.String(), "trying again in 1s") {
			return "the follower says nothing of Kafka's absence: " + log.String()
		}
		return ""
	})
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	writeMore()
	c.startKafka(t)
	counted(30)
	if err := errors.Join(follower.Process.Signal(syscall.SIGTERM), follower.Wait()); err != nil || !strings.HasPrefix(result.String(), `{"imported":30,`) {
		t.Errorf("the follower ended with %v, %s%s", err, &result, &log)
	}
}
