package store

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// ControlPlane is the configuration of a fresh database with the schema of sql/postgres.
// Its login is a superuser. The database is dropped when the test passed.
func ControlPlane(t testing.TB) postgres.Config {
	t.Helper()
	template := "control_plane_" + Fingerprint(t, "sql/postgres")
	testkit.Once(t, template, func() ([]byte, error) {
		dsn, err := testkit.CreatePostgres(t, template)
		if err != nil {
			return nil, err
		}
		return nil, postgres.Migrate(t.Context(), dsn, func(uint, string) {})
	})
	c := postgres.DefaultConfig()
	c.DSN = testkit.CopyPostgres(t, template)
	return c
}

// OpenControlPlane connects to a control plane until the test ends.
func OpenControlPlane(t testing.TB, c postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
