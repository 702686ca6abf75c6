package auth

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// @supabase/auth-js works unchanged: testdata/auth.mjs signs in, refreshes, asks who it is and signs out with it.
func TestAuthJS(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("testdata/node_modules/@supabase/auth-js"); err != nil {
		t.Fatalf("the client is not here: run `make clients`: %v", err)
	}
	w := newEnvironment(t)
	out, err := exec.CommandContext(t.Context(), "node",
		"testdata/auth.mjs", w.url, w.ann.Email, rightPassword).CombinedOutput()
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
	scripts := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1)
	if len(scripts) != 2 {
		t.Fatalf("the page has %d scripts", len(scripts))
	}
	w := newEnvironment(t)
	w.add(t, "ana@example.org")
	run := func(script []byte, env ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
			strings.ReplaceAll(string(script), "curl -s", "curl -sSf"))
		command.Dir, command.Env = t.TempDir(), append(os.Environ(), append(env, "URL="+w.url)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	out := run(scripts[0][1], "PASSWORD="+rightPassword)
	if !strings.Contains(out, `"email":"ana@example.org"`) || !strings.Contains(out, `{"status":"ok","userId":"`) ||
		!strings.HasSuffix(out, "}]}") {
		t.Errorf("signing in: %s", out)
	}
	out = run(scripts[1][1], "ACCESS="+w.signIn(t, "ana@example.org").access)
	if !strings.HasPrefix(out, `{"keys":[{"id":"`) || !strings.Contains(out, `"name":"weekly report"`) ||
		!strings.Contains(out, `"revoked_at":null`) {
		t.Errorf("API keys: %s", out)
	}
	if keys, err := w.db.ListKeys(t.Context(), w.organizationOf(t, "ana@example.org")); err != nil || len(keys) != 1 ||
		keys[0].RevokedAt == nil {
		t.Errorf("%+v, %v", keys, err)
	}
}

func (w *environment) organizationOf(t *testing.T, email string) uuid.UUID {
	t.Helper()
	user, err := w.db.UserByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	return user.OrganizationID
}
