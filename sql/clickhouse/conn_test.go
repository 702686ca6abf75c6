package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A server that is away is no answer: the caller learns that it may ask again, and not that the question is wrong.
func TestErrorsOfServersThatAreAwayAreTransient(t *testing.T) {
	away := []error{
		&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)},
		&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)},
		&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)},
		&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		&clickhouse.Exception{Code: 236}, // this server stops
		&clickhouse.Exception{Code: 279}, // no server of a shard
		&clickhouse.Exception{Code: 369}, // only replicas that lag
		&clickhouse.Exception{Code: 289}, // this replica lags
		&clickhouse.Exception{Code: 242}, // this replica has lost its keeper
		&clickhouse.Exception{Code: 209}, // another server hangs
	}
	for _, err := range away {
		if !IsTransient(fmt.Errorf("query: %w", err)) {
			t.Errorf("%v is not transient", err)
		}
	}
	for _, err := range []error{context.Canceled, errors.New("x"), &clickhouse.Exception{Code: 62}} {
		if IsTransient(err) {
			t.Errorf("%v is transient", err)
		}
	}
}
