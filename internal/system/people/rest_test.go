package people

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// Any database is served alone, below any prefix, and a change of its schema is seen.
func TestQueryapiServesAnyDatabase(t *testing.T) {
	t.Parallel()
	dsn := testkit.Postgres(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	do := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do(`DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cli_rest_login') THEN
			CREATE ROLE cli_rest_login LOGIN NOINHERIT PASSWORD 'login';
			CREATE ROLE cli_rest_anon NOLOGIN;
			GRANT cli_rest_anon TO cli_rest_login;
		END IF;
	END $$`)
	do(`CREATE SCHEMA "a shop"; CREATE TABLE "a shop".wares (id int PRIMARY KEY); INSERT INTO "a shop".wares VALUES (1);
		GRANT USAGE ON SCHEMA "a shop" TO cli_rest_anon; GRANT SELECT, INSERT ON "a shop".wares TO cli_rest_anon`)
	login, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	login.User = url.UserPassword("cli_rest_login", "login")
	s := run.Serve(t,
		[]string{
			"ANSWERSCOPE_POSTGRES_DSN=" + login.String(), "ANSWERSCOPE_REST_PREFIX=/data", "ANSWERSCOPE_REST_MAX_ROWS=",
			"ANSWERSCOPE_REST_JWT_SECRET=" + strings.Repeat("s", 32),
		},
		"queryapi", "--rest-schemas=a shop", "--rest-anon-role=cli_rest_anon")
	if status, body := run.FetchAnonymously(t, s.URL+"/data/wares"); status != 200 || body != `[{"id":1}]` {
		t.Errorf("%d %s", status, body)
	}
	if status, body := run.FetchAnonymously(t, s.URL+"/api/v1/whoami"); status != 404 {
		t.Errorf("/api/v1 is there: %d %s", status, body)
	}
	if status, body := run.Fetch(t, s.URL+"/data/wares", "a.b"); status != 401 ||
		!strings.Contains(body, "Expected 3 parts in JWT; got 2") {
		t.Errorf("%d %s", status, body)
	}
	do(`CREATE TABLE "a shop".prices (id int PRIMARY KEY); GRANT SELECT ON "a shop".prices TO cli_rest_anon; ` +
		`NOTIFY pgrst, 'reload schema'`)
	wait.For(t, "the new table", func() bool {
		status, _ := run.FetchAnonymously(t, s.URL+"/data/prices")
		return status == 200
	})
}

func TestQueryapiWantsADatabaseToServeAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"A=b", []string{"--rest-schemas=a"}, "ANSWERSCOPE_POSTGRES_DSN is missing"},
		{"ANSWERSCOPE_POSTGRES_DSN=postgres://x:y@127.0.0.1/z", []string{"--rest-schemas=a,"},
			"rest schemas are missing"},
		{"ANSWERSCOPE_POSTGRES_DSN=postgres://x:y@127.0.0.1/z", []string{"--rest-schemas=a", "--rest-max-rows=x"},
			`--rest-max-rows is "x"`},
		{"ANSWERSCOPE_POSTGRES_DSN=postgres://x:y@127.0.0.1/z", []string{"--rest-schemas=a", "--rest-prefix=data"},
			`rest prefix is "data"`},
	} {
		r := run.ToEnd(t, []string{c.env}, "", append([]string{"queryapi", "--listen", "127.0.0.1:0"}, c.args...)...)
		if r.Status != run.ExitUsage || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("%v: status %d, %s, want %s", c.args, r.Status, r.Stderr, c.want)
		}
	}
}
