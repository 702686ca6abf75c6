package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Caller is who asks.
type Caller struct {
	Role      string          // of PostgreSQL, in which the request runs
	Claims    json.RawMessage // an object, as request.jwt.claims
	Anonymous bool            // without a token
}

// A result is the one row that a statement returns.
type result struct {
	total    int64 // of all rows without a span; unknownTotal
	rows     int64
	body     []byte
	headers  string // response.headers
	status   string // response.status
	location string // JSON: the primary key of an inserted row
	inserted int64  // rows that are new, of an upsert
}

// run sends the statement of a plan, in a transaction of its own.
func (a *API) run(ctx context.Context, c *cache, p *plan, caller Caller) (*result, *Error) {
	waiting, done := context.WithTimeout(ctx, a.cfg.AcquireTimeout)
	pooled, err := a.pool.Acquire(waiting)
	done()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, refuse(http.StatusGatewayTimeout, "PGRST003", "Timed out acquiring connection from connection pool.")
	}
	if err != nil {
		return nil, ofConnection(err)
	}
	defer pooled.Release()
	conn := pooled.Conn().PgConn()
	var r *result
	types, err := a.castTypes(ctx, conn, c, p, caller)
	if err == nil {
		r, err = a.transact(ctx, conn, p, caller, p.render(types))
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}
	if err != nil {
		return nil, ofPostgres(err, caller.Anonymous)
	}
	return r, nil
}

// transact runs a statement as the caller. It commits unless something refuses the result.
func (a *API) transact(ctx context.Context, conn *pgconn.PgConn, p *plan, caller Caller, s *sqlText) (r *result, err error) {
	defer func() {
		if err != nil && conn.TxStatus() != 'I' {
			err = errors.Join(err, exec(context.WithoutCancel(ctx), conn, "ROLLBACK"))
		}
	}()
	begin := "BEGIN READ WRITE"
	if p.readOnly {
		begin = "BEGIN READ ONLY"
	}
	settings := a.settings(p, caller)
	pipeline := conn.StartPipeline(ctx)
	pipeline.SendQueryParams(begin, nil, nil, nil, nil)
	pipeline.SendQueryParams(settings.String(), settings.values, settings.types, nil, nil)
	statements := preparedOn(conn)
	results := statements.send(pipeline, s)
	if err := pipeline.Sync(); err != nil {
		return nil, errors.Join(err, pipeline.Close())
	}
	row, err := lastOf(pipeline, 2+results, func(result any) { statements.done(result, s.String()) })
	if closed := pipeline.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	r = readResult(row)
	if refusal := p.accepts(r); refusal != nil {
		return nil, refusal
	}
	if err := a.estimate(ctx, conn, p, r, s.casts); err != nil {
		return nil, err
	}
	return r, exec(ctx, conn, "COMMIT")
}

// lastOf reads n results and returns the row of the last one; done gets each result without rows.
func lastOf(pipeline *pgconn.Pipeline, n int, done func(any)) (row [][]byte, err error) {
	for range n {
		result, err := pipeline.GetResults()
		if err != nil {
			return nil, err
		}
		reader, ok := result.(*pgconn.ResultReader)
		if !ok {
			done(result)
			continue
		}
		read := reader.Read()
		if read.Err != nil {
			return nil, read.Err
		}
		if row = nil; len(read.Rows) > 0 {
			row = read.Rows[0]
		}
	}
	return row, nil
}

func exec(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
}

func readResult(row [][]byte) *result {
	number := func(text []byte, none int64) int64 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return none
		}
		return n
	}
	return &result{
		total: number(row[0], unknownTotal), rows: number(row[1], 0), body: row[2], headers: string(row[3]), status: string(row[4]),
		location: string(row[5]), inserted: number(row[6], 0),
	}
}

// settings is the SELECT that makes a transaction the caller's.
func (a *API) settings(p *plan, caller Caller) *sqlText {
	s := &sqlText{}
	headers, cookies := map[string]string{}, map[string]string{}
	for _, h := range p.incoming.headers {
		if strings.EqualFold(h[0], "Cookie") {
			readCookies(h[1], cookies)
			continue
		}
		headers[strings.ToLower(h[0])] = h[1]
	}
	s.write("SELECT ")
	list(s, ", ", [][2]string{
		{"search_path", a.searchPath(p.schema)},
		{"role", caller.Role},
		{"request.jwt.claims", string(caller.Claims)},
		{"request.method", p.method},
		{"request.path", p.path},
		{"request.headers", encode(headers)},
		{"request.cookies", encode(cookies)},
		{"statement_timeout", strconv.FormatInt(a.cfg.StatementTimeout.Milliseconds(), 10)},
	}, func(setting [2]string) {
		s.write("set_config('", setting[0], "', ").value(setting[1]).write(", true)")
	})
	if p.prefer.timezone != "" {
		s.write(", set_config('timezone', ").value(p.prefer.timezone).write(", true)")
	}
	return s
}

// readCookies adds the cookies of a header (RFC 6265 §4.2.1).
func readCookies(header string, to map[string]string) {
	for pair := range strings.SplitSeq(header, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			to[name] = strings.Trim(value, `"`)
		}
	}
}

func encode(object map[string]string) string {
	text, _ := json.Marshal(object) // strings, which cannot fail
	return string(text)
}

// accepts refuses a result of other than one row, or of more rows than the caller wants, so that it is not committed.
func (p *plan) accepts(r *result) *Error {
	if p.action == actionUpsert {
		if r.rows != 1 {
			return refuse(statusBadRequest, "PGRST115", "Payload values do not match URL in primary key column(s)")
		}
		return nil
	}
	if p.media.single() && r.rows != 1 {
		return singular(r.rows)
	}
	if p.action == actionUpdate || p.action == actionDelete || p.action == actionCall {
		return p.prefer.checkAffected(r.rows)
	}
	return nil
}

// estimate sets the total that the planner expects, where that is asked for. Without a bound an estimate is the larger
// of that total and the counted one.
func (a *API) estimate(ctx context.Context, conn *pgconn.PgConn, p *plan, r *result, casts map[string]string) error {
	over := p.prefer.count == "estimated" && (p.maxRows == nil || r.total > *p.maxRows)
	if p.action != actionRead || p.prefer.count != "planned" && !over {
		return nil
	}
	s := &sqlText{casts: casts}
	s.write("EXPLAIN (FORMAT JSON) ")
	s.count(p.read)
	read := conn.ExecParams(ctx, s.String(), s.values, s.types, nil, nil).Read()
	if read.Err != nil {
		return read.Err
	}
	var explained []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(read.Rows[0][0], &explained); err != nil {
		return err
	}
	r.total = max(r.total, explained[0].Plan.Rows)
	return nil
}

// maxCasts bounds the names of types that are kept: one type has any number of them.
const maxCasts = 1000

// castTypes finds the types of a plan's casts, as the caller finds them.
func (a *API) castTypes(ctx context.Context, conn *pgconn.PgConn, c *cache, p *plan, caller Caller) (map[string]string, error) {
	types := map[string]string{}
	for _, name := range p.casts {
		c.mu.Lock()
		typ := c.casts[qualified{p.schema, name}]
		c.mu.Unlock()
		if typ == "" {
			values := [][]byte{[]byte(a.searchPath(p.schema)), []byte(caller.Role), []byte(name)}
			read := conn.ExecParams(ctx, statement("type"), values, nil, nil, nil).Read()
			if read.Err != nil {
				return nil, read.Err
			}
			if typ = string(read.Rows[0][0]); typ == "" {
				return nil, refuse(statusBadRequest, "42704", `type "`+name+`" does not exist`)
			}
			c.mu.Lock()
			if len(c.casts) < maxCasts {
				c.casts[qualified{p.schema, name}] = typ
			}
			c.mu.Unlock()
		}
		types[name] = typ
	}
	return types, nil
}

// searchPath is where functions, operators and types are found in a request for a schema.
func (a *API) searchPath(schema string) string {
	path := []string{quote(schema)}
	for _, extra := range a.cfg.SearchPath {
		path = append(path, quote(extra))
	}
	return strings.Join(path, ", ")
}
