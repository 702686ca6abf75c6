package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// listener is a connection of its own that is notified of changes. Connecting and every statement must be answered
// within timeout, because a connection whose other end has gone would stay silent for a quarter of an hour. It is not
// safe for concurrent use.
type listener struct {
	conn    *pgx.Conn
	timeout time.Duration
}

func (db *DB) openListener(ctx context.Context, timeout time.Duration) (*listener, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := db.openConn(ctx, 0)
	if err != nil {
		return nil, err
	}
	return &listener{conn, timeout}, nil
}

// Wait returns when there may be a change that was not there when Wait was last called, or after atMost: notified says
// which. Any number of notifications that have come end it once. The connection stays open when ctx ends.
func (l *listener) Wait(ctx context.Context, atMost time.Duration) (notified bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	_, err = l.conn.WaitForNotification(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("wait for a notification: %w", err)
	}
	cancel()
	for err == nil { // with an ended context it returns what has come, and waits for no more
		_, err = l.conn.WaitForNotification(bounded)
	}
	return true, nil
}

// Close closes the connection, and ends what it holds.
func (l *listener) Close() error { return closeConn(l.conn) }
