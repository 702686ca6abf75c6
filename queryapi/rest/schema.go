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

// A cache is what the exposed schemas have, read at one moment. It does not change, but for the types of casts.
type cache struct {
	relations     map[qualified]*relation
	relationships map[qualified][]*relationship // by the relation that they begin at
	functions     map[qualified][]*function     // those of one name, those with the fewest parameters first
	timezones     map[string]bool

	mu    sync.Mutex
	casts map[qualified]string // SQL of types, by a schema and the name that a request has for them
}

// qualified is a name in a schema.
type qualified struct{ schema, name string }

func (q qualified) sql() string { return quote(q.schema) + "." + quote(q.name) }

// quote makes an identifier of a name. PostgreSQL's names have no NUL.
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
	columns                          []*column          // as SELECT * has them
	byName                           map[string]*column // the same, and computed ones
	byNumber                         map[int16]*column
	key                              []*column // of the primary key; of a view, columns that come from one
}

// A column is one of a relation, or a function of its row.
type column struct {
	name         string
	typ          string // SQL
	searchable   bool   // a tsvector, or a domain of it
	defaultValue string // SQL of an expression; "" is none
}

// A function can be called.
type function struct {
	qualified
	params     []parameter
	set        bool // it returns rows, not one
	composite  bool // what it returns has columns
	void       bool
	volatility string
	result     qualified // the type
	columns    []*column // of the result, where they are not those of a relation
}

type parameter struct {
	name     string // "" is a single one without a name
	typ      string // SQL
	required bool
	variadic bool
}

//go:embed query/*.sql
var queries embed.FS

// statement is the text of a file of query/.
func statement(name string) string {
	text, err := queries.ReadFile("query/" + name + ".sql")
	if err != nil {
		panic(err) // a file is missing in the source
	}
	return string(text)
}

// loadCache reads everything in one snapshot.
func loadCache(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*cache, error) {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer func() {
		ending, ended := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer ended()
		_ = tx.Rollback(ending) // nothing was written
	}()
	// Without a search path every name comes with its schema.
	if _, err := tx.Exec(ctx, "SELECT set_config('search_path', '', true)"); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	l := loader{tx: tx, cfg: cfg, byOID: map[int64]*relation{}, cache: &cache{
		relations: map[qualified]*relation{}, relationships: map[qualified][]*relationship{},
		functions: map[qualified][]*function{}, timezones: map[string]bool{}, casts: map[qualified]string{},
	}}
	for _, step := range []struct {
		what string
		load func(context.Context) error
	}{
		{"relations", l.loadRelations}, {"columns", l.loadColumns}, {"relationships", l.loadRelationships},
		{"functions", l.loadFunctions}, {"computed columns", l.loadComputed}, {"timezones", l.loadTimezones},
	} {
		if err := step.load(ctx); err != nil {
			return nil, fmt.Errorf("read %s of the schema: %w", step.what, err)
		}
	}
	l.hideInternal()
	return l.cache, nil
}

// A loader reads a cache. It knows relations that are not exposed too, because views lead to them.
type loader struct {
	tx  pgx.Tx
	cfg Config
	*cache
	byOID map[int64]*relation
}

func (l *loader) loadRelations(ctx context.Context) error {
	var r relation
	rows, err := l.tx.Query(ctx, statement("relations"))
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&r.oid, &r.schema, &r.name, &r.view, &r.insertable, &r.updatable, &r.deletable}, func() error {
		found := r
		found.byName, found.byNumber = map[string]*column{}, map[int16]*column{}
		l.byOID[r.oid], l.relations[r.qualified] = &found, &found
		return nil
	})
	return err
}

func (l *loader) loadColumns(ctx context.Context) error {
	var c column
	var relation int64
	var number int16
	rows, err := l.tx.Query(ctx, statement("columns"))
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&relation, &number, &c.name, &c.typ, &c.searchable, &c.defaultValue}, func() error {
		if of := l.byOID[relation]; of != nil {
			found := c
			of.columns = append(of.columns, &found)
			of.byName[c.name], of.byNumber[number] = &found, &found
		}
		return nil
	})
	return err
}

func (l *loader) loadFunctions(ctx context.Context) error {
	rows, err := l.tx.Query(ctx, statement("functions"), l.cfg.Schemas)
	if err != nil {
		return err
	}
	var f function
	var names, types, resultNames, resultTypes []string
	var variadics []bool
	var defaults int
	_, err = pgx.ForEachRow(rows, []any{&f.schema, &f.name, &names, &types, &variadics, &defaults, &f.set, &f.composite, &f.void,
		&f.volatility, &f.result.schema, &f.result.name, &resultNames, &resultTypes}, func() error {
		found := f
		found.params, found.columns = nil, nil
		for i, name := range names {
			found.params = append(found.params, parameter{name, types[i], i < len(names)-defaults, variadics[i]})
		}
		for i, name := range resultNames {
			found.columns = append(found.columns, &column{name: name, typ: resultTypes[i]})
		}
		if found.callable() {
			l.functions[f.qualified] = append(l.functions[f.qualified], &found)
		}
		return nil
	})
	for _, overloads := range l.functions {
		slices.SortStableFunc(overloads, func(a, b *function) int { return len(a.params) - len(b.params) })
	}
	return err
}

// callable is whether a request can name all parameters. A single one without a name takes the whole body.
func (f *function) callable() bool {
	for _, p := range f.params {
		if p.name == "" {
			return len(f.params) == 1 && slices.Contains([]string{"bytea", "json", "jsonb", "text", "xml"}, p.typ)
		}
	}
	return true
}

func (l *loader) loadTimezones(ctx context.Context) error {
	rows, err := l.tx.Query(ctx, statement("timezones"))
	if err != nil {
		return err
	}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error {
		l.timezones[name] = true
		return nil
	})
	return err
}

// hideInternal drops what is not exposed.
func (l *loader) hideInternal() {
	hidden := func(q qualified) bool { return !slices.Contains(l.cfg.Schemas, q.schema) }
	for name := range l.relations {
		if hidden(name) {
			delete(l.relations, name)
		}
	}
	for from, list := range l.relationships {
		if hidden(from) {
			delete(l.relationships, from)
			continue
		}
		list = slices.DeleteFunc(list, func(r *relationship) bool { return hidden(r.to.qualified) })
		if len(list) == 0 {
			delete(l.relationships, from)
			continue
		}
		l.relationships[from] = slices.DeleteFunc(list, func(r *relationship) bool {
			return r.junction != nil && hidden(r.junction.table.qualified)
		})
	}
}
