package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

type (
	seconds struct{ Seconds float64 }
	process struct{ ID int32 }
)

var (
	outlastStop = query[seconds, none]("outlast_stop")
	outlasting  = query[process, lock]("outlasting")
)

// Outlast keeps the sinks stopped for so long even if this process is killed: what
// was asked of another server may still be under way there then. Until end is called
// nothing else may be asked of s. An error of end says that the sinks may have gone
// on before.
func (s *SinkStop) Outlast(ctx context.Context, db *DB, atMost time.Duration) (end func() error, err error) {
	// A server that looks after its clients would see that this one is gone.
	if _, err := s.conn.Exec(ctx, "SET client_connection_check_interval = 0"); err != nil {
		return nil, fmt.Errorf("outlast with the stop of the sinks of shard %d: %w", s.shard, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := outlastStop.run(context.WithoutCancel(ctx), s.conn, seconds{atMost.Seconds()})
		ended <- err
	}()
	if err := s.slept(ctx, db, ended); err != nil {
		return nil, errors.Join(fmt.Errorf("outlast with the stop of the sinks of shard %d: %w", s.shard, err), s.wake(ended))
	}
	return func() error {
		if err := s.wake(ended); err != nil {
			return fmt.Errorf("lost the stop of the sinks of shard %d: %w", s.shard, err)
		}
		return nil
	}, nil
}

// slept waits until the server has begun: before, it would see that nobody is there.
func (s *SinkStop) slept(ctx context.Context, db *DB, ended chan error) error {
	pid := process{int32(s.conn.PgConn().PID())}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		switch begun, err := outlasting.one(ctx, db, pid); {
		case err != nil:
			return err
		case begun.Locked:
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("ended at once: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// wake ends the wait. Nothing but being cancelled proves that it went on till now.
func (s *SinkStop) wake(ended chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = s.conn.PgConn().CancelRequest(ctx) // one that comes too early is lost, and sent again
		cancel()
		select {
		case err := <-ended:
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "57014" {
				return nil
			}
			return errors.Join(errors.New("it was over before"), err)
		case <-tick.C:
		}
	}
}
