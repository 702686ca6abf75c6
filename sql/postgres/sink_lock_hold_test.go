package postgres_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit"
)

// The exclusive lock stays held after its process is killed for the time that it was given, and ends at once where it
// is released.
func TestTheExclusiveLockStaysHeldAfterItsProcess(t *testing.T) {
	t.Parallel()
	other, dsn := migrated(t)
	w := testkit.NewProxy(t, dsn)
	db := open(t, w.DSN)
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	end, err := stop.HoldAfterExit(t.Context(), db, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if stopped(t, other, 0) {
		t.Error("stopped twice")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := stop.Held(t.Context()); err != nil {
		t.Error(err)
	}
	killed, err := stop.HoldAfterExit(t.Context(), db, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.Cut()
	if stopped(t, other, 0) {
		t.Error("the sinks went on with the connection")
	}
	if err := killed(); err == nil {
		t.Error("the lock was lost without an error")
	}
	bounded, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	shared, err := other.LockSinksShared(bounded, 0)
	if err != nil {
		t.Fatal(err)
	}
	shared.Release()
}

// A cancel request that reached the server late once cancelled the statement after the one that it was meant for, and
// the lock counted as lost.
func TestALateCancelRequestDoesNotEndTheNextHold(t *testing.T) {
	t.Parallel()
	_, dsn := migrated(t)
	slow := delayCancelRequests(t, dsn, 1500*time.Millisecond)
	db := open(t, slow.dsn)
	lock, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	server := connected(t, dsn)
	for range 2 {
		end, err := lock.HoldAfterExit(t.Context(), db, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for slow.delayed.Load() > 0 {
			pause(t.Context(), 10*time.Millisecond)
		}
		pause(t.Context(), 200*time.Millisecond) // for the server to act on the last of them
		if n := holds(t, server); n != 1 {
			t.Errorf("%d statements keep the lock, want 1", n)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if err := lock.Held(t.Context()); err != nil {
		t.Error(err)
	}
}

// A hold has begun on the server when HoldAfterExit returns: the lock of rebuilds once passed for that of the hold, and
// a process that was killed at once lost its lock.
func TestAHoldHasBegunWhenItIsReturned(t *testing.T) {
	t.Parallel()
	_, dsn := migrated(t)
	db := open(t, dsn)
	lock, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	server := connected(t, dsn)
	for range 50 {
		end, err := lock.HoldAfterExit(t.Context(), db, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if n := holds(t, server); n != 1 {
			t.Errorf("%d statements keep the lock, want 1", n)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}

// holds counts the statements that keep a connection busy.
func holds(t *testing.T, server *pgx.Conn) (n int) {
	t.Helper()
	err := server.QueryRow(t.Context(), `
		SELECT count(*)
		FROM pg_stat_activity
		WHERE datname = current_database()
		  AND pid <> pg_backend_pid()
		  AND state = 'active'
		  AND query LIKE '%pg_sleep%'`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type slowCancels struct {
	dsn     string
	delayed atomic.Int64 // cancel requests that have not reached the server yet
}

// delayCancelRequests is a proxy that holds back every cancel request, as a server does that is slow to fork.
func delayCancelRequests(t *testing.T, dsn string, delay time.Duration) *slowCancels {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	server := address.Host
	address.Host = listener.Addr().String()
	s := &slowCancels{dsn: address.String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(t.Context(), client, server, delay)
		}
	}()
	return s
}

func (s *slowCancels) forward(ctx context.Context, client net.Conn, server string, delay time.Duration) {
	defer client.Close()
	head := make([]byte, 8) // the length of the first message, and which it is
	if _, err := io.ReadFull(client, head); err != nil {
		return
	}
	conn, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer conn.Close()
	if bytes.Equal(head[4:], []byte{0x04, 0xd2, 0x16, 0x2e}) { // CancelRequest
		s.delayed.Add(1)
		pause(ctx, delay)
		defer s.delayed.Add(-1)
	}
	if _, err := conn.Write(head); err != nil {
		return
	}
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, conn)
	}()
	_, _ = io.Copy(conn, client)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
