package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// kills is how often everything is killed, on each broker.
const kills = 8

// captured is a file of answers, each of which names the brand and its
// competitor, cites one page and shows one product, on 60 days in three months.
func captured(t *testing.T, answers int) string {
	t.Helper()
	var b bytes.Buffer
	for n := range answers {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n%60).Add(time.Duration(n) * time.Second)
		line, err := json.Marshal(map[string]any{
			"platform": "chatgpt-web", "model": fmt.Sprintf("m%d", n%3), "prompt": fmt.Sprintf("best lamp for room %d?", n%40),
			"topic": "lamps", "sample": n + 1, "answered_at": at.Format(time.RFC3339),
			"text":      "Lumen is a fine lamp. Glow is brighter." + strings.Repeat(" It depends on the room.", n%80),
			"citations": []map[string]any{{"url": fmt.Sprintf("https://lumen.example/%d", n%30), "title": "Lamps"}},
			"products":  []map[string]any{{"title": "Lumen One", "price_amount": "12.50", "price_currency": "EUR"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return written(t, "answers.ndjson", b.Bytes())
}

func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const oneBrand = `{"brands": [{"name": "Lumen", "slug": "lumen", "domains": ["lumen.example"], "competitors": [{"name": "Glow", "domains": ["glow.example"]}]}]}`

// inEachTable asks every table how many answers it has seen. The sums are the
// same number again because each answer brings 1 to each.
var inEachTable = []string{
	"SELECT count() FROM answers",
	"SELECT uniqExact(id) FROM answers",
	"SELECT toUInt64(sum(answers)) FROM answer_daily",
	"SELECT toUInt64(sum(mentions)) FROM answer_daily",
	"SELECT toUInt64(sum(answers)) FROM prompt_daily",
	"SELECT toUInt64(sum(mentions)) FROM competitor_prompt_daily",
	"SELECT count() FROM citations",
	"SELECT count() FROM shopping_cards",
}

// An import runs while everything is killed at random moments: the process that
// holds broker, sink, API and engines, and the import itself. Afterwards the
// import is run to its end. Each answer is then counted once, in the landing
// table, in the target of every view and by the API, and one more import
// changes no byte of any response.
func TestKilledUnderImportEachAnswerIsCountedOnce(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, kind string) {
		env := []string{"ANSWERSCOPE_DATA_DIR=" + dataDir(t), "ANSWERSCOPE_KAFKA_PARTITIONS=2"}
		if kind == "apache" {
			env = append(env, "ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX="+testkit.Prefix(t))
		}
		const answers = 6000
		file, create := captured(t, answers), written(t, "brands.json", []byte(oneBrand))
		must(t, env, "org", "add", "Acme", "--slug", "acme")
		must(t, env, "user", "add", "ann@acme.example", "--org", "acme")
		key := must(t, env, "key", "create", "--org", "acme", "--user", "ann@acme.example", "--name", "test")

		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range kills {
			killEverything(t, env, random, file, create)
		}

		s := serve(t, env, "all")
		must(t, env, "import", file, "--org", "acme", "--create", create)
		brand := brandID(t, s, key)
		responses := settledResponses(t, s, key, brand, answers)
		database := opened(t, env)
		for _, question := range inEachTable {
			var n uint64
			if err := database.QueryRow(t.Context(), question).Scan(&n); err != nil || n != answers {
				t.Errorf("%s: %d, %v; want %d", question, n, err, answers)
			}
		}

		var again struct{ Imported, Skipped int }
		if err := json.Unmarshal([]byte(must(t, env, "import", file, "--org", "acme", "--create", create)), &again); err != nil {
			t.Fatal(err)
		}
		if again.Imported != 0 || again.Skipped != answers {
			t.Errorf("imported again: %+v, want all %d skipped", again, answers)
		}
		for path, before := range responses {
			if _, after := fetch(t, s.url+path, key); after != before {
				t.Errorf("%s changed from\n%s\nto\n%s", path, before, after)
			}
		}
	})
}

// killEverything starts all and an import and ends both with SIGKILL, a random
// while after the import began: sometimes before its first answer is on the
// log, sometimes when most have landed.
func killEverything(t *testing.T, env []string, random *rand.Rand, file, create string) {
	t.Helper()
	s := serve(t, env, "all")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	defer cancel()
	importing := binary(ctx, env, "import", file, "--org", "acme", "--create", create)
	importing.Stderr = s.log
	if err := importing.Start(); err != nil {
		t.Fatal(err)
	}
	while := time.NewTimer(time.Duration(random.IntN(2500)) * time.Millisecond)
	defer while.Stop()
	<-while.C
	if random.IntN(2) == 0 {
		kill(t, importing)
	}
	if status := s.stop(t, syscall.SIGKILL); status != -1 {
		t.Errorf("all ended with status %d before it was killed:\n%s", status, s.log)
	}
	kill(t, importing)
	_ = importing.Wait() // killed, or ended by the loss of its engines
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

func brandID(t *testing.T, s *server, key string) string {
	t.Helper()
	_, body := fetch(t, s.url+"/api/v1/brands", key)
	var list struct{ Brands []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Brands) != 1 {
		t.Fatalf("brands: %s, %v", body, err)
	}
	return list.Brands[0].ID
}

// settledResponses are those of every question about the brand, once all its
// answers have arrived.
func settledResponses(t *testing.T, s *server, key, brand string, answers int) map[string]string {
	t.Helper()
	window := "?brand_id=" + url.QueryEscape(brand) + "&date_from=2026-01-01&date_to=2026-03-31"
	summary := "/api/v1/visibility-summary" + window
	arrived := fmt.Sprintf(`"resultCount":%d,`, answers)
	give := time.NewTimer(bound)
	look := time.NewTicker(100 * time.Millisecond)
	defer give.Stop()
	defer look.Stop()
	for {
		status, body := fetch(t, s.url+summary, key)
		if strings.Contains(body, arrived) {
			break
		}
		select {
		case <-look.C:
		case <-give.C:
			t.Fatalf("not all %d answers are in the summary: %d %s\n%s", answers, status, body, s.log)
		}
	}
	responses := map[string]string{}
	for _, path := range []string{summary, "/api/v1/visibility-trend" + window, "/api/v1/visibility-trend" + window + "&granularity=week", "/api/v1/brands", "/api/v1/whoami"} {
		_, responses[path] = fetch(t, s.url+path, key)
	}
	return responses
}

// opened is the warehouse of a running data directory.
func opened(t *testing.T, env []string) *clickhouse.Conn {
	t.Helper()
	dir := strings.TrimPrefix(env[0], "ANSWERSCOPE_DATA_DIR=")
	set, err := engine.Open(t.Context(), engine.Options{DataDir: dir, ClickHouse: true, Owner: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = set.ClickHouse()
	conn, err := clickhouse.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}
