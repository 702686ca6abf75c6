package postgres_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

var update = flag.Bool("update", false, "rewrite schema.golden.sql")

func TestSchemaIsTheGolden(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	got := dump(t, db)
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
		t.Errorf("the server's schema is not schema.golden.sql; review the change and run with -update. "+
			"The server has:\n%s", got)
	}
}

// dump is the server's schema in one text: roles, schemas, tables with their indexes, triggers and policies, and
// functions.
func dump(t *testing.T, db *postgres.DB) string {
	t.Helper()
	var b strings.Builder
	for _, part := range []string{"roles", "schemas", "tables", "functions"} {
		question, err := os.ReadFile("testdata/schema/" + part + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(t.Context(), string(question))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name, text string
			if err := rows.Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "-- %s\n%s\n\n", name, strings.TrimSpace(text))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}
