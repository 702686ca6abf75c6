package engines

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Engines of a remote are reached through proxies that a test can close.
type remote struct {
	env     []string
	proxies map[string]*testkit.Proxy
	control postgres.Config
	prefix  string
}

// remoteEngines are stores and a broker, of which one lacks its schema or topics; "": none of them.
func remoteEngines(t *testing.T, lacking string) *remote {
	t.Helper()
	r := &remote{control: postgres.DefaultConfig(), prefix: testkit.Prefix(t)}
	if lacking == "postgres" {
		r.control.DSN = testkit.Postgres(t)
	} else {
		r.control = store.ControlPlane(t)
	}
	var warehouse string
	if lacking == "clickhouse" {
		warehouse = testkit.ClickHouse(t)
	} else {
		warehouse = store.CompleteWarehouse(t).DSN
	}
	r.proxies = map[string]*testkit.Proxy{
		"postgres": testkit.NewProxy(t, r.control.DSN), "clickhouse": testkit.NewProxy(t, warehouse),
		"kafka": testkit.NewProxy(t, "kafka://"+testkit.Kafka(t)[0]),
	}
	r.env = []string{
		"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + r.prefix,
		"ANSWERSCOPE_KAFKA_PARTITIONS=2",
		"ANSWERSCOPE_POSTGRES_DSN=" + r.proxies["postgres"].DSN,
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + r.proxies["clickhouse"].DSN,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.TrimPrefix(r.proxies["kafka"].DSN, "kafka://"),
	}
	if lacking == "" {
		run.Must(t, r.env, "migrate") // makes the topics
	}
	return r
}

// A process that starts while an engine is away serves what it can, says in /readyz what is missing, and goes on by
// itself once the engine is there: all brings up the schema that the engine lacks.
func TestAStartWhileAnEngineIsAway(t *testing.T) {
	t.Parallel()
	missed := map[string][]string{ // by command
		"all": {"postgres", "clickhouse", "kafka"}, "ingest": {"postgres"}, "pipeline": {"clickhouse"},
		"queryapi": {"clickhouse"}, "collector": {"kafka"},
	}
	if testkit.All {
		missed = map[string][]string{
			"all": missed["all"], "ingest": missed["all"], "pipeline": missed["all"],
			"queryapi": {"postgres", "clickhouse"}, "collector": {"postgres", "kafka"},
		}
	}
	for command, engines := range missed {
		for _, engine := range engines {
			t.Run(command+" without "+engine, func(t *testing.T) {
				t.Parallel()
				lacking := ""
				if command == "all" {
					lacking = engine
				}
				r := remoteEngines(t, lacking)
				r.proxies[engine].Refuse()
				s := run.Launch(t, r.env, command)
				missing(t, s, engine)
				checkSurfaces(t, s, command, engine)
				r.proxies[engine].Accept()
				if !s.Await(t) {
					t.Fatal("it ended")
				}
				namesNo(t, s, engine)
				if command == "all" || command == "collector" {
					r.checkBeacons(t, s, command, engine)
				}
			})
		}
	}
}

// missing waits until /readyz names an engine.
func missing(t *testing.T, s *run.Server, engine string) {
	t.Helper()
	wait.For(t, "the admin listener", func() bool { return strings.Contains(s.Log.String(), "admin listener") })
	wait.Until(t, func() string {
		_, body := run.Fetch(t, s.Admin(t)+"/readyz", "")
		if strings.Contains(body, engine) && !strings.Contains(body, "not started yet") {
			return ""
		}
		return "readyz is " + body
	})
	_, rest, _ := strings.Cut(s.Log.String(), `msg="public listener" address=`)
	s.URL, _, _ = strings.Cut(rest, "\n")
}

// checkSurfaces wants 503 with Retry-After of what needs the engine.
func checkSurfaces(t *testing.T, s *run.Server, command, engine string) {
	t.Helper()
	paths := []string{"/api/v1/whoami", "/rest/v1/brands", "/auth/v1/user", "/app/api/session"}
	switch {
	case engine == "kafka" || command == "pipeline" || command == "collector":
		return
	case command == "ingest":
		paths = []string{"/api/tracking/jobs"}
	}
	for _, path := range paths {
		response, err := http.Get(s.URL + path)
		if err != nil {
			t.Error(err)
			continue
		}
		response.Body.Close()
		if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d, Retry-After %q, want 503 and when to come back", path, response.StatusCode,
				response.Header.Get("Retry-After"))
		}
	}
	if status, _ := run.Fetch(t, s.URL+"/healthz", ""); status != 200 {
		t.Errorf("healthz: %d", status)
	}
}

// checkBeacons starts a process again that has run once, while the engine is away: its beacons are accepted, and
// counted once the engine is back.
func (r *remote) checkBeacons(t *testing.T, s *run.Server, command, engine string) {
	t.Helper()
	i := &run.Installation{DB: store.OpenControlPlane(t, r.control)}
	var key string
	i.Organization, key = i.Organize(t, "acme")
	body := run.BeaconOf(i.AddBrands(t, i.Organization.ID, run.BrandsFile),
		"/a?utm_source=chatgpt.com", `,"n":1,"z":"Europe/Paris"`)
	brand := strings.Split(body, `"`)[7]
	wait.For(t, "the brand's domain to be known", func() bool {
		status, _ := run.Post(t, s.URL, body)
		return status == 204
	})
	s.Stop(t, syscall.SIGTERM)

	r.proxies[engine].Refuse()
	s = run.Launch(t, r.env, command)
	missing(t, s, engine)
	wait.For(t, "a beacon to be accepted", func() bool { status, _ := run.Post(t, s.URL, body); return status == 204 })
	status, ready := run.Fetch(t, s.Admin(t)+"/readyz", "")
	if want := map[string]int{"all": 503, "collector": 200}[command]; status != want ||
		!strings.Contains(ready, engine) {
		t.Errorf("readyz: %d %s, want %d and %s", status, ready, want, engine)
	}
	r.proxies[engine].Accept()
	if !s.Await(t) {
		t.Fatal("it ended")
	}
	if command == "all" {
		wait.For(t, "two visits to be counted", func() bool { return countedVisits(t, s.URL, brand, key) == 2 })
	}
}

// An engine that hangs, or whose packets are lost, is in /readyz until it is back.
func TestReadyzNamesAnEngineThatHangs(t *testing.T) {
	t.Parallel()
	r := remoteEngines(t, "")
	for command, engines := range map[string][]string{
		"all": {"postgres", "clickhouse", "kafka"}, "collector": {"postgres", "kafka"},
	} {
		s := run.Serve(t, r.env, command)
		for _, engine := range engines {
			namesNo(t, s, engine)
			r.proxies[engine].Drop()
			names(t, s, engine)
			r.proxies[engine].Pass()
			namesNo(t, s, engine)
		}
		s.Stop(t, syscall.SIGTERM)
	}
}

// names waits until /readyz names an engine.
func names(t *testing.T, s *run.Server, engine string) {
	t.Helper()
	wait.For(t, "readyz to name "+engine, func() bool {
		_, body := run.Fetch(t, s.Admin(t)+"/readyz", "")
		return strings.Contains(body, engine)
	})
}

// namesNo waits until /readyz answers without an engine.
func namesNo(t *testing.T, s *run.Server, engine string) {
	t.Helper()
	wait.For(t, "readyz without "+engine, func() bool {
		status, body := run.Fetch(t, s.Admin(t)+"/readyz", "")
		return status == http.StatusOK && !strings.Contains(body, engine)
	})
}
