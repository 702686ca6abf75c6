package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Caller is who asks.
type Caller struct {
	Role      string          // of PostgreSQL, in which the request runs
	Claims    json.RawMessage // an object, as request.jwt.claims
	Anonymous bool            // without a token

	// Organization is whose slots the caller's requests take; the zero UUID takes none.
	Organization uuid.UUID
}

// A result is what the statement of a plan returned.
type result struct {
	total    int64 // of all rows without a span; unknownTotal
	rows     int64
	body     []byte
	cut      bool   // there are more rows than a body may have
	headers  string // response.headers
	status   string // response.status
	location string // JSON: the primary key of an inserted row
	inserted int64  // rows that are new, of an upsert
}

// run sends the statement of a plan, in a transaction of its own. What comes before the statement itself ends with
// starting: a database that does not answer until then is taken for lost.
func (a *API) run(ctx, starting context.Context, c *cache, p *plan, caller Caller) (*result, *Error) {
	pooled, err := a.pool.Acquire(starting)
	if errors.Is(err, context.DeadlineExceeded) && !a.lost.Load() && a.pool.Stat().AcquiredConns() == a.pool.Stat().MaxConns() {
		return nil, refuse(http.StatusGatewayTimeout, "PGRST003", "Timed out acquiring connection from connection pool.")
	}
	if err != nil {
		return nil, ofConnection(err)
	}
	defer pooled.Release()
	conn := pooled.Conn().PgConn()
	var r *result
	types, err := a.castTypes(starting, conn, c, p, caller)
	if err == nil {
		r, err = a.transact(ctx, starting, conn, p, caller, p.render(types))
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}
	if err != nil {
		return nil, ofPostgres(err, caller.Anonymous)
	}
	return r, nil
}

// transact runs a statement as the caller. It commits unless something refuses the result. The flush request behind the
// settings lets their results arrive while the statement runs, in the same round trip: that they do not arrive while
// starting lasts tells a dead connection from a slow statement.
func (a *API) transact(ctx, starting context.Context, conn *pgconn.PgConn, p *plan, caller Caller, s *sqlText) (r *result, err error) {
	defer func() {
		if err != nil && conn.TxStatus() != 'I' {
			ending, ended := context.WithTimeout(context.WithoutCancel(ctx), grace)
			defer ended()
			err = errors.Join(err, exec(ending, conn, "ROLLBACK"))
		}
	}()
	begin := "BEGIN READ WRITE"
	if p.readOnly {
		begin = "BEGIN READ ONLY"
	}
	settings := a.settings(p, caller)
	running, abandon := context.WithCancel(ctx)
	defer abandon()
	silent := context.AfterFunc(starting, abandon)
	pipeline := conn.StartPipeline(running)
	pipeline.SendQueryParams(begin, nil, nil, nil, nil)
	pipeline.SendQueryParams(settings.String(), settings.values, settings.types, nil, nil)
	pipeline.SendFlushRequest()
	explain := p.explain(s.casts)
	if explain != nil {
		pipeline.SendQueryParams(explain.String(), explain.values, explain.types, nil, nil)
	}
	statements := preparedOn(conn)
	results := statements.send(pipeline, s)
	if err := pipeline.Sync(); err != nil {
		return nil, errors.Join(err, pipeline.Close())
	}
	var planned int64
	r, err = func() (*result, error) {
		for range 2 {
			if _, err := nextRow(pipeline); err != nil {
				return nil, err
			}
		}
		silent()
		if explain != nil {
			plan, err := nextRow(pipeline)
			if err != nil {
				return nil, err
			}
			if planned, err = plannedRows(plan); err != nil {
				return nil, err
			}
		}
		return p.collect(pipeline, results, func(result any) { statements.done(result, s.String()) })
	}()
	if _, refused := errors.AsType[*Error](err); refused || err == nil && r.cut {
		abandon() // the connection ends with the rows that nobody reads
		_ = pipeline.Close()
	} else if closed := pipeline.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	if refusal := p.accepts(r); refusal != nil {
		return nil, refusal
	}
	p.estimate(r, planned)
	if conn.IsClosed() {
		return r, nil
	}
	return r, exec(ctx, conn, "COMMIT")
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

// collect reads n results, the last of which has the rows of the body; done gets the others.
func (p *plan) collect(pipeline *pgconn.Pipeline, n int, done func(any)) (*result, error) {
	for range n - 1 {
		result, err := pipeline.GetResults()
		if err != nil {
			return nil, err
		}
		done(result)
	}
	last, err := pipeline.GetResults()
	if err != nil {
		return nil, err
	}
	reader := last.(*pgconn.ResultReader) //nolint:forcetypeassert // the result of a query
	r := &result{total: unknownTotal}
	text := p.newBody()
	for reader.NextRow() {
		row := reader.Values()
		if row[1] != nil {
			r.total = number(row[1])
		}
		if row[0] == nil {
			r.summarize(row)
			continue
		}
		if !text.add(row[0]) {
			if p.action.writes() || text.rows == 0 {
				return nil, p.tooLarge()
			}
			r.cut = true
			break
		}
	}
	if !r.cut {
		if _, err = reader.Close(); p.maxBytes > 0 && isTooLarge(err) {
			return nil, p.tooLarge()
		}
	}
	r.rows += text.rows
	if r.body = text.end(); p.maxBytes > 0 && p.maxRows != nil && !p.action.writes() && r.rows > *p.maxRows { // counted, not read
		r.rows, r.cut = *p.maxRows, true
	}
	return r, err
}

// summarize reads the last row of a statement.
func (r *result) summarize(row [][]byte) {
	if row[2] != nil {
		r.rows = number(row[2])
	}
	r.headers, r.status, r.location, r.inserted = string(row[3]), string(row[4]), string(row[5]), number(row[6])
}

// number reads an integer that PostgreSQL wrote; 0 is none.
func number(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}

func exec(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
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

// explain asks for the number of rows that the planner expects; nil where the request does not.
func (p *plan) explain(casts map[string]string) *sqlText {
	if p.action != actionRead || p.prefer.count != "planned" && p.prefer.count != "estimated" {
		return nil
	}
	s := &sqlText{casts: casts}
	s.write("EXPLAIN (FORMAT JSON) ")
	s.count(p.read)
	return s
}

// plannedRows reads the answer to EXPLAIN.
func plannedRows(row [][]byte) (int64, error) {
	var explained []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(row[0], &explained); err != nil {
		return 0, err
	}
	return explained[0].Plan.Rows, nil
}

// estimate sets the total that the planner expects, where that is asked for. Without a bound an estimate is the larger
// of that total and the counted one.
func (p *plan) estimate(r *result, planned int64) {
	over := p.prefer.count == "estimated" && (p.maxRows == nil || r.total > *p.maxRows)
	if p.action == actionRead && (p.prefer.count == "planned" || over) {
		r.total = max(r.total, planned)
	}
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

// maxPrepared is how many statements a connection keeps; each costs the server some ten to hundred kilobytes.
const maxPrepared = 100

// prepared are the statements that a connection has: what is asked again and again is parsed and planned once.
type prepared struct {
	names map[string]string // by their SQL
	order []string          // SQL, the oldest first
	made  int
}

// preparedOn are those of a connection.
func preparedOn(conn *pgconn.PgConn) *prepared {
	const key = "queryapi/rest"
	known, ok := conn.CustomData()[key].(*prepared)
	if !ok {
		known = &prepared{names: map[string]string{}}
		conn.CustomData()[key] = known
	}
	return known
}

// send adds a statement to a pipeline, and returns the number of results that this will have.
func (p *prepared) send(pipeline *pgconn.Pipeline, s *sqlText) (results int) {
	if name := p.names[s.String()]; name != "" {
		pipeline.SendQueryPrepared(name, s.values, s.formats(), nil)
		return 1
	}
	if len(p.order) >= maxPrepared {
		pipeline.SendDeallocate(p.names[p.order[0]])
		results++
	}
	p.made++
	pipeline.SendPrepare(p.name(), s.String(), s.types)
	pipeline.SendQueryPrepared(p.name(), s.values, s.formats(), nil)
	return results + 2
}

// name is that of the statement that was made last.
func (p *prepared) name() string { return "rest_" + strconv.Itoa(p.made) }

// done notes what the server has done with a statement, whatever becomes of the transaction.
func (p *prepared) done(result any, sql string) {
	switch result.(type) {
	case *pgconn.CloseComplete:
		delete(p.names, p.order[0])
		p.order = p.order[1:]
	case *pgconn.StatementDescription:
		p.names[sql] = p.name()
		p.order = append(p.order, sql)
	}
}
