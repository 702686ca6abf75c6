package schema_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// Limits of the queries that call functions.
const (
	functionSeconds = 4
	functionBytes   = 300_000_000
)

// sampled are the functions that every run calls: ordinary ones, and one that takes 27 s past a limit of two. `make
// test-crash` calls all.
var sampled = []string{"concat", "arraySort", "editDistance"}

// No function lets an analyst's query pass twice its time or one and a half its memory, with arguments of 20,000
// elements or a megabyte: it ends by itself, or the engine is started again without it. Beside other tests only its end
// is wanted, not the time.
func TestEveryFunctionKeepsTheLimits(t *testing.T) {
	t.Parallel()
	s := newFunctionStage(t)
	functions := s.functions(t)
	exhaustive := os.Getenv("ANSWERSCOPE_TEST_KILLS") != ""
	if !exhaustive {
		functions = slices.DeleteFunc(functions, func(f function) bool { return !slices.Contains(sampled, f.Name) })
	}
	if len(functions) < len(sampled) {
		t.Fatalf("there are only %d functions", len(functions))
	}
	for _, f := range functions {
		for _, call := range f.calls() {
			began := time.Now()
			s.call(t, call)
			if took := time.Since(began); exhaustive && took > 2*functionSeconds*time.Second {
				t.Errorf("%.200s took %s of %d s", call, took, functionSeconds)
			}
		}
		wait.For(t, "the engine to answer", func() bool { return s.ask(t, s.ana, "SELECT 1") == "1\n" })
	}
	bounded := s.ask(t, s.owner, "SELECT max(memory_usage) <= 1.5 * 300000000 FROM audit.query_log WHERE user = "+
		"'analyst_acme_ana'")
	if bounded != "1\n" || s.mostBytes(t) > functionBytes/2*3 {
		t.Errorf("queries took more memory than one and a half their limit: %s, %d bytes", bounded, s.mostBytes(t))
	}
}

// functionStage is an engine that is looked after, with an analyst.
type functionStage struct {
	http       string
	owner, ana login
	log        *logbuffer.Buffer
}

func newFunctionStage(t *testing.T) *functionStage {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &functionStage{ana: login{"analyst_acme_ana", "of-acme"}, log: &logbuffer.Buffer{}}
	users := engine.ClickHouseUsersDir(dir)
	if err := os.MkdirAll(users, 0o700); err != nil {
		t.Fatal(err)
	}
	a := schema.Analyst{Name: "ana", Organization: "acme", OrganizationID: id(t, organizationA),
		PasswordSCRAM: schema.PasswordSCRAM(s.ana.password), Database: engine.Database}
	if err := schema.AddAnalyst(users, a); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(t.Context(), engine.Options{DataDir: dir, ClickHouse: true, Owner: "all", Exclusive: true,
		NoSync: true, Log: slog.New(slog.NewJSONHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(e.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	s.http, s.owner = e.ClickHouseHTTP, login{u.User.Username(), password}
	return s
}

// ask returns what comes back, an error too; "" where the engine is away.
func (s *functionStage) ask(t *testing.T, who login, statement string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.http,
		strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(who.user, who.password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body) // cut off where the engine ends
	return string(text)
}

func (s *functionStage) call(t *testing.T, call string) {
	t.Helper()
	s.ask(t, s.ana, "SELECT ignore("+call+") FROM numbers(1) FORMAT Null SETTINGS max_execution_time = 4, "+
		"max_memory_usage = 300000000")
}

// mostBytes is the most memory of a query for which the engine was started again.
func (s *functionStage) mostBytes(t *testing.T) (bounded uint64) {
	t.Helper()
	for line := range strings.Lines(s.log.String()) {
		var restarted struct {
			Bytes uint64 `json:"bytes,string"`
		}
		if strings.Contains(line, "passed its limits") {
			if err := json.Unmarshal([]byte(line), &restarted); err != nil {
				t.Fatal(err)
			}
			bounded = max(bounded, restarted.Bytes)
		}
	}
	return bounded
}

// function is one of system.functions. Its arguments are a Markdown list with types as links: - `s` — Text.
// [`String`](…).
type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (s *functionStage) functions(t *testing.T) (all []function) {
	t.Helper()
	text := s.ask(t, s.owner, "SELECT name, arguments FROM system.functions WHERE alias_to = '' AND origin = "+
		"'System' AND NOT startsWith(name, 'sleep') ORDER BY name FORMAT JSONEachRow")
	for line := range strings.Lines(text) {
		var f function
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		all = append(all, f)
	}
	return all
}

var (
	argumentStart = regexp.MustCompile("(?:^|\\s)- `")
	argumentType  = regexp.MustCompile("\\[`([^`]+)`\\]")
)

// calls are those with large values of the types that the arguments say, and with some of any type.
func (f function) calls() []string {
	lists := [][]string{nil}
	for _, argument := range argumentStart.Split(f.Arguments, -1) {
		var values []string
		for _, kind := range argumentType.FindAllStringSubmatch(argument, -1) {
			values = append(values, valuesOf(strings.ToLower(kind[1]))...)
		}
		if len(values) == 0 || len(lists) > 24 {
			continue
		}
		var longer [][]string
		for _, list := range lists {
			for _, value := range slices.Compact(values) {
				longer = append(longer, append(slices.Clone(list), value))
			}
		}
		lists = longer
	}
	for _, value := range []string{text, megabyte, numbers, texts, polygon} {
		lists = append(lists, []string{value}, []string{value, value})
	}
	lists = append(lists, []string{numbers, numbers, floats, floats}, []string{text, "'a'"},
		[]string{"materialize(1000000)", "materialize(1000000)"})
	var calls []string
	for _, list := range lists {
		calls = append(calls, f.Name+"("+strings.Join(list, ", ")+")")
	}
	return calls
}

// Large values.
const (
	text     = "materialize(repeat('ab,c1 x/', 7500))"
	megabyte = "materialize(repeat('aX9.', 250000))"
	numbers  = "materialize(range(20000))"
	floats   = "materialize(arrayMap(x -> x / 3, range(20000)))"
	texts    = "materialize(arrayMap(x -> toString(x), range(20000)))"
	ring     = "arrayMap(i -> (cos(i / 3183.0988) * (1 + (i % 7) / 10), sin(i / 3183.0988) * (1 + (i % 5) / 10)), " +
		"range(20000))"
	polygon = "materialize([" + ring + "])"
)

// valuesOf are large values of a type as the documentation names it.
func valuesOf(kind string) []string {
	for _, c := range []struct {
		part   string
		values []string
	}{
		{"lambda", []string{"x -> x = x", "(x, y) -> x + y"}},
		{"multipolygon", []string{"materialize([[" + ring + "]])"}},
		{"polygon", []string{polygon}},
		{"geometry", []string{polygon}},
		{"ring", []string{"materialize(" + ring + ")"}},
		{"point", []string{"materialize((0.5, 0.5))"}},
		{"bitmap", []string{"bitmapBuild(" + numbers + ")"}},
		{"array(float", []string{floats}},
		{"array", []string{numbers, texts}},
		{"map", []string{"materialize(mapFromArrays(" + texts + ", range(20000)))"}},
		{"json", []string{"materialize('{\"a\":[' || repeat('{\"b\":1},', 9000) || '1]}')"}},
		{"string", []string{text, megabyte}},
		{"datetime64", []string{"now64(6)"}},
		{"datetime", []string{"now()"}},
		{"date", []string{"today()"}},
		{"uuid", []string{"generateUUIDv4()"}},
		{"int", []string{"materialize(1000000)", "2"}},
		{"float", []string{"materialize(0.7)"}},
		{"decimal", []string{"materialize(0.7)"}},
		{"tuple", []string{"materialize((1, 2.5))"}},
		{"any", []string{numbers, text}},
	} {
		if strings.Contains(kind, c.part) {
			return c.values
		}
	}
	return nil
}
