package rest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	channel      = "pgrst"
	retryAfter   = time.Second
	listenCheck  = time.Second      // between two checks that the connection that listens is alive
	checkTimeout = 2 * time.Second  // for the answer to one
	loadTimeout  = 60 * time.Second // for reading a schema
	reloadPause  = time.Second      // between two reloads: what comes meanwhile is one
)

// Run keeps the schema cache: it reads the schema, and reads it again on NOTIFY pgrst and whenever it may have missed
// one. It returns when ctx ends.
func (a *API) Run(ctx context.Context) error {
	var last complaint
	for {
		err := a.listen(ctx)
		a.lost.Store(true)
		if lifecycle.Pause(ctx, retryAfter) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		if last.due(err, time.Now()) {
			a.log.Warn("schema cache not kept", "error", err,
				"next", "see that the database can be reached and its login may sign in; it is tried again every second, and the last schema is used")
		}
	}
}

const complainAgain = time.Minute

// A complaint is the last failure that was logged.
type complaint struct {
	cause string
	at    time.Time
}

// due is whether a failure is to be logged: it has another cause than the last one, or that was a while ago.
func (c *complaint) due(err error, now time.Time) bool {
	if err.Error() == c.cause && now.Sub(c.at) < complainAgain {
		return false
	}
	*c = complaint{err.Error(), now}
	return true
}

// listen keeps the cache as long as one connection lives.
func (a *API) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, a.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		closing, closed := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
		defer closed()
		_ = conn.Close(closing) // it is given up
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		if err := a.reload(ctx); err != nil {
			return err
		}
		a.lost.Store(false)
		again := time.Now().Add(reloadPause)
		if err := waitForChange(ctx, conn); err != nil {
			return err
		}
		if err := waitUntil(ctx, conn, again); err != nil {
			return err
		}
	}
}

// reload reads the schema.
func (a *API) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	loaded, err := loadCache(ctx, a.pool, a.cfg)
	if err != nil {
		return err
	}
	a.cache.Store(loaded)
	a.pool.Reset() // prepared statements know the types that columns had
	a.log.Info("schema read", "relations", len(loaded.relations), "functions", len(loaded.functions))
	return nil
}

// waitForChange returns when the schema is to be read again.
func waitForChange(ctx context.Context, conn *pgx.Conn) error {
	for {
		notified, err := notification(ctx, conn, time.Now().Add(listenCheck))
		if err != nil || notified {
			return err
		}
		checking, cancel := context.WithTimeout(ctx, checkTimeout)
		err = conn.Ping(checking)
		cancel()
		if err != nil {
			return err
		}
	}
}

// waitUntil waits, and drops the notifications that come meanwhile, or came while the schema was read: the next reload
// sees what they announce.
func waitUntil(ctx context.Context, conn *pgx.Conn, until time.Time) error {
	for {
		if notified, err := notification(ctx, conn, until); err != nil || !notified {
			return err
		}
	}
}

// notification waits for a notification that the schema has changed; false is none until then.
func notification(ctx context.Context, conn *pgx.Conn, until time.Time) (bool, error) {
	for {
		bounded, cancel := context.WithDeadline(ctx, until)
		n, err := conn.WaitForNotification(bounded)
		cancel()
		switch {
		case err == nil && n.Payload != "reload config":
			return true, nil
		case err == nil:
		case ctx.Err() != nil || conn.IsClosed():
			return false, err
		default:
			return false, nil
		}
	}
}
