package postgres_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The first of two hosts is switched off: a check of readiness, which has two seconds, reaches the other.
func TestAHostThatIsSwitchedOffIsPassedOver(t *testing.T) {
	t.Parallel()
	c := store.ControlPlane(t)
	address, err := url.Parse(c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	address.Host = testkit.SwitchedOff(t) + "," + address.Host
	c.DSN = address.String()
	db, err := postgres.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	wait.For(t, "the pool to have its connection again", func() bool { return db.Stat().IdleConns() > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := db.Reach(ctx); err != nil {
		t.Error(err)
	}
}
