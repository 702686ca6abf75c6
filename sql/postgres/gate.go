package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The gate of the sinks: a sink holds it from before a batch is planned until after
// it is committed, so that who would rebuild a table, or freeze a month, can stop
// the sinks while no batch is half done. It is an advisory lock of Postgres, shared
// by those who hold and exclusive to who stops.
//
// The lock alone does not tell that a batch is half done: it goes with its
// connection, and a plan stays. Who stops the sinks must therefore also see that no
// partition has an open plan, and else let go at once.
//
// What is asked of the gate is bounded by Config.Silence: of a network that has lost
// one end nothing would be heard for a quarter of an hour, and a batch that waits so
// long looks to everybody as if it were under way.

const (
	// holdPatience is how long a sink waits for the gate before it says so; then it waits on.
	holdPatience = 15 * time.Second
	// maxHolds bounds the connections of the gate: one for every batch under way.
	maxHolds = 256
	// gone is how long Postgres keeps the locks of a process whose machine went away, about.
	gone = 30 * time.Second
)

var (
	holdSinks  = query[shardOf, none]("hold_sinks")
	letGoSinks = query[shardOf, lock]("let_go_sinks")
	stopSinks  = query[shardOf, none]("stop_sinks")
	buried     = query[mortals, buriedRow]("buried")
)

type (
	shardOf struct{ Shard int }
	mortals struct {
		Topic                 string
		Brands, Organizations []uuid.UUID
	}
	// buriedRow is what became of the mortals.
	buriedRow struct {
		Brands        []uuid.UUID `db:"brands"`
		Organizations []uuid.UUID `db:"organizations"`
		Months        []time.Time `db:"months"`
	}
)

// ErrSinksBusy says that batches were under way, or that somebody else has stopped
// the sinks: try again later.
var ErrSinksBusy = errors.New("the sinks are busy")

// gatePool has the connections of the gate, which a batch keeps while it is under
// way; the other pool stays free for statements.
func gatePool(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	cfg = cfg.Copy()
	cfg.MaxConns = maxHolds
	maps.Copy(cfg.ConnConfig.RuntimeParams, gateSession(holdPatience))
	return pgxpool.NewWithConfig(ctx, cfg)
}

// gateSession are the settings of a session that waits for the gate: it does not
// end for being idle, and ends soon when nobody is left at its other end.
func gateSession(patience time.Duration) map[string]string {
	third := strconv.Itoa(int((gone / 3).Seconds()))
	return map[string]string{
		"lock_timeout":            strconv.FormatInt(patience.Milliseconds(), 10),
		"idle_session_timeout":    "0",
		"tcp_keepalives_idle":     third,
		"tcp_keepalives_interval": third,
		"tcp_keepalives_count":    "2",
	}
}

// SinkHold keeps the sinks of a shard from being stopped. A nil SinkHold is that of
// a target which nobody would stop, and on which nothing is buried. It is not safe
// for concurrent use.
type SinkHold struct {
	conn    *pgxpool.Conn
	shard   int
	silence time.Duration
}

// HoldSinks waits while the sinks of a shard are stopped, for a quarter of a minute;
// then it is an ErrSinksBusy.
func (db *DB) HoldSinks(ctx context.Context, shard int) (*SinkHold, error) {
	ctx, cancel := context.WithTimeout(ctx, holdPatience+db.silence)
	defer cancel()
	conn, err := db.gate.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("hold sinks of shard %d: %w", shard, err)
	}
	if _, err := holdSinks.run(ctx, conn, shardOf{shard}); err != nil {
		abandon(conn)
		return nil, fmt.Errorf("hold sinks of shard %d: %w", shard, busy(err))
	}
	return &SinkHold{conn, shard, db.silence}, nil
}

// Held is nil while the hold was never lost: with the connection it is lost for
// ever. A hold that was kept when a batch had been planned may be lost later, since
// whoever stops the sinks then sees the plan.
func (h *SinkHold) Held(ctx context.Context) error {
	if h == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.silence)
	defer cancel()
	if err := h.conn.Ping(ctx); err != nil {
		return fmt.Errorf("lost the hold of the sinks of shard %d: %w", h.shard, err)
	}
	return nil
}

// Buried is what a batch must not bring back.
type Buried struct {
	Brands        map[uuid.UUID]bool
	Organizations map[uuid.UUID]bool
	Months        []time.Time // the frozen ones by their first day, UTC, in order
}

// Buried says which of the given brands and organizations were deleted, and which
// months of a topic (without its prefix) are frozen. No month is frozen while the
// sinks are held, or a plan is open; a brand may be deleted at any time. An answer
// proves, as Held does, that the hold was not lost before.
func (h *SinkHold) Buried(ctx context.Context, topic string, brands, organizations []uuid.UUID) (Buried, error) {
	if h == nil {
		return Buried{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.silence)
	defer cancel()
	row, err := buried.one(ctx, h.conn, mortals{topic, brands, organizations})
	if err != nil {
		return Buried{}, err
	}
	return Buried{set(row.Brands), set(row.Organizations), row.Months}, nil
}

func set(ids []uuid.UUID) map[uuid.UUID]bool {
	all := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all
}

// Release lets go. A connection that cannot say so is closed, and the lock with it.
func (h *SinkHold) Release() {
	if h == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if was, err := letGoSinks.one(ctx, h.conn, shardOf{h.shard}); err != nil || !was.Locked {
		abandon(h.conn)
		return
	}
	h.conn.Release()
}

// abandon closes a connection of the pool.
func abandon(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Conn().Close(ctx) // whatever it says, the pool drops it
	conn.Release()
}

// SinkStop keeps every sink of a shard from beginning a batch. It is not safe for
// concurrent use.
type SinkStop struct {
	conn    *pgx.Conn
	shard   int
	silence time.Duration
}

// StopSinks waits until no sink of a shard has a batch under way, at most for
// patience, then it is an ErrSinksBusy. Sinks begin no batch meanwhile: trying
// without a place in the line would never find all partitions of a busy log between
// two batches. So patience is what the log buffers for nothing when a batch hangs;
// seconds, and more time between two tries.
func (db *DB) StopSinks(ctx context.Context, shard int, patience time.Duration) (*SinkStop, error) {
	cfg := db.Config()
	maps.Copy(cfg.ConnConfig.RuntimeParams, gateSession(patience))
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("stop sinks of shard %d: %w", shard, err)
	}
	s := &SinkStop{conn, shard, db.silence}
	if err = cfg.AfterConnect(ctx, conn); err == nil {
		_, err = stopSinks.run(ctx, conn, shardOf{shard})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("stop sinks of shard %d: %w", shard, busy(err)), s.Release())
	}
	return s, nil
}

// Held is nil while the sinks have stood still since StopSinks.
func (s *SinkStop) Held(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("lost the stop of the sinks of shard %d: %w", s.shard, err)
	}
	return nil
}

// Release lets the sinks go on.
func (s *SinkStop) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

// busy tells having waited in vain from other failures.
func busy(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "55P03" {
		return fmt.Errorf("%w: %w", ErrSinksBusy, err)
	}
	return err
}
