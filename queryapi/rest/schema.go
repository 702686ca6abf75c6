package rest

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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
