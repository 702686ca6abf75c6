package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// killedInsert makes a table with a view, inserts twice with tokens, kills the server, and takes from each table the
// part of the second insert away, as a kill between the token and the part leaves them.
func killedInsert(t *testing.T, dir string) {
	t.Helper()
	e := startedClickHouse(t, dir)
	for _, statement := range []string{
		"CREATE TABLE landing (month Date, n Int64) ENGINE = MergeTree PARTITION BY month ORDER BY n SETTINGS " +
			"non_replicated_deduplication_window = 100",
		"CREATE TABLE sums (month Date, n Int64) ENGINE = SummingMergeTree PARTITION BY month ORDER BY month " +
			"SETTINGS non_replicated_deduplication_window = 100",
		"CREATE MATERIALIZED VIEW feed TO sums AS SELECT month, sum(n) AS n FROM landing GROUP BY month",
		insertWithToken("first", 1),
		insertWithToken("second", 10),
	} {
		if _, err := e.query(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	e.Kill()
	<-e.Done()
	for _, table := range []string{"landing", "sums"} {
		parts, err := filepath.Glob(filepath.Join(dir, "data", "store", "*", "*", "20260201_2_2_*"))
		if err != nil || len(parts) == 0 {
			t.Fatalf("no part of the second insert of %s: %v, %v", table, parts, err)
		}
		if err := os.RemoveAll(parts[0]); err != nil {
			t.Fatal(err)
		}
	}
}

func insertWithToken(token string, n int) string {
	return "INSERT INTO landing SETTINGS async_insert = 0, insert_deduplication_token = '" + token +
		"' SELECT toDate('2026-02-01'), " + strconv.Itoa(n)
}

// Killed between the token and the part, the replay must bring the rows back, and the replay of what is whole must not.
func TestAnInsertCutShortByAKillCanBeRepeated(t *testing.T) {
	dir := tempdir.Passable(t)
	killedInsert(t, dir)
	e := startedClickHouse(t, dir)
	mustStop(t, e)
	for range 2 {
		for token, n := range map[string]int{"first": 1, "second": 10} {
			if _, err := e.query(t.Context(), insertWithToken(token, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range []string{"landing", "sums"} {
		if got, err := e.query(t.Context(), "SELECT sum(n) FROM "+table); err != nil || got != "11" {
			t.Errorf("%s: %q, %v; want 1 + 10", table, got, err)
		}
	}
}

func TestOnlyTokensWithoutAPartAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deduplication_log_1.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parts := []part{{"202601", 1, 4}, {"all", 7, 7}}
	complete := "1\t202601_2_2_0\ta\n1\t202601_1_4_1\tb\n1\tall_7_7_0_9\tc\n2\t202601_9_9_0\td\n1\tno part\te\n1\ttorn"
	write(complete)
	if removed, err := removeTokensIn(path, parts); err != nil || removed != nil {
		t.Errorf("removed %v, %v of parts that are there", removed, err)
	}
	write(complete + "\n1\t202601_5_5_0\tf\n1\t202602_2_2_0\tg\n1\tall_1_1_1\th\n")
	removed, err := removeTokensIn(path, parts)
	if want := []string{"202601_5_5_0", "202602_2_2_0", "all_1_1_1"}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v, %v; want %v", removed, err, want)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != complete+"\n" {
		t.Errorf("left %q, %v", left, err)
	}
}
