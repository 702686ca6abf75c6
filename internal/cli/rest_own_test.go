package cli

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// @supabase/supabase-js works unchanged on our own tables, and no organization sees, names or moves another's rows.
func TestSupabaseJS(t *testing.T) {
	t.Parallel()
	const clients = "../../queryapi/identity/testdata"
	if _, err := os.Stat(clients + "/node_modules/@supabase/supabase-js"); err != nil {
		t.Fatalf("the client is not here: run `make clients`: %v", err)
	}
	env := []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t)}
	s := serve(t, env, "all")
	const password = "three lamps at noon"
	for email, of := range map[string][2]string{
		"ann@acme.example": {"acme", "member"}, "vic@acme.example": {"acme", "viewer"}, "eve@other.example": {"other", "owner"},
	} {
		run(t, env, "", "org", "add", of[0], "--slug", of[0]) // the second time there is one
		if r := run(t, env, password+"\n", "user", "add", email, "--org", of[0], "--role", of[1]); r.status != exitDone {
			t.Fatalf("user add: %s", r.stderr)
		}
	}
	anon := must(t, env, "key", "anon")
	if again := must(t, env, "key", "anon"); again != anon || strings.Count(anon, ".") != 2 {
		t.Errorf("key anon printed %s and %s", anon, again)
	}
	out, err := exec.CommandContext(t.Context(), "node", clients+"/supabase.mjs", s.url, anon, password, "ann@acme.example", "vic@acme.example", "eve@other.example").CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}

	page, err := os.ReadFile("../../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	request := regexp.MustCompile("(?s)```sh\n(curl [^`]*/rest/v1/[^`]*)```").FindSubmatch(page)
	if request == nil {
		t.Fatal("the page has no request")
	}
	script := `ACCESS=$(curl -sSf "$URL/auth/v1/token?grant_type=password" -d '{"email":"eve@other.example","password":"` + password + `"}' | sed 's/.*"access_token":"\([^"]*\)".*/\1/')` + "\n" + string(request[1])
	asked := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	asked.Env = append(os.Environ(), "URL="+s.url, "ANON="+anon)
	if out, err := asked.CombinedOutput(); err != nil || string(out) != `[{"name":"Raye","competitors":[]}]` {
		t.Errorf("the request of docs/rest.md: %v\n%s", err, out)
	}
}
