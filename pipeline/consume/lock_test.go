package consume_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// asking is a shelf that asks whether the batch is still this consumer's; before it
// asks first, something happens.
type asking struct {
	shelf
	happens func()
}

func (a *asking) Land(ctx context.Context, b *consume.Batch[string], ours func() error) error {
	if a.happens != nil {
		a.happens()
		a.happens = nil
	}
	if err := ours(); err != nil {
		return err
	}
	return a.shelf.Land(ctx, b, ours)
}

// A machine that slept through its hold of the sinks may have slept through the loss
// of its partition, and its clock says that the plan is fresh. So the batch is planned
// again, which a group does not take from who has lost the partition.
func TestABatchThatLostItsHoldIsPlannedAgain(t *testing.T) {
	cfg := store.ControlPlane(t)
	db := store.OpenControlPlane(t, cfg)
	root, err := pgx.Connect(t.Context(), cfg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(context.WithoutCancel(t.Context()))
	target := &asking{happens: func() {
		const cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
		if _, err := root.Exec(t.Context(), cut); err != nil {
			t.Error(err)
		}
	}}
	spans := consumedBy(t, target, consume.LockWith(db.LockSinksShared), sdk.AlwaysSample(), landed(&target.shelf, 1), "one")
	want := []string{"collect", "SELECT lock_sinks_shared", "lock", "plan", "land ! exception", "SELECT lock_sinks_shared", "lock", "plan", "land", "commit", "batch things retry"}
	if got := told(spans); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
