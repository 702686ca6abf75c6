package schema_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/migration"
)

var update = flag.Bool("update", false, "rewrite schema.golden.sql")

func TestMain(m *testing.M) { testkit.Main(m) }

func TestSchemaIsTheGolden(t *testing.T) {
	t.Parallel()
	got, err := schema.Dump(t.Context(), warehouse.Complete(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.golden.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.golden.sql")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the server's schema is not schema.golden.sql; review the change and run with -update. The server "+
			"has:\n%s", got)
	}
}

// Functions belong to the server: databases that migrate at once must not trip over each other.
func TestMigrateTwiceDoesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	var migrating sync.WaitGroup
	for range 2 {
		c := warehouse.Config(t)
		migrating.Go(func() { migrateTwice(t, c) })
	}
	migrating.Wait()
}

func migrateTwice(t *testing.T, c clickhouse.Config) {
	before, err := schema.Pending(t.Context(), c)
	if err != nil {
		t.Error(err)
	}
	if len(before) == 0 {
		t.Error("an empty database has nothing pending")
	}
	var steps []string
	for range 2 {
		steps = nil
		if err := schema.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil {
			t.Error(err)
		}
	}
	if len(steps) > 0 {
		t.Errorf("the second run did %v", steps)
	}
	if after, err := schema.Pending(t.Context(), c); err != nil || len(after) > 0 {
		t.Errorf("pending %v, %v after migration", after, err)
	}
}

// An older release leaves functions and views alone that a newer one has made, and a build refuses what other files of
// the same numbers have made.
func TestASchemaOfANewerReleaseOrOfOtherFilesIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := store.CompleteWarehouse(t)
	conn := store.OpenWarehouse(t, c)
	for i, want := range []error{migration.ErrOtherFiles, nil} {
		digest := []string{"others", ""}[i] // "": of an earlier release
		err := conn.Exec(t.Context(), "ALTER TABLE schema_migrations COMMENT COLUMN version '"+digest+"'")
		if err != nil {
			t.Fatal(err)
		}
		if pending, err := schema.Pending(t.Context(), c); len(pending) > 0 || !errors.Is(err, want) {
			t.Errorf("files %q: pending %v, %v; want %v", digest, pending, err, want)
		}
		err = schema.Migrate(t.Context(), c, func(step string) { t.Errorf("did %s", step) })
		if !errors.Is(err, want) {
			t.Errorf("files %q: %v, want %v", digest, err, want)
		}
	}
	var digest string
	if err := conn.QueryRow(t.Context(), "SELECT comment FROM system.columns WHERE database = currentDatabase() AND "+
		"table = 'schema_migrations' AND name = 'version'").Scan(&digest); err != nil || len(digest) != 64 {
		t.Errorf("the files of a migrated schema are %q, %v", digest, err)
	}
	for _, statement := range []string{
		"INSERT INTO schema_migrations (version, dirty, sequence) SELECT max(version) + 1, 0, max(sequence) + 1 " +
			"FROM schema_migrations",
		"DROP VIEW ai_traffic",
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if pending, err := schema.Pending(t.Context(), c); !errors.Is(err, schema.ErrNewer) {
		t.Errorf("pending %v, %v", pending, err)
	}
	if err := schema.Migrate(t.Context(), c, func(step string) { t.Errorf("did %s", step) }); !errors.Is(err,
		schema.ErrNewer) {
		t.Error(err)
	}
}

// A migration that was killed leaves its version dirty: the next run must pick it up without help.
func TestMigrateRepeatsAHalfMigration(t *testing.T) {
	t.Parallel()
	c := store.CompleteWarehouse(t)
	conn := store.OpenWarehouse(t, c)
	ctx := context.Background()
	for _, statement := range []string{
		"DROP VIEW answer_daily_view",
		"TRUNCATE TABLE schema_migrations",
		"INSERT INTO schema_migrations (version, dirty, sequence) VALUES (2, 1, 1)",
	} {
		if err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if pending, err := schema.Pending(ctx, c); err != nil || len(pending) == 0 {
		t.Errorf("pending %v, %v with a dirty version", pending, err)
	}
	if err := schema.Migrate(ctx, c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	var views uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = "+
		"'answer_daily_view'").Scan(&views); err != nil || views != 1 {
		t.Errorf("%d answer_daily_view, %v; want 1", views, err)
	}
}
