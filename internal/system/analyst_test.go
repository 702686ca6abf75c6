package system

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
)

// sqlClient is an analyst with curl.
type sqlClient struct{ address, login, password string }

// analystOf reads what analyst add printed.
func analystOf(t *testing.T, r result) sqlClient {
	t.Helper()
	login, password, ok := strings.Cut(strings.TrimSpace(r.stdout), "\npassword ")
	_, rest, shown := strings.Cut(r.stderr, "'http://")
	address, _, _ := strings.Cut(rest, "/?")
	if r.status != exitDone || !ok || !shown {
		t.Fatalf("analyst add: status %d, printed %q and %q", r.status, r.stdout, r.stderr)
	}
	return sqlClient{address, login, password}
}

func (c sqlClient) ask(t *testing.T, query string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.address+"/?database=answerscope", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(c.login, c.password)
	status, _, text := exchange(t, request)
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

// The embedded ClickHouse is started again for an analyst. Requests to the API meanwhile get an answer, and what is
// imported meanwhile is counted once.
func TestAnalystsComeAndGoWhileEverythingRuns(t *testing.T) { // not parallel: requests wait ten seconds for the restart
	env := []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t)}
	all := serve(t, env, "all")
	for _, slug := range []string{"acme", "globex"} {
		must(t, env, "org", "add", slug, "--slug", slug)
		must(t, env, "user", "add", "ana@"+slug+".example", "--org", slug)
	}
	key := must(t, env, "key", "create", "--org", "acme", "--user", "ana@acme.example", "--name", "test")
	brands := written(t, "brands.json", []byte(brandsFile))
	first, rest := rockets(t, 0, 100), rockets(t, 100, 1500)
	imports := func(file string) {
		if r := run(t, env, "", "import", file, "--org", "acme", "--create", brands); r.status != exitDone {
			t.Errorf("import: %s", r.stderr)
		}
	}
	imports(first)
	awaitResults(t, all.url, key, 100)
	brand := onlyBrand(t, all.url, key)

	asking, enough := context.WithCancel(t.Context())
	defer enough()
	var asked sync.WaitGroup
	for _, path := range []string{"visibility-summary", "visibility-trend"} {
		asked.Go(func() {
			n, wrong := visits(asking, all.url+"/api/v1/"+path+"?brand_id="+brand, key)
			if len(wrong) > 0 || n < 10 {
				t.Errorf("%d of %d requests for %s went wrong: %.2000q", len(wrong), n, path, wrong)
			}
		})
	}
	asked.Go(func() { imports(rest) })
	ana := analystOf(t, run(t, env, "", "analyst", "add", "ana", "--org", "acme"))
	bob := analystOf(t, run(t, env, "", "analyst", "add", "bob", "--org", "globex"))
	awaitResults(t, all.url, key, 1500)
	if status, body := ana.ask(t, "SELECT count() FROM answers"); status != http.StatusOK || body != "1500" {
		t.Errorf("ana counts %d %s, want 1500", status, body)
	}
	if status, body := ana.ask(t, "SELECT platform, sum(answers) AS answers FROM answer_daily GROUP BY platform ORDER BY platform"); status != http.StatusOK || body != "chatgpt\t1500" {
		t.Errorf("the first question of ana gives %d %s, want 1500 answers of chatgpt", status, body)
	}
	if status, body := bob.ask(t, "SELECT count() FROM answers"); status != http.StatusOK || body != "0" {
		t.Errorf("bob counts %d %s, want 0", status, body)
	}

	listed := must(t, env, "analyst", "list")
	if lines := strings.Split(listed, "\n"); len(lines) != 2 || strings.Join(strings.Fields(lines[0]), " ") != "ana acme analyst_acme_ana since "+time.Now().UTC().Format(time.DateOnly) {
		t.Errorf("analyst list: %s", listed)
	}
	must(t, env, "analyst", "remove", "ana", "--org", "acme")
	log := must(t, env, "access", "--limit", "3", "--json")
	for _, want := range []string{`"action":"analyst removed","organization":"acme","subject":"analyst_acme_ana"`, `"action":"analyst added","organization":"globex"`, ": answerscope analyst remove\""} {
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
	if r := run(t, env, "", "analyst", "remove", "ana", "--org", "acme"); r.status != exitFailed {
		t.Errorf("removed twice: status %d", r.status)
	}
	if r := run(t, env, "", "analyst", "add", "bob", "--org", "globex"); r.status != exitFailed || !strings.Contains(r.stderr, "exists") {
		t.Errorf("added twice: status %d, %s", r.status, r.stderr)
	}
	if r := run(t, env, "", "analyst", "add", "a_b", "--org", "globex"); r.status != exitUsage {
		t.Errorf("added with a bad name: status %d, %s", r.status, r.stderr)
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
		fmt.Fprintf(&lines, `{"platform":"chatgpt","prompt":"rocket %d?","answered_at":"%s","text":"Acme makes rocket %d."}`+"\n", n, at, n)
	}
	return written(t, fmt.Sprintf("answers-%d.ndjson", from), []byte(lines.String()))
}

// Without a server the command starts what it needs, and the analyst is there the next time that one runs. The password
// may be chosen.
func TestAnAnalystIsKeptForTheNextServer(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir}
	must(t, env, "org", "add", "Acme")
	for _, weak := range []string{"password", "aaaaaaaaaaaaaaaa"} {
		if r := run(t, env, weak+"\n", "analyst", "add", "ana", "--org", "acme"); r.status != exitUsage || !strings.Contains(r.stderr, "at least 16 characters") {
			t.Errorf("password %s: status %d, %q", weak, r.status, r.stderr)
		}
	}
	r := run(t, env, "chosen by ana herself\n", "analyst", "add", "ana", "--org", "acme")
	if r.status != exitDone || r.stdout != "analyst_acme_ana\n" || strings.Contains(r.stdout+r.stderr, "chosen") {
		t.Fatalf("analyst add: status %d, %q, %q", r.status, r.stdout, r.stderr)
	}
	// As an earlier release would have left it.
	path := filepath.Join(dir, "clickhouse", "users.d", "analyst_acme_ana.xml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.ReplaceAll(string(text), "<query>GRANT SELECT ON answerscope.dimension_brands</query>", "")
	if old == string(text) {
		t.Fatalf("no grant on dimension_brands in %s", text)
	}
	write(t, path, old)

	serve(t, env, "all")
	_, rest, _ := strings.Cut(r.stderr, "'http://")
	address, _, _ := strings.Cut(rest, "/?")
	ana := sqlClient{address, "analyst_acme_ana", "chosen by ana herself"}
	if status, body := ana.ask(t, "SELECT count() FROM dimension_brands"); status != http.StatusOK || body != "0" {
		t.Errorf("ana with a renewed file: %d %s", status, body)
	}
}

// A ClickHouse of others has its users.d elsewhere: the file is written there, or printed for its operator.
func TestAnAnalystOfAnOutsideServer(t *testing.T) {
	t.Parallel()
	env := install(t, nil).env[:3] // without Kafka, which an analyst needs not
	r := run(t, env, "", "analyst", "add", "ana", "--org", "acme")
	if r.status != exitDone || !strings.HasPrefix(r.stdout, "<!-- ") || !strings.Contains(r.stderr, "analyst_acme_ana.xml") || !strings.Contains(r.stderr, "password ") {
		t.Errorf("analyst add: status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	for _, args := range [][]string{{"analyst", "list"}, {"analyst", "remove", "ana", "--org", "acme"}} {
		if r := run(t, env, "", args...); r.status != exitUsage || !strings.Contains(r.stderr, "--users-dir") {
			t.Errorf("%q without a directory: status %d, %s", args, r.status, r.stderr)
		}
	}
	users := t.TempDir()
	write(t, filepath.Join(users, "analyst_acme_ana.xml"), r.stdout)
	if listed := must(t, env, "analyst", "list", "--json", "--users-dir", users); !strings.Contains(listed, `"login":"analyst_acme_ana","name":"ana","organization":"acme"`) {
		t.Errorf("analyst list: %s", listed)
	}
	// This server reads no users there: they are gone from it at once.
	must(t, env, "analyst", "remove", "ana", "--org", "acme", "--users-dir", users)
	if left, err := os.ReadDir(users); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
