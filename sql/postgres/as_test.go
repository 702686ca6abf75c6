package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/answerscope/answerscope/sql/postgres"
)

func claimsOf(u postgres.User) postgres.Claims {
	return postgres.Claims{"sub": u.ID.String(), "role": "authenticated"}
}

// countAs counts the rows of a table that the caller sees, of one organization.
func countAs(t *testing.T, db *postgres.DB, claims postgres.Claims, table string, of fixture) (n int64, err error) {
	t.Helper()
	err = db.As(t.Context(), claims, func(tx postgres.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM public."+table+" WHERE "+owner(table)+" = $1", of.organization.ID).Scan(&n)
	})
	return n, err
}

// Every table and every role, not an example of them.
func TestAsSeesTheCallersOrganizationAlone(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for _, table := range w.exposed(t) {
		for _, u := range w.other.users {
			if n, err := countAs(t, w.db, claimsOf(u), table, w.other); err != nil || n != w.visible(t, table, w.other, u) {
				t.Errorf("%s of Other counts %d of its %s, %v; want %d", u.Role, n, table, err, w.visible(t, table, w.other, u))
			}
			if n, err := countAs(t, w.db, claimsOf(u), table, w.own); err != nil || n != 0 {
				t.Errorf("%s of Other counts %d of Own in %s, %v; want 0", u.Role, n, table, err)
			}
		}
		for _, anonymous := range []postgres.Claims{nil, {}, {"role": "anon"}} {
			_, err := countAs(t, w.db, anonymous, table, w.own)
			if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "42501" {
				t.Errorf("anon with claims %v counts %s: %v; want it refused", anonymous, table, err)
			}
		}
	}
}

// The next transaction of the same connection acts as the service, without claims.
func TestTheCallerEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	cfg := postgres.DefaultConfig()
	cfg.DSN, cfg.MaxConns = w.db.Config().ConnString(), 1
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	type querier interface {
		QueryRow(ctx context.Context, text string, args ...any) pgx.Row
	}
	settings := func(on querier) string {
		t.Helper()
		var role, claims string
		if err := on.QueryRow(t.Context(), "SELECT current_user, coalesce(current_setting('request.jwt.claims', true), '')").Scan(&role, &claims); err != nil {
			t.Fatal(err)
		}
		return role + " " + claims
	}
	user := w.own.users["member"]
	for _, end := range []error{nil, errors.New("taken back")} {
		err := db.As(t.Context(), claimsOf(user), func(tx postgres.Tx) error {
			if got, want := settings(tx), fmt.Sprintf(`authenticated {"role":"authenticated","sub":"%s"}`, user.ID); got != want {
				t.Errorf("inside: %s, want %s", got, want)
			}
			if _, err := tx.Exec(t.Context(), "UPDATE public.brands SET industry = coalesce(industry, '') || 'x'"); err != nil {
				t.Error(err)
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Errorf("As returned %v, want %v", err, end)
		}
		if got := settings(db); got != "answerscope_service " {
			t.Errorf("after it: %q, want the service without claims", got)
		}
	}
	if got := one[string](t, w.root, "SELECT industry FROM public.brands WHERE id = $1", w.own.brand.ID); got != w.own.brand.Industry+"x" {
		t.Errorf("industry %q; want one committed edit", got)
	}
}

func TestClaimsNameNoOtherRole(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	for _, role := range []any{"answerscope_owner", "answerscope_service", "authenticator", "", 1} {
		err := db.As(t.Context(), postgres.Claims{"role": role}, func(postgres.Tx) error {
			t.Errorf("a transaction began as %v", role)
			return nil
		})
		if err == nil {
			t.Errorf("role %v is accepted", role)
		}
	}
}
