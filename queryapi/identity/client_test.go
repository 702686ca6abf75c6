package identity

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// @supabase/auth-js works unchanged: testdata/auth.mjs signs in, refreshes, asks who it is and signs out with it.
func TestAuthJS(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("testdata/node_modules/@supabase/auth-js"); err != nil {
		t.Fatalf("the client is not here: run `make clients`: %v", err)
	}
	w := newEnvironment(t)
	out, err := exec.CommandContext(t.Context(), "node", "testdata/auth.mjs", w.url, w.ann.Email, rightPassword).CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// The requests of docs/auth.md, as a reader runs them.
func TestTheRequestsOfTheDocsWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/auth.md")
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(page)
	if script == nil {
		t.Fatal("the page has no script")
	}
	w := newEnvironment(t)
	w.add(t, "ana@example.org")
	run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(string(script[1]), "curl -s", "curl -sSf"))
	run.Dir, run.Env = t.TempDir(), append(os.Environ(), "URL="+w.url, "PASSWORD="+rightPassword)
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"email":"ana@example.org"`) || !strings.Contains(string(out), `{"status":"ok","userId":"`) || !strings.HasSuffix(string(out), "}]}") {
		t.Errorf("%v\n%s", err, out)
	}
}
