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
	listenCheck  = time.Second      // between two checks of the connection that listens
	checkTimeout = 2 * time.Second  // of such a check
	loadTimeout  = 60 * time.Second // of reading a schema
	reloadPause  = time.Second      // between two reloads: notifications in between cause one
	logInterval  = time.Minute      // between two log lines of one failure
)

// Run reads the schema, and reads it again on NOTIFY pgrst and whenever it may have missed one. It returns when ctx
// ends.
func (a *API) Run(ctx context.Context) error {
	var failure loggedFailure
	for {
		err := a.listen(ctx)
		a.lost.Store(true)
		if lifecycle.Pause(ctx, retryAfter) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		if failure.due(err, time.Now()) {
			a.log.Warn("schema cache not updated", "error", err,
				"next", "see that the database can be reached and its login may sign in; "+
					"it is tried again every second, and the last schema is used")
		}
	}
}

// A loggedFailure is the last failure that was logged.
type loggedFailure struct {
	cause string
	at    time.Time
}

// due reports whether to log a failure: it has another cause than the last one, or that was logInterval ago.
func (f *loggedFailure) due(err error, now time.Time) bool {
	if err.Error() == f.cause && now.Sub(f.at) < logInterval {
		return false
	}
	*f = loggedFailure{err.Error(), now}
	return true
}

// listen reloads the schema as long as one connection lives.
func (a *API) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, a.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
		defer cancel()
		_ = conn.Close(ctx) // it may be dead
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		if err := a.reload(ctx); err != nil {
			return err
		}
		a.lost.Store(false)
		nextReload := time.Now().Add(reloadPause)
		if err := waitForChange(ctx, conn); err != nil {
			return err
		}
		// The next reload sees what the notifications until then announce.
		for notified := true; notified; {
			if notified, err = waitForNotification(ctx, conn, nextReload); err != nil {
				return err
			}
		}
	}
}

func (a *API) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	loaded, err := loadSchema(ctx, a.pool, a.cfg)
	if err != nil {
		return err
	}
	a.schemas.Store(loaded)
	a.pool.Reset() // prepared statements have the types of the old columns
	a.log.Info("schema read", "relations", len(loaded.relations), "functions", len(loaded.functions))
	return nil
}

// waitForChange returns when the schema has changed, or with an error when the connection is dead.
func waitForChange(ctx context.Context, conn *pgx.Conn) error {
	for {
		notified, err := waitForNotification(ctx, conn, time.Now().Add(listenCheck))
		if err != nil || notified {
			return err
		}
		pingCtx, cancel := context.WithTimeout(ctx, checkTimeout)
		err = conn.Ping(pingCtx)
		cancel()
		if err != nil {
			return err
		}
	}
}

// waitForNotification waits for a notification of a changed schema; false if none comes until the deadline.
func waitForNotification(ctx context.Context, conn *pgx.Conn, deadline time.Time) (bool, error) {
	for {
		waitCtx, cancel := context.WithDeadline(ctx, deadline)
		n, err := conn.WaitForNotification(waitCtx)
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
