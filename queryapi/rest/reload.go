package rest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	channel     = "pgrst"
	retryAfter  = time.Second
	listenCheck = 30 * time.Second // between two looks whether the connection that listens still lives
)

// Run keeps the schema cache: it reads the schema, and reads it again on NOTIFY pgrst and whenever it may have missed
// one. It returns when ctx ends.
func (a *API) Run(ctx context.Context) error {
	var last complaint
	for {
		err := a.listen(ctx)
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
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		loaded, err := loadCache(ctx, a.pool, a.cfg)
		if err != nil {
			return err
		}
		a.cache.Store(loaded)
		a.pool.Reset() // prepared statements know the types that columns had
		a.log.Info("schema read", "relations", len(loaded.relations), "functions", len(loaded.functions))
		if err := waitForChange(ctx, conn); err != nil {
			return err
		}
	}
}

// waitForChange returns when the schema is to be read again.
func waitForChange(ctx context.Context, conn *pgx.Conn) error {
	for {
		bounded, cancel := context.WithTimeout(ctx, listenCheck)
		said, err := conn.WaitForNotification(bounded)
		cancel()
		switch {
		case err == nil && said.Payload != "reload config":
			return nil
		case err == nil:
		case ctx.Err() != nil || conn.IsClosed():
			return err
		default:
			if err := conn.Ping(ctx); err != nil {
				return err
			}
		}
	}
}
