package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxNodes is how many nodes the tree of a statement may have. The server makes one anew each time, at 25 µs a node.
const maxNodes = 600

// ofAllBrands are questions of sinks and of upkeep.
var ofAllBrands = []string{"last_visits", "log_position", "newest_visit", "stale_brands"}

// A question has few nodes, without filters and with all of them, and reads of each table the rows of its brands: the
// optimizer, which is off for questions to rollups, would move conditions to where they choose what is read.
func TestPlansAreCheap(t *testing.T) {
	t.Parallel()
	conn, random, reads := warehouse.Complete(t), rand.New(rand.NewPCG(1, 1)), 0
	for _, row := range rowsOf(t, conn, "SELECT table FROM system.columns WHERE database = currentDatabase() "+
		"AND name IN ('organization_id', 'brand_id', 'day') AND table IN (SELECT name FROM system.tables "+
		"WHERE database = currentDatabase() AND engine LIKE '%MergeTree') GROUP BY table HAVING count() = 3", nil) {
		insert := fmt.Sprintf("INSERT INTO %s (day) VALUES ('2026-03-01')", row[1]) // nothing is read of an empty table
		if err := conn.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	for _, view := range viewNames(t) {
		for _, filtered := range []bool{false, true} {
			args := arguments(t, random, view, warehouse.Organization)
			for name, value := range args {
				switch list := reflect.ValueOf(value); {
				case name == "group_by":
					args[name] = map[bool]string{true: "topic"}[filtered]
				case list.Kind() == reflect.Slice && !filtered:
					args[name] = reflect.MakeSlice(list.Type(), 0, 0).Interface()
				}
				for filtered && reflect.ValueOf(args[name]).Kind() == reflect.Slice &&
					reflect.ValueOf(args[name]).Len() == 0 {
					args[name] = arguments(t, random, view, warehouse.Organization)[name]
				}
			}
			text := clickhouse.Specialize(clickhouse.SumsText(file(t, view)), args)
			tree := explanation(t, conn, "QUERY TREE "+text, args)
			if nodes := strings.Count(tree, "id:"); nodes > maxNodes || nodes == 0 {
				t.Errorf("%s has %d nodes (filters: %t), want at most %d", view, nodes, filtered, maxNodes)
			}
			if strings.Contains(text, "{organization_id:UUID}") && strings.Contains(text, "\nSETTINGS") {
				text += ", query_plan_enable_optimizations = 0, optimize_move_to_prewhere = 0"
			}
			plan := explanation(t, conn, "PLAN indexes = 1 "+text, args)
			for _, read := range strings.Split(plan, "ReadFromMergeTree")[1:] {
				byKey := strings.Contains(read, "organization_id\n") && strings.Contains(read, "brand_id\n")
				if !byKey && !slices.Contains(ofAllBrands, view) {
					t.Errorf("%s reads (filters: %t) all of%s", view, filtered, read)
				}
				reads++
			}
		}
	}
	if reads < 90 {
		t.Errorf("%d reads of tables, want some of each question", reads)
	}
}

func explanation(t *testing.T, conn *clickhouse.Conn, text string, args map[string]any) string {
	t.Helper()
	var lines strings.Builder
	for _, row := range rowsOf(t, conn, "EXPLAIN "+text, args) {
		lines.WriteString(row[1].(string) + "\n")
	}
	return lines.String()
}
