package rest

import (
	"strings"
	"sync"
)

// A schemaCache has the contents of the exposed schemas at one moment. It does not change, but for the types of casts.
type schemaCache struct {
	relations     map[qualified]*relation
	relationships map[qualified][]*relationship // by the relation at which they begin
	functions     map[qualified][]*function     // overloads, those with the fewest parameters first
	timezones     map[string]bool

	mu    sync.Mutex
	casts map[qualified]string // SQL of types, by a schema and the name in a request
}

// castType returns the type that a name means in a schema; "" if it is not known yet.
func (s *schemaCache) castType(name qualified) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.casts[name]
}

func (s *schemaCache) addCastType(name qualified, typ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.casts) < maxCasts {
		s.casts[name] = typ
	}
}

// qualified is a name in a schema.
type qualified struct{ schema, name string }

func (q qualified) sql() string { return quote(q.schema) + "." + quote(q.name) }

// quote makes an identifier of a name. Names in PostgreSQL have no NUL.
func quote(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// A relation is a table or view.
type relation struct {
	qualified
	oid                              int64
	view                             bool
	insertable, updatable, deletable bool
	columns                          []*column          // in the order of SELECT *
	byName                           map[string]*column // with computed ones
	byNumber                         map[int16]*column
	key                              []*column // of the primary key; in a view, columns that show it
}

// A column is a column of a relation, or a function of its row.
type column struct {
	name         string
	typ          string // SQL
	searchable   bool   // a tsvector, or a domain over it
	defaultValue string // SQL of an expression; "": none
}

// A function is one that requests may call.
type function struct {
	qualified
	params     []parameter
	set        bool // it returns rows, not one
	composite  bool // its result has columns
	void       bool
	volatility string
	result     qualified // the type
	columns    []*column // of the result, where they are not those of a relation
}

type parameter struct {
	name     string // "": the only one, which takes the body
	typ      string // SQL
	required bool
	variadic bool
}
