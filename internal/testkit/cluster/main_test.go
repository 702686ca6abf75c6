//go:build all

// Tests of this package need root, and are slow: make test-crash runs them.

package cluster_test

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// start starts a cluster that ends with the test.
func start(t *testing.T, o cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(t.Context(), tempdir.Passable(t), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
