package people

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// @supabase/supabase-js works unchanged on our own tables, and no organization sees, names or moves another's rows.
func TestSupabaseJS(t *testing.T) {
	t.Parallel()
	const clients = "../../../queryapi/auth/testdata"
	if _, err := os.Stat(clients + "/node_modules/@supabase/supabase-js"); err != nil {
		t.Fatalf("the client is not here: run `make clients`: %v", err)
	}
	dir := run.MigratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	s := run.Serve(t, env, "all")
	if status, body := run.Fetch(t, s.URL+"/auth/v1/.well-known/jwks.json", ""); status != 200 ||
		strings.Count(body, `"kid"`) != 1 {
		t.Errorf("embedded: %d %s, want the key that signed the anon key", status, body)
	}
	if info, err := os.Stat(filepath.Join(dir, "secret-keys")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secret keys: %v, %v", info, err)
	}
	const password = "three lamps at noon"
	run.ToEnd(t, env, "", "org", "add", "acme")
	run.ToEnd(t, env, "", "org", "add", "other")
	for _, user := range [][3]string{
		{"vic", "acme", "viewer"}, {"ann", "acme", "member"}, {"ada", "acme", "admin"}, {"oto", "acme", "owner"},
		{"eve", "other", "owner"},
	} {
		if r := run.ToEnd(t, env, password+"\n", "user", "add",
			user[0]+"@"+user[1]+".example", "--org", user[1], "--role", user[2]); r.Status != run.ExitDone {
			t.Fatalf("user add: %s", r.Stderr)
		}
	}
	anon := run.Must(t, env, "key", "anon")
	if again := run.Must(t, env, "key", "anon"); again != anon || strings.Count(anon, ".") != 2 {
		t.Errorf("key anon printed %s and %s", anon, again)
	}
	key := run.Must(t, env, "key", "create", "--org", "acme", "--user", "ann@acme.example", "--name", "test")
	line := `{"platform":"chatgpt","prompt":"best anvil?","answered_at":"` +
		time.Now().UTC().Add(-time.Minute).Format(time.RFC3339) + `","text":"Acme makes the best anvil."}`
	if r := run.ToEnd(t, env, line, "import", "-", "--org", "acme",
		"--create", run.Written(t, "brands.json", []byte(run.BrandsFile))); r.Status != run.ExitDone {
		t.Fatalf("import: status %d, %s", r.Status, r.Stderr)
	}
	run.AwaitResults(t, s.URL, key, 1)
	brand := run.OnlyBrand(t, s.URL, key)
	out, err := exec.CommandContext(t.Context(), "node",
		clients+"/supabase.mjs", s.URL, anon, password, key, brand).CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
	rowsArePurged(t, dir, brand)

	page, err := os.ReadFile("../../../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	request := regexp.MustCompile("(?s)```js\n(.*?)```.*?```sh\n(curl [^`]*/rest/v1/[^`]*)```").FindSubmatch(page)
	if request == nil {
		t.Fatal("the page has no requests")
	}
	program := strings.NewReplacer("http://127.0.0.1:8080", s.URL, "ana@example.org",
		"eve@other.example").Replace(string(request[1]))
	node := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", "globalThis.WebSocket ??= class {}\n"+
		"const [ANON_KEY, password] = ['"+anon+"', '"+password+"']\n"+program+
		"console.log(JSON.stringify(data.map((b) => [b.name, b.competitors])))")
	node.Dir = clients
	if out, err := node.CombinedOutput(); err != nil || string(out) != "[[\"Raye\",[]]]\n" {
		t.Errorf("the program of docs/rest.md: %v\n%s", err, out)
	}
	script := `ACCESS=$(curl -sSf "$URL/auth/v1/token?grant_type=password" -d ` +
		`'{"email":"eve@other.example","password":"` + password + `"}' | sed 's/.*"access_token":"\([^"]*\)".*/\1/')` +
		"\n" + string(request[2])
	asked := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	asked.Env = append(os.Environ(), "URL="+s.URL, "ANON="+anon)
	if out, err := asked.CombinedOutput(); err != nil || string(out) != `[{"name":"Raye","competitors":[]}]` {
		t.Errorf("the request of docs/rest.md: %v\n%s", err, out)
	}
}

// rowsArePurged waits until the warehouse has nothing of a brand.
func rowsArePurged(t *testing.T, dir, brand string) {
	t.Helper()
	warehouse, leave := run.JoinWarehouse(t, dir)
	defer leave()
	wait.Until(t, func() string {
		var rows uint64
		err := warehouse.QueryRow(t.Context(), `
			SELECT (SELECT count() FROM answers WHERE brand_id = $1)
			     + (SELECT count() FROM answer_daily WHERE brand_id = $1)
			     + (SELECT count() FROM entity_prompt_daily WHERE brand_id = $1)`, brand).Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		if rows > 0 {
			return fmt.Sprintf("%d rows of the deleted brand", rows)
		}
		return ""
	})
}
