package rest

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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

//go:embed query/*.sql
var queries embed.FS

// catalogQuery returns the text of a file of query/.
func catalogQuery(name string) string {
	text, err := queries.ReadFile("query/" + name + ".sql")
	if err != nil {
		panic(err) // the source lacks a file
	}
	return string(text)
}

// loadSchema reads the catalog in one snapshot.
func loadSchema(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*schemaCache, error) {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = tx.Rollback(ctx) // nothing was written
	}()
	// Without a search path every name comes with its schema.
	if _, err := tx.Exec(ctx, "SELECT set_config('search_path', '', true)"); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	l := loader{tx: tx, cfg: cfg, byOID: map[int64]*relation{}, schemaCache: &schemaCache{
		relations: map[qualified]*relation{}, relationships: map[qualified][]*relationship{},
		functions: map[qualified][]*function{}, timezones: map[string]bool{}, casts: map[qualified]string{},
	}}
	for _, step := range []struct {
		name string
		load func(context.Context) error
	}{
		{"relations", l.loadRelations}, {"columns", l.loadColumns}, {"relationships", l.loadRelationships},
		{"functions", l.loadFunctions}, {"computed columns", l.loadComputed}, {"timezones", l.loadTimezones},
	} {
		if err := step.load(ctx); err != nil {
			return nil, fmt.Errorf("read %s of the schema: %w", step.name, err)
		}
	}
	l.dropUnexposed()
	return l.schemaCache, nil
}

// A loader reads a schemaCache, also relations that are not exposed, because views lead to them.
type loader struct {
	tx  pgx.Tx
	cfg Config
	*schemaCache
	byOID map[int64]*relation
}

// each calls add for each row of a query of the catalog, after the row was scanned into targets.
func (l *loader) each(ctx context.Context, query string, args, targets []any, add func()) error {
	rows, err := l.tx.Query(ctx, catalogQuery(query), args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		add()
		return nil
	})
	return err
}

func (l *loader) loadRelations(ctx context.Context) error {
	var row relation
	targets := []any{&row.oid, &row.schema, &row.name, &row.view, &row.insertable, &row.updatable, &row.deletable}
	return l.each(ctx, "relations", nil, targets, func() {
		r := row
		r.byName, r.byNumber = map[string]*column{}, map[int16]*column{}
		l.byOID[r.oid], l.relations[r.qualified] = &r, &r
	})
}

func (l *loader) loadColumns(ctx context.Context) error {
	var row column
	var oid int64
	var number int16
	targets := []any{&oid, &number, &row.name, &row.typ, &row.searchable, &row.defaultValue}
	return l.each(ctx, "columns", nil, targets, func() {
		if r, c := l.byOID[oid], row; r != nil {
			r.columns = append(r.columns, &c)
			r.byName[c.name], r.byNumber[number] = &c, &c
		}
	})
}

func (l *loader) loadFunctions(ctx context.Context) error {
	var row function
	var names, types, resultNames, resultTypes []string
	var variadic []bool
	var defaults int
	targets := []any{
		&row.schema, &row.name, &names, &types, &variadic, &defaults, &row.set, &row.composite, &row.void,
		&row.volatility, &row.result.schema, &row.result.name, &resultNames, &resultTypes,
	}
	err := l.each(ctx, "functions", []any{l.cfg.Schemas}, targets, func() {
		f := row
		for i, name := range names {
			f.params = append(f.params, parameter{name, types[i], i < len(names)-defaults, variadic[i]})
		}
		for i, name := range resultNames {
			f.columns = append(f.columns, &column{name: name, typ: resultTypes[i]})
		}
		if f.callable() {
			l.functions[f.qualified] = append(l.functions[f.qualified], &f)
		}
	})
	for _, overloads := range l.functions {
		slices.SortStableFunc(overloads, func(a, b *function) int { return len(a.params) - len(b.params) })
	}
	return err
}

// callable reports whether a request can name all parameters. The only one may be unnamed, and takes the body.
func (f *function) callable() bool {
	for _, p := range f.params {
		if p.name == "" {
			return len(f.params) == 1 && slices.Contains([]string{"bytea", "json", "jsonb", "text", "xml"}, p.typ)
		}
	}
	return true
}

func (l *loader) loadTimezones(ctx context.Context) error {
	var name string
	return l.each(ctx, "timezones", nil, []any{&name}, func() { l.timezones[name] = true })
}

// dropUnexposed drops relations, relationships and junctions outside the exposed schemas.
func (l *loader) dropUnexposed() {
	unexposed := func(q qualified) bool { return !slices.Contains(l.cfg.Schemas, q.schema) }
	for name := range l.relations {
		if unexposed(name) {
			delete(l.relations, name)
		}
	}
	for from, list := range l.relationships {
		list = slices.DeleteFunc(list, func(r *relationship) bool { return unexposed(r.to.qualified) })
		if unexposed(from) || len(list) == 0 {
			delete(l.relationships, from)
			continue
		}
		l.relationships[from] = slices.DeleteFunc(list, func(r *relationship) bool {
			return r.junction != nil && unexposed(r.junction.table.qualified)
		})
	}
}
