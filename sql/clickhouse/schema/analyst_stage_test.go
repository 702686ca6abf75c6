package schema_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// stage is an engine of its own with our schema and an organization's analyst each: ana of A, bob of B. Every table
// that an analyst may read has rows of both.
type stage struct {
	address, http string // host:port
	owner         login
	ana, bob      login
	dir           string
}

type login struct{ user, password string }

// One engine serves all: it takes seconds to set the stage.
func TestAnalysts(t *testing.T) {
	s := setStage(t)
	t.Run("read their rows of every table and no others", s.readTheirRowsOfEveryTableAndNoOthers)
	t.Run("call every view for their organization alone", s.callEveryViewForTheirOrganizationAlone)
	t.Run("list their tables", s.listTheirTables)
	t.Run("work", s.work)
	t.Run("connect as they like", s.connectAsTheyLike)
	t.Run("are refused", s.areRefused)
	t.Run("find no unknown table function", s.findNoUnknownTableFunction)
	t.Run("do not read indexes", s.doNotReadIndexes)
	t.Run("learn nothing of others", s.learnNothingOfOthers)
	t.Run("share no caches", s.shareNoCaches)
	t.Run("ask only so much at once", s.askOnlySoMuchAtOnce)
	t.Run("are not found by guessing", s.areNotFoundByGuessing)
	t.Run("select from views without parameters", s.selectFromViewsWithoutParameters) // last, of more rows
}

const (
	organizationA, brandA = "0199c2f0-aaaa-7abc-8def-00000000000a", "0199c2f0-aaaa-7abc-8def-0000000000b1"
	organizationB, brandB = "0199c2f0-bbbb-7abc-8def-00000000000b", "0199c2f0-bbbb-7abc-8def-0000000000b2"
	unknown               = "0199c2f0-cccc-7abc-8def-00000000000c"
)

const elsewhere = `<clickhouse><remote_servers><elsewhere><shard><replica><host>127.0.0.1</host><port>9</port></` +
	`replica></shard></elsewhere></remote_servers></clickhouse>`

func setStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{ana: login{"analyst_acme_ana", "of-acme"}, bob: login{"analyst_globex_bob", "of-globex"},
		dir: t.TempDir()}
	users := engine.ClickHouseUsersDir(s.dir)
	if err := os.MkdirAll(users, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, a := range []schema.Analyst{
		{Name: "ana", Organization: "acme", OrganizationID: id(t, organizationA),
			PasswordSCRAM: schema.PasswordSCRAM(s.ana.password)},
		{Name: "bob", Organization: "globex", OrganizationID: id(t, organizationB),
			PasswordSCRAM: schema.PasswordSCRAM(s.bob.password)},
	} {
		a.Database, a.Since = engine.Database, time.Now()
		if err := schema.AddAnalyst(users, a); err != nil {
			t.Fatal(err)
		}
	}
	// A server may have other clusters configured, where the row filters do not apply.
	if err := os.MkdirAll(filepath.Join(s.dir, "clickhouse", "config.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "clickhouse", "config.d", "elsewhere.xml"), []byte(elsewhere),
		0o600); err != nil {
		t.Fatal(err)
	}
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{
		Dir: filepath.Dir(users), NoSync: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(e.DSN())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	s.address, s.http, s.owner = u.Host, e.HTTPAddr(), login{u.User.Username(), password}
	c := clickhouse.DefaultConfig()
	c.DSN = e.DSN()
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for _, table := range schema.OrganizationTables() {
		s.fill(t, table, "[toDate('2026-03-02'), toDate('2026-03-03')]")
	}
	return s
}

func id(t *testing.T, text string) (id clickhouse.UUID) {
	t.Helper()
	if err := id.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return id
}

// fill gives a table rows of both organizations on some days, of which two are enough for every view to say something.
// A column not listed here is one of its type that is not nothing.
func (s *stage) fill(t *testing.T, table, days string) {
	t.Helper()
	values := map[string]string{
		"organization_id": "toUUID(o)", "brand_id": "toUUID(b)", "day": "d", "deleted": "false", "is_active": "true",
		"branded":      "false",
		"served_model": "toString(d)", "event": "'view'", "version": "1", "inverse_position": "5354228880",
		"price_amount":   "1",
		"search_queries": "['search of ' || o]",
	}
	if table == "dimension_brands" {
		values["id"] = "toUUID(b)"
	}
	var columns, expressions []string
	for line := range strings.Lines(s.must(t, s.owner, "SELECT name, type FROM system.columns WHERE database = "+
		"currentDatabase() AND table = {table:String} ORDER BY position FORMAT TSVRaw", "param_table", table)) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), "\t")
		value, listed := values[name]
		switch {
		case listed:
		case strings.HasPrefix(name, "citations."): // one in each answer
			value = map[string]string{"Array(Bool)": "[true]", "Array(UUID)": "[toUUID(b)]"}[kind]
			if value == "" {
				value = "['of ' || o]"
			}
		case kind == "UUID":
			value = "toUUID(b)"
		case strings.HasPrefix(kind, "DateTime"):
			value = "toDateTime(d, 'UTC')"
		case strings.HasPrefix(kind, "Date"):
			value = "d"
		case strings.HasPrefix(kind, "Int"), strings.HasPrefix(kind, "UInt"), strings.HasPrefix(kind, "Float"),
			strings.HasPrefix(kind, "Decimal"):
			value = "1"
		case strings.Contains(kind, "FixedString(2)"):
			value = "'SE'"
		case kind == "String", kind == "LowCardinality(String)":
			value = "'of ' || o"
		default:
			continue
		}
		columns, expressions = append(columns, "`"+name+"`"), append(expressions, value)
	}
	s.must(t, s.owner, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM
		(SELECT arrayJoin([('%s', '%s'), ('%s', '%s')]) AS ob, ob.1 AS o, ob.2 AS b, arrayJoin(%s) AS d)`,
		table, strings.Join(columns, ", "), strings.Join(expressions, ", "), organizationA, brandA, organizationB,
		brandB, days))
}

// ask sends a statement over HTTP. The error code is 0 when it was answered.
func (s *stage) ask(t *testing.T, who login, statement string, settings ...string) (code int, body string) {
	t.Helper()
	q := url.Values{"database": {engine.Database}}
	for i := 0; i < len(settings); i += 2 {
		q.Set(settings[i], settings[i+1])
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.http+"/?"+q.Encode(),
		strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(who.user, who.password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	// An error after the first rows breaks off the chunked body and says so within.
	if m := brokenOff.FindSubmatch(text); m != nil && (err != nil || response.StatusCode != http.StatusOK) {
		code, _ = strconv.Atoi(string(m[1]))
		return code, string(text)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v, %s", statement, response.StatusCode, err, text)
	}
	return 0, string(text)
}

var brokenOff = regexp.MustCompile(`Code: (\d+)\. DB::Exception`)

// must returns what a statement gives that must be answered.
func (s *stage) must(t *testing.T, who login, statement string, settings ...string) string {
	t.Helper()
	code, body := s.ask(t, who, statement, settings...)
	if code != 0 {
		t.Fatalf("%s as %s: %s", statement, who.user, body)
	}
	return body
}

// clients are the ways in that clickhouse-go has, with the settings that applications send.
func (s *stage) clients(t *testing.T, who login, settings driver.Settings) map[string]driver.Conn {
	t.Helper()
	sent := driver.Settings{"max_execution_time": 30, "log_comment": "a dashboard", "join_use_nulls": 1}
	maps.Copy(sent, settings)
	conns := map[string]driver.Conn{}
	for name, o := range map[string]*driver.Options{
		"native": {Addr: []string{s.address}, Protocol: driver.Native},
		"http":   {Addr: []string{s.http}, Protocol: driver.HTTP},
	} {
		o.Auth = driver.Auth{Database: engine.Database, Username: who.user, Password: who.password}
		o.Settings = sent
		conn, err := driver.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		})
		conns[name] = conn
	}
	return conns
}
