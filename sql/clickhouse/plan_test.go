package clickhouse_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxNodes is how many nodes the tree of a statement may have. The server makes one anew each time, at 25 µs a node.
const maxNodes = 600

// A question has few nodes, without filters and with all of them.
func TestPlansAreCheap(t *testing.T) {
	t.Parallel()
	conn, random := warehouse.Complete(t), rand.New(rand.NewPCG(1, 1))
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
			question, tree := "EXPLAIN QUERY TREE "+clickhouse.Specialize(clickhouse.SumsText(file(t, view)), args), ""
			for _, row := range rowsOf(t, conn, question, args) {
				tree += row[1].(string) + "\n"
			}
			if nodes := strings.Count(tree, "id:"); nodes > maxNodes || nodes == 0 {
				t.Errorf("%s has %d nodes (filters: %t), want at most %d", view, nodes, filtered, maxNodes)
			}
		}
	}
}
