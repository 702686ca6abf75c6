//go:build all

package people

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/system/run"
)

// A viewer who asks for all of 90,000 answers ten times at once takes neither the memory of the process and its engines
// nor another organization's time. ANSWERSCOPE_TEST_ANSWERS is another number of answers.
func TestAViewerWhoAsksForEverything(t *testing.T) {
	t.Parallel()
	answers := cmp.Or(os.Getenv("ANSWERSCOPE_TEST_ANSWERS"), "9000")
	dir := run.MigratedDir(t)
	env := []string{"ANSWERSCOPE_DATA_DIR=" + dir, "GOGC=100"} // memory is as everywhere
	s := run.Serve(t, env, "all", "--rate-limit=1000")
	const password = "three lamps at noon"
	for _, user := range [][2]string{{"large", "viewer"}, {"other", "owner"}} {
		run.ToEnd(t, env, "", "org", "add", user[0])
		if r := run.ToEnd(t, env, password+"\n", "user", "add",
			"ann@"+user[0]+".example", "--org", user[0], "--role", user[1]); r.Status != run.ExitDone {
			t.Fatalf("user add: %s", r.Stderr)
		}
	}
	set, err := engine.Open(t.Context(), engine.Options{
		DataDir: dir, Postgres: true, Owner: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Stop(context.WithoutCancel(t.Context()))
	conn, err := pgx.Connect(t.Context(), set.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	const rows = `
		WITH o AS (SELECT id FROM public.organizations WHERE slug = 'large'),
		b AS (INSERT INTO public.brands (organization_id, name, slug) SELECT id, 'Lumen', 'lumen' FROM o RETURNING id),
		s AS (INSERT INTO public.prompt_sets (brand_id, name) SELECT id, 'Prompts' FROM b RETURNING id)
		INSERT INTO public.prompts (prompt_set_id, text) SELECT s.id, 'prompt ' || i FROM s, generate_series(1, 90) i`
	if _, err := conn.Exec(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	const results = `
		INSERT INTO public.prompt_results (id, prompt_id, brand_id, organization_id, platform, model_used, region,
			sample, response, citations, mention_count, citation_count, sentiment, visibility_score,
			competitor_mentions, search_queries, revision, extract_version, created_at)
		SELECT gen_random_uuid(), p.id, b.id, b.organization_id, 'chatgpt', '', '',
			i, substr(text.of, i % 4000 + 1, 4096), '[]', 0, 0, 'neutral', 0,
			'[]', '[]', 1, 1, now() - interval '1 minute' * i
		FROM (SELECT string_agg(md5(random()::text), '') AS of FROM generate_series(1, 256)) text, public.brands b,
			LATERAL (SELECT id, row_number() OVER () AS n FROM public.prompts) p, generate_series(1, $1::int / 90) i`
	if _, err := conn.Exec(t.Context(), results, answers); err != nil {
		t.Fatal(err)
	}
	anon := run.Must(t, env, "key", "anon")
	large, other := signInAs(t, s.URL, "ann@large.example", password), signInAs(t, s.URL, "ann@other.example", password)
	ask := func(path, token string) (*http.Response, []byte) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/rest/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Apikey", anon)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return &http.Response{Header: http.Header{}}, nil
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		return response, body
	}
	for range 20 {
		ask("brands", other)
		ask("prompt_results?limit=1", large)
	}
	before := memoryOf(t, s.Cmd.Process.Pid)
	largest, asking := before, true
	var took []time.Duration
	var others sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() {
		for asking {
			started := time.Now()
			if r, body := ask("brands?select=*,prompts(*)", other); r.StatusCode != 200 {
				t.Errorf("the other organization: %d %s", r.StatusCode, body)
			}
			took = append(took, time.Since(started))
			select {
			case <-stop:
				asking = false
			default:
			}
		}
	})
	others.Go(func() {
		for {
			largest = max(largest, memoryOf(t, s.Cmd.Process.Pid))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	started := time.Now()
	var viewers sync.WaitGroup
	for range 10 {
		viewers.Go(func() {
			for range 3 {
				r, body := ask("prompt_results", large)
				var got []map[string]any
				if err := json.Unmarshal(body, &got); err != nil || r.StatusCode != 206 || len(got) != 1000 ||
					r.Header.Get("Content-Range") != "0-999/*" {
					t.Errorf("%d %s: %d rows, %v", r.StatusCode, r.Header.Get("Content-Range"), len(got), err)
				}
			}
		})
	}
	viewers.Wait()
	t.Logf("30 responses of 1,000 answers by 10 clients: %s", time.Since(started))
	for _, nested := range []string{
		"brands?select=*,prompts(*,prompt_results(*))", "prompts?select=*,prompt_results(*)",
	} {
		if r, body := ask(nested, large); r.StatusCode != 400 && r.StatusCode != 206 || len(body) > 8<<20 {
			t.Errorf("%s: %d, %d bytes", nested, r.StatusCode, len(body))
		}
	}
	close(stop)
	others.Wait()
	slices.Sort(took)
	t.Logf("another organization's %d requests: p50 %s, p99 %s, max %s", len(took), took[len(took)/2],
		took[len(took)*99/100], took[len(took)-1])
	t.Logf("memory: %d MB before, %d MB at most", before>>20, largest>>20)
	if grown := largest - before; grown > 100<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
	if usual := took[len(took)/2]; usual > 200*time.Millisecond { // the slowest are those of a busy machine
		t.Errorf("another organization usually waited %s", usual)
	}
}

func signInAs(t *testing.T, url, email, password string) string {
	t.Helper()
	response, err := http.Post(url+"/auth/v1/token?grant_type=password", "application/json",
		strings.NewReader(fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&session); err != nil || session.AccessToken == "" {
		t.Fatalf("sign in: %s, %v", response.Status, err)
	}
	return session.AccessToken
}

// memoryOf is the memory of a process and its children that no other process shares, and of what they share each's
// part.
func memoryOf(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // a child may have ended
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			bytes += kilobytes << 10
		}
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for child := range strings.FieldsSeq(string(children)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			bytes += memoryOf(t, id)
		}
	}
	return bytes
}
