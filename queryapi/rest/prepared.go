package rest

import (
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

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
