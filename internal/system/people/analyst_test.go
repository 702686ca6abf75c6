package people

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/system/run"
)

// sqlClient is an analyst with curl.
type sqlClient struct{ address, login, password string }

// analystOf reads what analyst add printed.
func analystOf(t *testing.T, r run.Result) sqlClient {
	t.Helper()
	login, password, ok := strings.Cut(strings.TrimSpace(r.Stdout), "\npassword ")
	_, rest, shown := strings.Cut(r.Stderr, "'http://")
	address, _, _ := strings.Cut(rest, "/?")
	if r.Status != run.ExitDone || !ok || !shown {
		t.Fatalf("analyst add: status %d, printed %q and %q", r.Status, r.Stdout, r.Stderr)
	}
	return sqlClient{address, login, password}
}

func (c sqlClient) ask(t *testing.T, query string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://"+c.address+"/?database=answerscope", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(c.login, c.password)
	status, _, text := run.Exchange(t, request)
	return status, strings.TrimSpace(text)
}

// visits asks url again and again until ctx ends, and returns how often and what went wrong.
func visits(ctx context.Context, url, key string) (asked int, wrong []string) {
	for lifecycle.Pause(ctx, 30*time.Millisecond) == nil {
		request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, url, nil)
		if err != nil {
			return asked, append(wrong, err.Error())
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			wrong = append(wrong, fmt.Sprintf("%d %v %s", response.StatusCode, err, body))
		}
		asked++
	}
	return asked, wrong
}

// An analyst who was added without a server is there when one runs. The embedded ClickHouse is started again for
// another one. Requests to the API meanwhile get an answer, and what is imported meanwhile is counted once.
func TestAnalystsComeAndGoWhileEverythingRuns(t *testing.T) { // not parallel: requests wait ten seconds for the restart
	dir := run.MigratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	run.Must(t, env, "org", "add", "acme")
	kim := keepAnalyst(t, env, dir)
	all := run.Serve(t, env, "all")
	if status, body := kim.ask(t, "SELECT count() FROM dimension_brands"); status != http.StatusOK || body != "0" {
		t.Errorf("kim with a renewed file: %d %s", status, body)
	}
	for _, weak := range []string{"password", "aaaaaaaaaaaaaaaa"} {
		if r := run.ToEnd(t, env, weak+"\n", "analyst", "add", "eve", "--org", "acme"); r.Status != run.ExitUsage ||
			!strings.Contains(r.Stderr, "at least 16 characters") {
			t.Errorf("password %s: status %d, %q", weak, r.Status, r.Stderr)
		}
	}
	run.Must(t, env, "org", "add", "globex")
	run.Must(t, env, "user", "add", "ana@acme.example", "--org", "acme")
	key := run.Must(t, env, "key", "create", "--org", "acme", "--user", "ana@acme.example", "--name", "test")
	brands := run.Written(t, "brands.json", []byte(run.BrandsFile))
	first, rest := rockets(t, 0, 100), rockets(t, 100, 1500)
	imports := func(file string) {
		if r := run.ToEnd(t, env, "", "import", file, "--org", "acme", "--create", brands); r.Status != run.ExitDone {
			t.Errorf("import: %s", r.Stderr)
		}
	}
	imports(first)
	run.AwaitResults(t, all.URL, key, 100)
	brand := run.OnlyBrand(t, all.URL, key)

	asking, enough := context.WithCancel(t.Context())
	defer enough()
	var asked sync.WaitGroup
	for _, path := range []string{"visibility-summary", "visibility-trend"} {
		asked.Go(func() {
			n, wrong := visits(asking, all.URL+"/api/v1/"+path+"?brand_id="+brand, key)
			if len(wrong) > 0 || n < 10 {
				t.Errorf("%d of %d requests for %s went wrong: %.2000q", len(wrong), n, path, wrong)
			}
		})
	}
	asked.Go(func() { imports(rest) })
	ana := analystOf(t, run.ToEnd(t, env, "", "analyst", "add", "ana", "--org", "acme"))
	bob := analystOf(t, run.ToEnd(t, env, "", "analyst", "add", "bob", "--org", "globex"))
	run.AwaitResults(t, all.URL, key, 1500)
	if status, body := ana.ask(t, "SELECT count() FROM answers"); status != http.StatusOK || body != "1500" {
		t.Errorf("ana counts %d %s, want 1500", status, body)
	}
	const byPlatform = "SELECT platform, sum(answers) AS answers FROM answer_daily GROUP BY platform ORDER BY platform"
	if status, body := ana.ask(t, byPlatform); status != http.StatusOK || body != "chatgpt\t1500" {
		t.Errorf("the first question of ana gives %d %s, want 1500 answers of chatgpt", status, body)
	}
	if status, body := bob.ask(t, "SELECT count() FROM answers"); status != http.StatusOK || body != "0" {
		t.Errorf("bob counts %d %s, want 0", status, body)
	}

	listed := run.Must(t, env, "analyst", "list")
	if lines := strings.Split(listed, "\n"); len(lines) != 3 ||
		strings.Join(strings.Fields(lines[0]), " ") != "ana acme analyst_acme_ana since "+
			time.Now().UTC().Format(time.DateOnly) {
		t.Errorf("analyst list: %s", listed)
	}
	run.Must(t, env, "analyst", "remove", "ana", "--org", "acme")
	log := run.Must(t, env, "access", "--limit", "3", "--json")
	for _, want := range []string{
		`"action":"analyst removed","organization":"acme","subject":"analyst_acme_ana"`,
		`"action":"analyst added","organization":"globex"`, ": answerscope analyst remove\"",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log lacks %s:\n%s", want, log)
		}
	}
	if status, body := ana.ask(t, "SELECT 1"); status == http.StatusOK {
		t.Errorf("ana still asks: %s", body)
	}
	if status, body := bob.ask(t, "SELECT 1"); status != http.StatusOK {
		t.Errorf("bob does not ask any more: %s", body)
	}
	if r := run.ToEnd(t, env, "", "analyst", "remove", "ana", "--org", "acme"); r.Status != run.ExitFailed {
		t.Errorf("removed twice: status %d", r.Status)
	}
	if r := run.ToEnd(t, env, "", "analyst", "add", "bob", "--org", "globex"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "exists") {
		t.Errorf("added twice: status %d, %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "analyst", "add", "a_b", "--org", "globex"); r.Status != run.ExitUsage {
		t.Errorf("added with a bad name: status %d, %s", r.Status, r.Stderr)
	}
	enough()
	asked.Wait()
}

// rockets is a file of answers from one number to another.
func rockets(t *testing.T, from, until int) string {
	t.Helper()
	at := time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)
	var lines strings.Builder
	for n := from; n < until; n++ {
		fmt.Fprintf(&lines,
			`{"platform":"chatgpt","prompt":"rocket %d?","answered_at":"%s","text":"Acme makes rocket %d."}`+"\n", n,
			at, n)
	}
	return run.Written(t, fmt.Sprintf("answers-%d.ndjson", from), []byte(lines.String()))
}

// keepAnalyst adds kim without a server, with a chosen password and a file as an earlier release would have left it.
func keepAnalyst(t *testing.T, env []string, dir string) sqlClient {
	t.Helper()
	r := run.ToEnd(t, env, "chosen by kim herself\n", "analyst", "add", "kim", "--org", "acme")
	if r.Status != run.ExitDone || r.Stdout != "analyst_acme_kim\n" || strings.Contains(r.Stdout+r.Stderr, "chosen") {
		t.Fatalf("analyst add: status %d, %q, %q", r.Status, r.Stdout, r.Stderr)
	}
	path := filepath.Join(dir, "clickhouse", "users.d", "analyst_acme_kim.xml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.ReplaceAll(string(text), "<query>GRANT SELECT ON answerscope.dimension_brands</query>", "")
	if old == string(text) {
		t.Fatalf("no grant on dimension_brands in %s", text)
	}
	run.Write(t, path, old)
	_, rest, _ := strings.Cut(r.Stderr, "'http://")
	address, _, _ := strings.Cut(rest, "/?")
	return sqlClient{address, "analyst_acme_kim", "chosen by kim herself"}
}

// A ClickHouse of others has its users.d elsewhere: the file is written there, or printed for its operator.
func TestAnAnalystOfAnOutsideServer(t *testing.T) {
	t.Parallel()
	env := run.Install(t, nil).Env[:3] // without Kafka, which an analyst needs not
	r := run.ToEnd(t, env, "", "analyst", "add", "ana", "--org", "acme")
	if r.Status != run.ExitDone || !strings.HasPrefix(r.Stdout, "<!-- ") ||
		!strings.Contains(r.Stderr, "analyst_acme_ana.xml") || !strings.Contains(r.Stderr, "password ") {
		t.Errorf("analyst add: status %d\n%s\n%s", r.Status, r.Stdout, r.Stderr)
	}
	for _, args := range [][]string{{"analyst", "list"}, {"analyst", "remove", "ana", "--org", "acme"}} {
		if r := run.ToEnd(t, env, "", args...); r.Status != run.ExitUsage ||
			!strings.Contains(r.Stderr, "--users-dir") {
			t.Errorf("%q without a directory: status %d, %s", args, r.Status, r.Stderr)
		}
	}
	users := t.TempDir()
	run.Write(t, filepath.Join(users, "analyst_acme_ana.xml"), r.Stdout)
	if listed := run.Must(t, env, "analyst", "list",
		"--json", "--users-dir",
		users); !strings.Contains(listed, `"login":"analyst_acme_ana","name":"ana","organization":"acme"`) {
		t.Errorf("analyst list: %s", listed)
	}
	// This server reads no users there: they are gone from it at once.
	run.Must(t, env, "analyst", "remove", "ana", "--org", "acme", "--users-dir", users)
	if left, err := os.ReadDir(users); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
