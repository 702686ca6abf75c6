package schema

import (
	"flag"
	"os"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The DDL of a cluster is made, and a release's migrations are made without it in mind: what comes out is reviewed like
// code, and its syntax checked by the engine. Pairs of replicas run it.
func TestTheSchemaOfAClusterIsTheGolden(t *testing.T) {
	l := layout{cluster: "answerscope", replicated: true}
	var text strings.Builder
	for _, name := range migrationNames() {
		derived, err := l.derive(mustRead("migrate/" + name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text.WriteString("-- " + name + "\n" + derived + "\n")
	}
	got := text.String()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile("cluster.golden.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("cluster.golden.sql")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the schema of a cluster is not cluster.golden.sql; review the change and run with -update. It "+
			"is:\n%s", got)
	}
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for statement := range strings.SplitSeq(commentLines.ReplaceAllString(got, ""), ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		var formatted string
		if err := conn.QueryRow(t.Context(), "SELECT formatQuery({statement:String})",
			driver.Named("statement", statement)).Scan(&formatted); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestALayoutRefusesWhatItDoesNotKnow(t *testing.T) {
	l := layout{cluster: "answerscope"}
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS x (a UInt8) ENGINE = Memory",
		"CREATE DICTIONARY IF NOT EXISTS x (a UInt8)",
		"ALTER TABLE answers ADD COLUMN IF NOT EXISTS a UInt8, MODIFY SETTING x = 1",
		"ALTER TABLE answers FREEZE",
		"RENAME TABLE a TO b",
	} {
		if derived, err := l.derive(text); err == nil {
			t.Errorf("%q became %q", text, derived)
		}
	}
}
