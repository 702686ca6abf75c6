package clickhouse

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/cenkalti/backoff/v5"
)

// retryTimeout is how long a question is repeated while the server is away. The embedded engine is back within a second
// when it is started again for its users (see deploy/engine), on a busy machine within six, a server that is restarted
// within a few.
const retryTimeout = 10 * time.Second

// shuttingDown is the error code ABORTED, of a question that came while the server was stopping.
const shuttingDown = 236

// Retry repeats ask while the server cannot be reached or hangs up. Only for what may be repeated.
func Retry(ctx context.Context, ask func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := ask()
		if err != nil && !Unreached(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.5, MaxInterval: 250 * time.Millisecond,
	}), backoff.WithMaxElapsedTime(retryTimeout))
	return err
}

// Unreached reports whether an error is of the connection and not an answer of the server.
func Unreached(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if refused, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return refused.Code == shuttingDown
	}
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
