// Package docs_test holds docs to what they say: every statement of sql.md is asked of a real server by an analyst, and
// dictionary.md is what that analyst can read. With -update it writes down what it found.
package docs_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/tools/txtar"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

var update = flag.Bool("update", false, "rewrite the results in sql.md, dictionary.md, endpoints.md and metrics.md")

func TestMain(m *testing.M) { testkit.Main(m) }

// A stage is a server that holds the facts of a txtar file, and ana, who is an analyst of acme.
type stage struct {
	http      string // host:port
	warehouse *clickhouse.Conn
	brands    []*brandFact
	prompts   map[string]*promptFact
	offset    int64
}

const analyst, password = "analyst_acme_ana", "of-acme"

func setStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	users := engine.ClickHouseUsersDir(dir)
	if err := os.MkdirAll(users, 0o700); err != nil {
		t.Fatal(err)
	}
	ana := schema.Analyst{
		Name: "ana", Organization: "acme", OrganizationID: clickhouse.UUID(idOf("acme")), Database: engine.Database,
		Since:          time.Now(),
		PasswordSHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(password))),
	}
	if err := schema.AddAnalyst(users, ana); err != nil {
		t.Fatal(err)
	}
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{
		Dir: filepath.Dir(users), NoSync: true, Log: logTo(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c := clickhouse.DefaultConfig()
	c.DSN = e.DSN()
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return &stage{http: e.HTTPAddr(), warehouse: conn, prompts: map[string]*promptFact{}}
}

func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// idOf is the same id for the same words in every run.
func idOf(words ...string) uuid.UUID {
	id := uuid.UUID{}
	for _, w := range words {
		id = uuid.NewV5(id, w)
	}
	return id
}

// play lands the facts of a txtar file, section by section; those of the log through its codec, the extractor and the
// sink.
func (s *stage) play(t *testing.T, path string) {
	t.Helper()
	facts, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range facts.Files {
		switch section.Name {
		case "brands.ndjson":
			s.addBrands(t, lines[brandFact](t, section.Data))
		case "prompts.ndjson":
			s.addPrompts(t, lines[promptFact](t, section.Data))
		case "answers.ndjson":
			var values [][]byte
			for i, f := range lines[answerFact](t, section.Data) {
				values = append(values, f.record(t, s, i+1))
			}
			land(t, s, sink.NewAnswers(s.warehouse, prometheus.NewRegistry(), logTo(t)), "answers", values)
		case "visits.ndjson":
			values := repeated(t, s, lines[visitFact](t, section.Data))
			land(t, s, sink.NewVisits(s.warehouse, sink.CachedVisitIDs, prometheus.NewRegistry(), logTo(t)), "visits",
				values)
		case "crawls.ndjson":
			values := repeated(t, s, lines[crawlFact](t, section.Data))
			land(t, s, sink.NewCrawls(s.warehouse, prometheus.NewRegistry(), logTo(t)), "crawls", values)
		case "corrected.sql":
			if err := s.warehouse.Exec(t.Context(), string(section.Data)); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("%s: %s are no facts", path, section.Name)
		}
	}
}

// repeated are the records of facts, of which each comes as often as it says.
func repeated[F interface {
	record(t *testing.T, s *stage, number int) []byte
	times() int
}](t *testing.T, s *stage, facts []F) (values [][]byte) {
	t.Helper()
	for _, f := range facts {
		for range max(f.times(), 1) {
			values = append(values, f.record(t, s, len(values)+1))
		}
	}
	return values
}

// lines decodes NDJSON; a field that the type lacks is a mistake in the file.
func lines[T any](t *testing.T, text []byte) (all []*T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	for decoder.More() {
		one := new(T)
		if err := decoder.Decode(one); err != nil {
			t.Fatal(fmt.Errorf("line %d: %w", len(all)+1, err))
		}
		all = append(all, one)
	}
	return all
}

// A landing is a sink of answers, visits or crawls.
type landing[T any] interface {
	Version() int
	Decode(version int, r consume.Record) (T, int, error)
	Insert(ctx context.Context, b *consume.Batch[T], planned func() error) error
}

func land[T any](t *testing.T, s *stage, target landing[T], topic string, values [][]byte) {
	t.Helper()
	batch := &consume.Batch[T]{Topic: topic, First: s.offset, Last: s.offset + int64(len(values)) - 1}
	for _, value := range values {
		item, _, err := target.Decode(target.Version(), consume.Record{Topic: topic, Offset: s.offset, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		batch.Items = append(batch.Items, item)
		s.offset++
	}
	if err := target.Insert(t.Context(), batch, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// ask is what a statement gives ana, as a table of Markdown.
func (s *stage) ask(t *testing.T, statement string) (table string, err error) {
	t.Helper()
	target := url.URL{Scheme: "http", Host: s.http, Path: "/", RawQuery: url.Values{
		"database": {engine.Database}, "default_format": {"Markdown"}, "wait_end_of_query": {"1"},
		"param_organization_id": {idOf("acme").String()}, "param_brand_id": {idOf("acme", "lumen").String()},
	}.Encode()}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target.String(),
		strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(analyst, password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", response.Status, cmp.Or(string(body), "no body"))
	}
	return string(body), nil
}

// rows are those of a statement, column by column; it must succeed.
func (s *stage) rows(t *testing.T, statement string) (rows [][]string) {
	t.Helper()
	text, err := s.ask(t, statement+"\nFORMAT TSVRaw")
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}
