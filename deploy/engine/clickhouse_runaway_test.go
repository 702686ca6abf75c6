package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

const limitedUser = `<clickhouse>
	<users><analyst>
		<password>secret</password>
		<networks><ip>127.0.0.1</ip></networks>
		<profile>limited</profile>
		<quota>default</quota>
	</analyst></users>
	<profiles><limited>
		<max_execution_time>2</max_execution_time>
		<max_memory_usage>300000000</max_memory_usage>
	</limited></profiles>
</clickhouse>`

// The engine looks at limits between blocks of rows. Each of these passed its two seconds by far, past KILL QUERY: by
// one value of a function, and by all values of a block.
var runaways = map[string]string{
	"texts": "SELECT editDistance(materialize(repeat('ab,c1 x/', 8000)), materialize(" +
		"repeat('aX9.', 16000))) FROM numbers(4) FORMAT Null",
	"a block": "SELECT sum(has(range(20000000), number + 20000000)) FROM numbers(65536)",
}

func TestAQueryThatPassesItsLimitsIsEnded(t *testing.T) {
	t.Parallel()
	dir := tempdir.Passable(t)
	if err := os.MkdirAll(ClickHouseUsersDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "analyst.xml"),
		[]byte(limitedUser), 0o600); err != nil {
		t.Fatal(err)
	}
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	us := ourselves(t, engines)
	for name, query := range runaways {
		if got, err := analyst.query(t.Context(), query); err == nil {
			t.Errorf("%s: answered with %q", name, got)
		}
		wait.For(t, "the end of "+name, func() bool {
			running, err := us.query(t.Context(), "SELECT count() FROM system.processes WHERE user = 'analyst'")
			return err == nil && running == "0"
		})
	}
	select {
	case <-engines.Lost():
		t.Errorf("a restart for a query counts as a loss: %v", engines.Err())
	default:
	}
}

// A union of polygons of 20,000 points took 4 GB and minutes, past every limit. Nobody asks for such functions here.
func TestFunctionsWithoutLimitsAreRefused(t *testing.T) {
	e := startedClickHouse(t, tempdir.Passable(t))
	mustStop(t, e)
	var calls []string
	for _, operation := range []string{"Union", "Intersection", "SymDifference", "Within", "Distance"} {
		for _, on := range []string{"Cartesian", "Spherical"} {
			calls = append(calls,
				"polygons"+operation+on+"([[(0., 0.), (0., 1.), (1., 1.)]], [[(0., 0.), (0., 2.), (2., 2.)]])")
		}
	}
	for _, call := range append(calls,
		"polygonsEqualsCartesian([[(0., 0.), (0., 1.), (1., 1.)]], [[(0., 0.), (0., 1.), (1., 1.)]])",
		"arrayLevenshteinDistance([1], [2])", "arrayLevenshteinDistanceWeighted([1], [2], [1], [1])",
		"arraySimilarity([1], [2], [1], [1])") {
		if got, err := e.query(t.Context(), "SELECT "+call); err == nil ||
			!strings.Contains(err.Error(), "FUNCTION_IS_SPECIAL") {
			t.Errorf("%s: %q, %v", call, got, err)
		}
	}
	const asked = "SELECT pointInPolygon((0.5, 0.2), [(0., 0.), (0., 1.), (1., 1.)]), editDistance('Lumen', 'Lumens')"
	if got, err := e.query(t.Context(), asked); err != nil {
		t.Errorf("what is asked for is refused: %q, %v", got, err)
	}
}
