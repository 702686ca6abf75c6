package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// An access log comes to /api/v1/ai-crawlers, once however often it is imported, and to an export. What is wrong with
// the flags is said.
func TestAnAccessLogComesToTheFigures(t *testing.T) {
	t.Parallel()
	h := run.Installed(t)
	lumen := h.AddBrands(t, h.Organization.ID, run.LampsFile(t, 1))
	agent := func(name string) string { return "Mozilla/5.0 (compatible; " + name + "/1.0)" }
	var log strings.Builder
	for n := range 30 {
		fmt.Fprintf(&log,
			"192.0.2.%d - - [%02d/Mar/2026:12:00:00 +0000] \"GET /p/%d?q=1 HTTP/1.1\" 200 10 \"-\" \"%s\"\n", 1+n%2*100,
			n%28+1, n%3, agent([]string{"GPTBot", "Claude-User", "Firefox"}[n%3]))
	}
	log.WriteString("- - - [02/Mar/2026:12:00:00 +0000] \"CONNECT * HTTP/1.1\" 400 0 \"-\" \"" +
		agent("GPTBot") + "\"\n")
	file, ranges := run.Written(t, "access.log", []byte(log.String())),
		run.Written(t, "gptbot.json", []byte(`{"prefixes":[{"ipv4Prefix":"192.0.2.0/28"}]}`))
	importing := []string{
		"crawlers", "import", file, "--org", "acme", "--brand", "lumen", "--ranges", "GPTBot=" + ranges,
	}

	if r := run.ToEnd(t, h.Env, "", importing...); r.Status != run.ExitRefused ||
		r.Stdout != `{"imported":20,"skipped":0,"refused":1}`+"\n" || !strings.Contains(r.Stderr, "line 31: path") ||
		!strings.Contains(r.Stderr, "others: 10 lines") {
		t.Fatalf("import: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	figures := func() string {
		status, body := run.Fetch(t, h.URL+"/api/v1/ai-crawlers"+run.Window(lumen), h.Key)
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
	if r := run.ToEnd(t, h.Env, log.String(),
		append([]string{"crawlers", "import", "-"},
			importing[3:]...)...); r.Stdout != `{"imported":0,"skipped":20,"refused":1}`+"\n" {
		t.Errorf("import again: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if wrong := arrived(); wrong != "" {
		t.Error(wrong)
	}
	if r := run.ToEnd(t, h.Env, "", "export", "--org", "acme", "--brand", "lumen",
		"--what", "crawls"); r.Status != run.ExitDone || strings.Count(r.Stdout, "\n") != 20 ||
		strings.Contains(r.Stdout, "192.0.2.") {
		t.Errorf("export: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if r := run.ToEnd(t, h.Env, "", "reconcile", "--json"); r.Status != run.ExitDone {
		t.Errorf("reconcile: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	misfit := run.ToEnd(t, h.Env, "", append(importing, "--format", "cloudflare")...)
	if misfit.Status != run.ExitRefused || strings.Count(misfit.Stderr, "\nline ") > 1 ||
		!strings.Contains(misfit.Stderr, "None of 31 lines is in the format cloudflare: choose another by --format") {
		t.Errorf("import in another format: status %d, %s", misfit.Status, misfit.Stderr)
	}
	for flags, want := range map[string]struct {
		status int
		says   string
	}{
		"--site other.example":                  {run.ExitUsage, "want a domain of the brand"},
		"--follow --format cloudfront -":        {run.ExitUsage, "--follow wants a file"},
		"--ranges " + ranges:                    {run.ExitFailed, "GPTBot=gptbot.json"},
		"--ranges GPTBott=" + ranges:            {run.ExitUsage, "want one that is known"},
		"--ranges GPTBot=" + filepath.Dir(file): {run.ExitFailed, "is a directory"},
	} {
		given := append([]string{"crawlers", "import"},
			append(strings.Fields(flags), "--org", "acme", "--brand", "lumen")...)
		if !strings.HasSuffix(flags, " -") {
			given = append(given, file)
		}
		if r := run.ToEnd(t, h.Env, "", given...); r.Status != want.status || !strings.Contains(r.Stderr, want.says) {
			t.Errorf("%s: status %d, %s", flags, r.Status, r.Stderr)
		}
	}
}

// A log is followed through an absence of Kafka in which it is rotated, and each of its lines counts once.
func TestAFollowedLogOutlastsKafka(t *testing.T) {
	t.Parallel()
	kafka := run.NewOwnKafka(t, "kafka")
	h := run.Install(t, kafka.Brokers)
	brand := h.AddBrands(t, h.Organization.ID, run.BrandsFile)
	h.Start(t)
	file := filepath.Join(kafka.Dir, "access.log")
	wrote := 0
	writeMore := func() {
		log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for end := wrote + 10; wrote < end; wrote++ {
			fmt.Fprintf(log,
				"192.0.2.7 - - [02/Mar/2026:12:00:%02d +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"GPTBot\"\n", wrote)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	counted := func(want int) {
		wait.Until(t, func() string {
			if _, body := run.Fetch(t, h.URL+"/api/v1/ai-crawlers"+run.Window(brand),
				h.Key); !strings.HasPrefix(body, fmt.Sprintf(`{"total_requests":%d,`, want)) {
				return fmt.Sprintf("%d lines are written, and the figures are %s", want, body)
			}
			return ""
		})
	}
	var log, result logbuffer.Buffer
	follower := run.Command(t.Context(), t, h.Env, "crawlers", "import", file, "--org", "acme", "--brand", "acme",
		"--follow")
	follower.Stderr, follower.Stdout = &log, &result
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	writeMore()
	counted(10)
	kafka.StopKafka(t)
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
	kafka.StartKafka(t)
	counted(30)
	if err := errors.Join(follower.Process.Signal(syscall.SIGTERM), follower.Wait()); err != nil ||
		!strings.HasPrefix(result.String(), `{"imported":30,`) {
		t.Errorf("the follower ended with %v, %s%s", err, &result, &log)
	}
}
