package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/answerscope/answerscope/sql/postgres"
)

// A beginner is a connection or a pool.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// asCaller runs fn in one transaction as /rest/v1 does: the login authenticator takes a role, and has the claims of a
// token.
func asCaller(t *testing.T, conn beginner, role, claims string, fn func(tx pgx.Tx) error) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL SESSION AUTHORIZATION authenticator"); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(),
			"SELECT set_config('role', $1, true), set_config('request.jwt.claims', $2, true)", role,
			claims); err != nil {
			return err
		}
		return fn(tx)
	})
}

// asUser runs fn in one transaction as a user who is signed in.
func asUser(t *testing.T, db *postgres.DB, u postgres.User, fn func(tx pgx.Tx) error) error {
	t.Helper()
	return asCaller(t, db, "authenticated", claimsOf(u), fn)
}

func claimsOf(u postgres.User) string {
	return `{"role":"authenticated","sub":"` + u.ID.String() + `"}`
}

// Every table and every role, not an example of them.
func TestAUserSeesTheirOrganizationAlone(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	counted := func(table string, of fixture, n *int64) func(tx pgx.Tx) error {
		return func(tx pgx.Tx) error {
			return tx.QueryRow(t.Context(), "SELECT count(*) FROM public."+table+" WHERE "+owner(table)+" = $1",
				of.organization.ID).Scan(n)
		}
	}
	for _, table := range w.exposed(t) {
		var n int64
		for _, u := range w.other.users {
			if err := asUser(t, w.db, u, counted(table, w.other, &n)); err != nil ||
				n != w.visible(t, table, w.other, u) {
				t.Errorf("%s of Other counts %d of its %s, %v; want %d", u.Role, n, table, err,
					w.visible(t, table, w.other, u))
			}
			if err := asUser(t, w.db, u, counted(table, w.own, &n)); err != nil || n != 0 {
				t.Errorf("%s of Other counts %d of Own in %s, %v; want 0", u.Role, n, table, err)
			}
		}
		for _, claims := range []string{"", "{}", `{"role":"anon"}`} {
			err := asCaller(t, w.db, "anon", claims, counted(table, w.own, &n))
			if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "42501" {
				t.Errorf("anon with claims %q counts %s: %v; want it refused", claims, table, err)
			}
		}
	}
}

// Whatever a token's role says, the login of /rest/v1 takes no other role than those of clients.
func TestTheLoginTakesNoOtherRole(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	for _, role := range []string{"answerscope_owner", "answerscope_service", "postgres"} {
		if err := asCaller(t, db, role, "", func(pgx.Tx) error { return nil }); err == nil {
			t.Errorf("authenticator takes the role %s", role)
		}
	}
}

func list[T any](t *testing.T, conn *pgx.Conn, text string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func one[T any](t *testing.T, conn *pgx.Conn, text string, args ...any) T {
	t.Helper()
	all := list[T](t, conn, text, args...)
	if len(all) != 1 {
		t.Fatalf("%d rows of %s", len(all), text)
	}
	return all[0]
}
