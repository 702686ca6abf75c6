package postgres_test

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite schema.golden.sql")

func TestSchemaIsTheGolden(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	got, err := db.Schema(t.Context())
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
		t.Errorf("the server's schema is not schema.golden.sql; review the change and run with -update. The server has:\n%s", got)
	}
}
