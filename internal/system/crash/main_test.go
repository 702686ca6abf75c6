// Package crash proves that nothing is lost and nothing doubled when processes are killed, the power is cut and, with
// the tag crash, a cluster is broken at random.
package crash

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) } // a node of a cluster, or the tests
