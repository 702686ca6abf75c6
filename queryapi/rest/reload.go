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
	for {
		err := a.listen(ctx)
		if lifecycle.Pause(ctx, retryAfter) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		a.log.Warn("schema cache not kept", "error", err, "next", "nothing: it is tried again every second, and the last one is used")
	}
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
