package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Caller is the identity under which a request runs.
type Caller struct {
	Role      string          // of PostgreSQL
	Claims    json.RawMessage // an object, as request.jwt.claims
	Anonymous bool            // without a token

	// Organization has the slots that the caller's requests take; the zero UUID takes none.
	Organization uuid.UUID
}

// A result is what the statement of a plan returned.
type result struct {
	total    int64 // of rows without limit; unknownTotal
	rows     int64
	body     [][]byte // chunks
	cut      bool     // there are more rows than a body may have
	headers  string   // response.headers
	status   string   // response.status
	location string   // JSON: the primary key of an inserted row
	inserted int64    // new rows of an upsert
}

// run executes the statement of a plan in a transaction of its own. Everything before the statement ends with
// startCtx: a database that does not answer within it is taken for lost.
func (a *API) run(ctx, startCtx context.Context, p *plan) (*result, error) {
	pooled, err := a.pool.Acquire(startCtx)
	if err != nil {
		stat := a.pool.Stat()
		if errors.Is(err, context.DeadlineExceeded) && !a.lost.Load() && stat.AcquiredConns() == stat.MaxConns() {
			return nil, refuse(http.StatusGatewayTimeout, "PGRST003",
				"Timed out acquiring connection from connection pool.")
		}
		return nil, connectionError(err)
	}
	defer pooled.Release()
	conn := pooled.Conn().PgConn()
	var r *result
	types, err := a.castTypes(startCtx, conn, p)
	if err == nil {
		r, err = a.transact(ctx, startCtx, conn, p, p.render(types))
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}
	if err != nil {
		refusal := databaseError(err, p.caller.Anonymous)
		if refusal.code == "42501" && p.action == actionInsert {
			refusal = refusal.hinted(cmp.Or(a.cfg.Adders[p.relation.name], p.lacking(a.cfg.Parents[p.relation.name])))
		}
		return nil, refusal
	}
	return r, nil
}

// lacking returns a hint if the rows to insert have no value of a column.
func (p *plan) lacking(name string) string {
	if name == "" || slices.ContainsFunc(p.written, func(c *column) bool { return c.name == name }) {
		return ""
	}
	return name + " is missing"
}

// transact executes a statement as the caller, and commits unless the plan refuses its result.
func (a *API) transact(ctx, startCtx context.Context, conn *pgconn.PgConn, p *plan, s *sqlText) (r *result, err error) {
	defer func() {
		if err != nil && conn.TxStatus() != 'I' {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
			defer cancel()
			err = errors.Join(err, executeSQL(ctx, conn, "ROLLBACK"))
		}
	}()
	if r, err = a.exchange(ctx, startCtx, conn, p, s); err != nil {
		return nil, err
	}
	if err := p.checkResult(r); err != nil {
		return nil, err
	}
	if conn.IsClosed() { // of a read that was cut
		return r, nil
	}
	return r, executeSQL(ctx, conn, "COMMIT")
}

// exchange sends all of a transaction but its end in one round trip, and reads the results. The flush request after
// the settings lets their results arrive while the statement runs: without them by the end of startCtx the connection
// is dead, and with them the statement is slow.
func (a *API) exchange(ctx, startCtx context.Context, conn *pgconn.PgConn, p *plan, s *sqlText) (*result, error) {
	begin := "BEGIN READ WRITE"
	if p.readOnly {
		begin = "BEGIN READ ONLY"
	}
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	stopWaiting := context.AfterFunc(startCtx, abandon)
	pipeline := conn.StartPipeline(ctx)
	pipeline.SendQueryParams(begin, nil, nil, nil, nil)
	settings := a.settings(p)
	pipeline.SendQueryParams(settings.String(), settings.values, settings.types, nil, nil)
	pipeline.SendFlushRequest()
	explain := p.explain(s.casts)
	if explain != nil {
		pipeline.SendQueryParams(explain.String(), explain.values, explain.types, nil, nil)
	}
	statements := statementsOf(conn)
	results := statements.send(pipeline, s)
	if err := pipeline.Sync(); err != nil {
		return nil, errors.Join(err, pipeline.Close())
	}
	r, err := func() (*result, error) {
		for range 2 {
			if _, err := nextRow(pipeline); err != nil {
				return nil, err
			}
		}
		stopWaiting()
		var planned int64
		if explain != nil {
			row, err := nextRow(pipeline)
			if err != nil {
				return nil, err
			}
			if planned, err = plannedRows(row); err != nil {
				return nil, err
			}
		}
		r, err := p.collect(pipeline, results, func(result any) { statements.record(result, s.String()) })
		if err == nil {
			p.estimateTotal(r, planned)
		}
		return r, err
	}()
	if _, refused := errors.AsType[*Error](err); refused || err == nil && r.cut {
		abandon() // closes the connection, with the rows that are not needed
		_ = pipeline.Close()
		return r, err
	}
	if closeErr := pipeline.Close(); err == nil {
		err = closeErr
	}
	return r, err
}

// nextRow reads the next result of a pipeline and returns its first row, if there is one.
func nextRow(pipeline *pgconn.Pipeline) ([][]byte, error) {
	result, err := pipeline.GetResults()
	if err != nil {
		return nil, err
	}
	reader, ok := result.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("read a result: got %T", result)
	}
	read := reader.Read()
	if read.Err != nil || len(read.Rows) == 0 {
		return nil, read.Err
	}
	return read.Rows[0], nil
}

// collect reads n results, the last of which has the rows of the body, and calls record with the others.
func (p *plan) collect(pipeline *pgconn.Pipeline, n int, record func(any)) (*result, error) {
	for range n - 1 {
		result, err := pipeline.GetResults()
		if err != nil {
			return nil, err
		}
		record(result)
	}
	last, err := pipeline.GetResults()
	if err != nil {
		return nil, err
	}
	reader := last.(*pgconn.ResultReader) //nolint:forcetypeassert // the result of a query
	r := &result{total: unknownTotal}
	body := p.newBody()
	for !r.cut && reader.NextRow() {
		row := reader.Values()
		if row[1] != nil {
			r.total = integer(string(row[1]), 0)
		}
		switch {
		case row[0] == nil:
			r.summarize(row)
		case body.add(row[0]):
		case p.action.writes() || body.rows == 0:
			return nil, p.responseTooLarge()
		default:
			r.cut = true
		}
	}
	if !r.cut {
		if _, err = reader.Close(); p.maxBytes > 0 && isTooLarge(err) {
			return nil, p.responseTooLarge()
		}
	}
	r.rows += body.rows
	r.body = body.end()
	if body.maxRows > 0 && r.rows > body.maxRows { // counted, not read
		r.rows, r.cut = body.maxRows, true
	}
	return r, err
}

// summarize reads the last row of a statement.
func (r *result) summarize(row [][]byte) {
	if row[2] != nil {
		r.rows = integer(string(row[2]), 0)
	}
	r.headers, r.status, r.location = string(row[3]), string(row[4]), string(row[5])
	r.inserted = integer(string(row[6]), 0)
}

func executeSQL(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
}

// settings returns the SELECT that gives a transaction the caller's role and claims.
func (a *API) settings(p *plan) *sqlText {
	headers, cookies := map[string]string{}, map[string]string{}
	for _, h := range p.headers {
		if strings.EqualFold(h[0], "Cookie") {
			addCookies(cookies, h[1])
		} else {
			headers[strings.ToLower(h[0])] = h[1]
		}
	}
	settings := [][2]string{
		{"search_path", a.searchPath(p.schema)},
		{"role", p.caller.Role},
		{"request.jwt.claims", string(p.caller.Claims)},
		{"request.method", p.method},
		{"request.path", p.path},
		{"request.headers", string(encodeObject(headers))},
		{"request.cookies", string(encodeObject(cookies))},
		{"statement_timeout", strconv.FormatInt(a.cfg.StatementTimeout.Milliseconds(), 10)},
	}
	if p.prepared != "" {
		settings = append(settings, [2]string{"request.prepared", p.prepared})
	}
	if p.prefer.timezone != "" {
		settings = append(settings, [2]string{"timezone", p.prefer.timezone})
	}
	s := &sqlText{}
	s.write("SELECT ")
	list(s, ", ", settings, func(setting [2]string) {
		s.write("set_config('", setting[0], "', ").value(setting[1]).write(", true)")
	})
	return s
}

// addCookies adds the cookies of a header (RFC 6265 §4.2.1).
func addCookies(cookies map[string]string, header string) {
	for pair := range strings.SplitSeq(header, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			cookies[name] = strings.Trim(value, `"`)
		}
	}
}

// checkResult refuses a result that has not the one row, or more rows than the request allows.
func (p *plan) checkResult(r *result) error {
	switch {
	case p.action == actionUpsert && r.rows != 1:
		return badRequest("PGRST115", "Payload values do not match URL in primary key column(s)")
	case p.action == actionUpsert:
		return nil
	case p.media.singular() && r.rows != 1:
		return refuse(http.StatusNotAcceptable, "PGRST116", "Cannot coerce the result to a single JSON object").
			detailed("The result contains " + strconv.FormatInt(r.rows, 10) + " rows")
	case p.action == actionUpdate, p.action == actionDelete, p.action == actionCall:
		return p.prefer.checkAffected(r.rows)
	}
	return nil
}

// maxCasts bounds the cached names of types: one type has any number of names.
const maxCasts = 1000

// castTypes returns the types that the names in casts mean to the caller.
func (a *API) castTypes(ctx context.Context, conn *pgconn.PgConn, p *plan) (map[string]string, error) {
	types := map[string]string{}
	for _, name := range p.casts {
		typ := p.schemas.castType(qualified{p.schema, name})
		if typ == "" {
			values := [][]byte{[]byte(a.searchPath(p.schema)), []byte(p.caller.Role), []byte(name)}
			read := conn.ExecParams(ctx, catalogQuery("type"), values, nil, nil, nil).Read()
			if read.Err != nil {
				return nil, read.Err
			}
			if typ = string(read.Rows[0][0]); typ == "" {
				return nil, badRequest("42704", `type "`+name+`" does not exist`)
			}
			p.schemas.addCastType(qualified{p.schema, name}, typ)
		}
		types[name] = typ
	}
	return types, nil
}

// searchPath returns where a request for a schema finds functions, operators and types.
func (a *API) searchPath(schema string) string {
	path := []string{quote(schema)}
	for _, extra := range a.cfg.SearchPath {
		path = append(path, quote(extra))
	}
	return strings.Join(path, ", ")
}

// maxPrepared bounds the statements of a connection; each costs the server ten to some hundred kilobytes.
const maxPrepared = 100

// statements holds the prepared statements of a connection, so that a repeated one is parsed and planned once.
type statements struct {
	names map[string]string // by SQL
	order []string          // SQL, the oldest first
	made  int
}

func statementsOf(conn *pgconn.PgConn) *statements {
	const key = "queryapi/rest"
	s, ok := conn.CustomData()[key].(*statements)
	if !ok {
		s = &statements{names: map[string]string{}}
		conn.CustomData()[key] = s
	}
	return s
}

// send adds a statement to a pipeline, and returns the number of its results.
func (s *statements) send(pipeline *pgconn.Pipeline, sql *sqlText) (results int) {
	if name := s.names[sql.String()]; name != "" {
		pipeline.SendQueryPrepared(name, sql.values, sql.formats(), nil)
		return 1
	}
	if len(s.order) >= maxPrepared {
		pipeline.SendDeallocate(s.names[s.order[0]])
		results++
	}
	s.made++
	pipeline.SendPrepare(s.lastName(), sql.String(), sql.types)
	pipeline.SendQueryPrepared(s.lastName(), sql.values, sql.formats(), nil)
	return results + 2
}

func (s *statements) lastName() string { return "rest_" + strconv.Itoa(s.made) }

// record keeps account of what the server has prepared or closed, also in a transaction that fails.
func (s *statements) record(result any, sql string) {
	switch result.(type) {
	case *pgconn.CloseComplete:
		delete(s.names, s.order[0])
		s.order = s.order[1:]
	case *pgconn.StatementDescription:
		s.names[sql] = s.lastName()
		s.order = append(s.order, sql)
	}
}
