package testkit

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// Replicas returns the pair of replicas of this test binary, which knows itself as Cluster, and the addresses of a fresh
// database (Atomic) on both. A test may kill them: tests that use the pair run one after the other.
func Replicas(t testing.TB) (pair *replica.Pair, database string, dsns []string) {
	t.Helper()
	if replica.Unsupported != "" {
		t.Skip(replica.Unsupported)
	}
	pair, err := startReplicas()
	if err != nil {
		t.Fatal(err)
	}
	replicasInUse.Lock()
	t.Cleanup(replicasInUse.Unlock)
	database = freshName(t)
	if dsns, err = pair.Create(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	for i, dsn := range dsns {
		cleanUp(t, dsn, func(ctx context.Context) error {
			return pair.Servers[i].Exec(ctx, "DROP DATABASE "+database+" SYNC")
		})
	}
	return pair, database, dsns
}

var (
	replicasInUse sync.Mutex
	startReplicas = sync.OnceValues(func() (*replica.Pair, error) {
		dir, err := own.makeDir()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		pair, err := replica.StartPair(ctx, filepath.Join(dir, "replicas"))
		if err == nil {
			own.stopAtEnd(func(context.Context) error { pair.Kill(); return nil })
		}
		return pair, err
	})
)
