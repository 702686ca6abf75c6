package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// ErrLeaseLost reports that another process has leased the row, or that the row was deleted.
var ErrLeaseLost = errors.New("the lease is lost")

// leaseholder leases rows of a queue to this process, one of many, by the column holder of its table and a time. A
// lease expires unless it is extended in time. It is safe for concurrent use.
type leaseholder struct {
	db       *DB
	id       uuid.UUID
	duration time.Duration
}

func (db *DB) newLeaseholder(duration time.Duration) (leaseholder, error) {
	id, err := uuid.NewV4()
	if err != nil {
		return leaseholder{}, fmt.Errorf("name leaseholder: %w", err)
	}
	return leaseholder{db, id, duration}, nil
}

// leaseNext leases the most urgent row that is due; ErrNotFound when none is. The statement has the parameters holder
// and seconds.
func leaseNext[R any](ctx context.Context, h leaseholder, statement string) (R, error) {
	return queryOne[R](ctx, h.db, statement, h.id, h.duration.Seconds())
}

// leaseSome leases at most limit rows that are due. The statement has the parameters holder, seconds and limit.
func leaseSome[R any](ctx context.Context, h leaseholder, statement string, limit int) ([]R, error) {
	return queryAll[R](ctx, h.db, statement, h.id, h.duration.Seconds(), limit)
}

// extend runs a statement that extends the lease of a row, or returns ErrLeaseLost. The statement has the parameters
// row, holder, seconds and args, and returns whether a newer request for the row came.
func (h leaseholder) extend(
	ctx context.Context, statement string, row uuid.UUID, args ...any,
) (requested bool, err error) {
	args = append([]any{row, h.id, h.duration.Seconds()}, args...)
	requested, err = queryOne[bool](ctx, h.db, statement, args...)
	if errors.Is(err, ErrNotFound) {
		err = ErrLeaseLost
	}
	return requested, err
}

// execLeased runs a statement on a row, which changes nothing without the lease. It has the parameters row, holder and
// args.
func (h leaseholder) execLeased(ctx context.Context, statement string, row uuid.UUID, args ...any) error {
	return exec(ctx, h.db, statement, append([]any{row, h.id}, args...)...)
}
