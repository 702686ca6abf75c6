package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Each change of access, whichever way it is made, is in the audit log with its user, and the log only grows.
func TestChangesOfAccessAreLogged(t *testing.T) {
	t.Parallel()
	first, dsn := migrated(t)
	cfg := postgres.DefaultConfig()
	cfg.DSN, cfg.Actor = dsn, "ana@laptop: answerscope key create"
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	acme := organization(t, first, "Acme")
	ana, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: "ana@acme.example", PasswordHash: "of-ana", OrganizationID: acme.ID, Role: "admin",
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := db.AddKey(t.Context(), postgres.NewKey{
		OrganizationID: acme.ID, UserID: ana.ID, Name: "reports", Prefix: "svc_abcd", Hash: [32]byte{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	err = asUser(t, db, ana, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE public.members SET role = 'viewer'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []error{
		db.SetUserActive(t.Context(), "ana@acme.example", true), // as she was
		db.SetUserActive(t.Context(), "ana@acme.example", false),
		db.SetUserActive(t.Context(), "ana@acme.example", true),
		db.SetPassword(t.Context(), "ana@acme.example", "another"),
		db.RemoveUser(t.Context(), "ana@acme.example"),
	} {
		if change != nil {
			t.Fatal(change)
		}
	}
	if err := db.LogAudit(t.Context(), "analyst added", acme.ID, "analyst_acme_ana"); err != nil {
		t.Fatal(err)
	}
	log, err := db.AuditLog(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, a := range log {
		if a.At.IsZero() || a.Address != "127.0.0.1" {
			t.Errorf("%+v lacks when or from where", a)
		}
		lines = append(lines, a.Action+"|"+a.Organization+"|"+a.Subject+"|"+a.Actor)
	}
	const by = "|ana@laptop: answerscope key create"
	want := []string{
		"analyst added|acme|analyst_acme_ana" + by,
		"key deleted|acme|svc_abcd… reports" + by,
		"member deleted|acme|" + ana.ID.String() + " as viewer" + by,
		"user deleted|acme|ana@acme.example" + by,
		"password set|acme|ana@acme.example" + by,
		"user enabled|acme|ana@acme.example" + by,
		"user disabled|acme|ana@acme.example" + by,
		"member changed|acme|ana@acme.example as viewer|" + ana.ID.String() + " through " + strings.TrimPrefix(by, "|"),
		"key revoked|acme|svc_abcd… reports" + by,
		"key added|acme|svc_abcd… reports" + by,
		"member added|acme|ana@acme.example as admin" + by,
		"user added|acme|ana@acme.example" + by,
		"organization added|acme|acme|" + loginOf(t, dsn),
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the log has\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	var hashes int
	if err := db.QueryRow(t.Context(), "SELECT count(*) FROM public.audit_log WHERE detail::text LIKE '%another%'").
		Scan(&hashes); err != nil || hashes > 0 {
		t.Errorf("%d lines have a password's hash, %v", hashes, err)
	}
	for _, forbidden := range []string{
		"UPDATE public.audit_log SET subject = 'x'", "DELETE FROM public.audit_log",
		"TRUNCATE public.audit_log CASCADE",
		"INSERT INTO public.audit_log (action, subject) VALUES ('x', 'x')",
		"UPDATE private.audit_origins SET actor = 'x'", "DELETE FROM private.audit_origins",
	} {
		if _, err := db.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("the service did %s", forbidden)
		}
	}
}

func loginOf(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.User
}
