package postgres_test

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A managed Postgres gives no superuser: a login that may make roles and owns its
// database is enough, from the first migration on.
func TestALoginWithoutSuperpowersIsEnough(t *testing.T) {
	t.Parallel()
	cluster, err := engine.StartPostgres(t.Context(), engine.PostgresConfig{
		Dir: t.TempDir(), NoSync: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	root := connected(t, cluster.DSN())
	for _, statement := range []string{
		"CREATE ROLE plain LOGIN NOINHERIT CREATEROLE PASSWORD 'x'", "CREATE DATABASE scope OWNER plain",
		"CREATE ROLE stranger LOGIN PASSWORD 'x'",
	} {
		if _, err := root.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	in := func(dsn string, login *url.Userinfo) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = cmp.Or(login, u.User), "/scope"
		return u.String()
	}
	address := func(login string) string { return in(cluster.DSN(), url.UserPassword(login, "x")) }
	c := postgres.DefaultConfig()
	c.DSN = address("plain")
	if _, err := postgres.Open(t.Context(), c); err == nil ||
		!strings.Contains(err.Error(), "run `answerscope migrate`") {
		t.Errorf("opened before the first migration: %v", err)
	}
	if err := postgres.Migrate(t.Context(), c.DSN, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	if pending, err := postgres.Pending(t.Context(), c.DSN); err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v", pending, err)
	}
	db := open(t, c.DSN)
	organization(t, db, "House")
	var user string
	if err := db.QueryRow(t.Context(), "SELECT current_user").Scan(&user); err != nil || user != "answerscope_service" {
		t.Errorf("connections act as %s, %v", user, err)
	}
	// The login of services, which migrates nothing (docs/operations.md#embedded-engines-and-users).
	c.DSN = in(cluster.ServiceDSN(), nil)
	if pending, err := postgres.Pending(t.Context(), c.DSN); err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v for the login of services", pending, err)
	}
	if _, err := open(t, c.DSN).ListOrganizations(t.Context()); err != nil {
		t.Error(err)
	}
	c.DSN = address("stranger")
	if _, err := postgres.Open(t.Context(), c); err == nil ||
		!strings.Contains(err.Error(), "the login stranger may not") {
		t.Errorf("opened as a stranger: %v", err)
	}
}
