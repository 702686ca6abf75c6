package schema

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/golang-migrate/migrate/v4/source"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A layout adapts the migrations to the servers. One server has the tables as written. On a cluster each table of facts
// is a table <name>_local on each shard, with the views that fill and read it, and a Distributed table of the plain
// name for queries. Every shard has all rows of dimensions, for joins.
type layout struct {
	cluster    string // its name on the servers; empty: one server
	replicated bool   // a shard has several servers, which copy from each other
}

// layoutOf returns the layout for the configured servers.
func layoutOf(c clickhouse.Config) layout {
	if c.Shards == "" {
		return layout{}
	}
	l := layout{cluster: c.Cluster}
	for _, replicas := range c.ShardServers() {
		l.replicated = l.replicated || len(replicas) > 1
	}
	return l
}

// global makes a server run a subquery of Distributed tables first, and send its rows to every shard.
const global = "distributed_product_mode = 'global'"

var (
	createTable = regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS (\w+)`)
	fillTable   = regexp.MustCompile(
		`^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO|TRUNCATE TABLE IF EXISTS|INSERT INTO) (\w+)`)
	alterTable   = regexp.MustCompile(`^ALTER TABLE (\w+)`)
	dropTable    = regexp.MustCompile(`^DROP TABLE IF EXISTS (\w+)$`)
	dropView     = regexp.MustCompile(`^DROP VIEW IF EXISTS \w+$`)
	readsTable   = regexp.MustCompile(`\bFROM (\w+)\b`)
	engineClause = regexp.MustCompile(`(?m)^ENGINE = (\w*MergeTree)(?:\(([^\n]*)\))?$`)
	windowClause = regexp.MustCompile(`\bnon_replicated_deduplication_window = (\d+)`)
	tableComment = regexp.MustCompile(`\nCOMMENT '(?:[^']|'')*'$`)
	commentLines = regexp.MustCompile(`(?m)^\s*--[^\n]*\n`)
	quotedText   = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'`)
	physical     = regexp.MustCompile(`\b(MODIFY (SETTING|TTL|ORDER BY)|RESET SETTING|REMOVE TTL|` +
		`(ADD|DROP|CLEAR|MATERIALIZE) (INDEX|PROJECTION)|MATERIALIZE COLUMN|MODIFY COLUMN [^,]* CODEC)\b`)
	logical        = regexp.MustCompile(`\b(ADD COLUMN|DROP COLUMN|RENAME COLUMN|COMMENT COLUMN|MODIFY COMMENT)\b`)
	settingsClause = regexp.MustCompile(`\nSETTINGS [^\n]*$`) // at the end of a query
)

// local returns the name of a shard's part of a table.
func (l layout) local(table string) string {
	if l.cluster == "" || clickhouse.IsDimension(table) {
		return table
	}
	return table + clickhouse.LocalSuffix
}

// derive converts a migration for a server of the cluster. It refuses unknown statements.
func (l layout) derive(text string) (string, error) {
	facts := factTables()
	var derived []string
	for _, s := range statements(text) {
		converted, err := l.statement(s, facts)
		if err != nil {
			return "", err
		}
		derived = append(derived, converted...)
	}
	return strings.Join(derived, ";\n\n") + ";\n", nil
}

func (l layout) statement(s string, facts map[string]bool) ([]string, error) {
	switch {
	case createTable.MatchString(s):
		return l.table(s)
	case fillTable.MatchString(s):
		m := fillTable.FindStringSubmatch(s)
		return []string{m[1] + " " + l.local(m[2]) + l.readLocal(s[len(m[0]):], facts)}, nil
	case alterTable.MatchString(s):
		return l.alter(s)
	case dropTable.MatchString(s):
		return l.drop(dropTable.FindStringSubmatch(s)[1]), nil
	case dropView.MatchString(s), s == "SELECT 1":
		return []string{s}, nil
	}
	return nil, fmt.Errorf("lay out %.60q: no statement that is known here", s)
}

// table returns a shard's table and, for facts, the Distributed table over all shards.
func (l layout) table(s string) ([]string, error) {
	name := createTable.FindStringSubmatch(s)[1]
	engine := engineClause.FindStringSubmatch(s)
	if engine == nil {
		return nil, fmt.Errorf("lay out table %s: want a line ENGINE = …MergeTree", name)
	}
	if l.replicated {
		// The path has macros of the server, so that another order of the addresses moves no table.
		path := fmt.Sprintf("'/clickhouse/answerscope/{database}/{shard}/%s', '{replica}'", name)
		if engine[2] != "" {
			path += ", " + engine[2]
		}
		s = strings.Replace(s, engine[0], "ENGINE = Replicated"+engine[1]+"("+path+")", 1)
		s = windowClause.ReplaceAllString(s,
			"replicated_deduplication_window = $1, replicated_deduplication_window_seconds = 604800")
		// A killed server may have more rows of unfinished inserts than of finished ones in a small table. By default
		// the table would then stay read-only until an operator looks at it. What Keeper does not list is set aside.
		s = strings.Replace(s, "\nSETTINGS ", "\nSETTINGS replicated_max_ratio_of_wrong_parts = 1, ", 1)
	}
	if clickhouse.IsDimension(name) {
		return []string{s}, nil
	}
	local := l.local(name)
	s = strings.Replace(s, "CREATE TABLE IF NOT EXISTS "+name, "CREATE TABLE IF NOT EXISTS "+local, 1)
	distributed := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s\nENGINE = "+
		"Distributed('%s', currentDatabase(), '%[2]s')%[4]s", name, local, l.cluster, tableComment.FindString(s))
	return []string{s, distributed}, nil
}

// alter changes a shard's table and, if columns change, the Distributed table.
func (l layout) alter(s string) ([]string, error) {
	name := alterTable.FindStringSubmatch(s)[1]
	if clickhouse.IsDimension(name) {
		return []string{s}, nil
	}
	changes := quotedText.ReplaceAllString(s, "")
	local := "ALTER TABLE " + l.local(name) + strings.TrimPrefix(s, "ALTER TABLE "+name)
	switch storage, columns := physical.MatchString(changes), logical.MatchString(changes); {
	case storage && !columns:
		return []string{local}, nil
	case columns && !storage:
		return []string{local, s}, nil
	}
	return nil, fmt.Errorf(
		"lay out %.60q: want changes of columns or changes of storage, known ones, in a statement of their own", s)
}

// drop waits until the name is free: otherwise a replicated table stays in Keeper for a while.
func (l layout) drop(name string) []string {
	if clickhouse.IsDimension(name) {
		return []string{"DROP TABLE IF EXISTS " + name + " SYNC"}
	}
	return []string{"DROP TABLE IF EXISTS " + name, "DROP TABLE IF EXISTS " + l.local(name) + " SYNC"}
}

// readLocal makes a view or an insert read the tables of its own shard.
func (l layout) readLocal(text string, facts map[string]bool) string {
	return readsTable.ReplaceAllStringFunc(text, func(from string) string {
		name := strings.TrimPrefix(from, "FROM ")
		if !facts[name] {
			return from
		}
		return "FROM " + l.local(name)
	})
}

// viewText returns the text of a named view: on a cluster with the setting global, so that its callers need not send
// it.
func (l layout) viewText(text string) string {
	if l.cluster == "" {
		return text
	}
	text = strings.TrimSpace(text)
	if settingsClause.MatchString(text) {
		return text + ", " + global + "\n"
	}
	return text + "\nSETTINGS " + global + "\n"
}

// statements splits a migration, without comments.
func statements(text string) (all []string) {
	for statement := range strings.SplitSeq(commentLines.ReplaceAllString(text+"\n", ""), ";") {
		if s := strings.TrimSpace(statement); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// allStatements returns the statements of all migrations.
func allStatements() (all []string) {
	for _, name := range migrationNames() {
		all = append(all, statements(mustRead("migrate/"+name))...)
	}
	return all
}

// factTables returns all tables of migrations except dimensions, also dropped ones.
func factTables() map[string]bool {
	facts := map[string]bool{}
	for _, s := range allStatements() {
		if m := createTable.FindStringSubmatch(s); m != nil && !clickhouse.IsDimension(m[1]) {
			facts[m[1]] = true
		}
	}
	return facts
}

// layoutSource is a source of migrations that derives each.
type layoutSource struct {
	source.Driver
	layout
}

// ReadUp returns the derived text of a migration.
func (s layoutSource) ReadUp(version uint) (io.ReadCloser, string, error) {
	file, name, err := s.Driver.ReadUp(version)
	if err != nil || s.cluster == "" {
		return file, name, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, name, err
	}
	derived, err := s.derive(string(text))
	return io.NopCloser(strings.NewReader(derived)), name, err
}
