package schema

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/golang-migrate/migrate/v4/source"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A layout is how the tables of the migrations are on the servers: on one server as they are written; on a cluster each
// table of facts is a table <name>_local on each shard, with the views that fill and read those, and a Distributed
// table of the plain name, which questions read. Tables of dimensions are whole on every shard, where questions join
// them.
type layout struct {
	cluster    string // what the servers call the cluster; empty: one server
	replicated bool   // a shard is several servers, which copy from each other
}

// layoutOf is the layout of these servers.
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

// global makes a server answer a subquery of Distributed tables first, and send its rows to every shard.
const global = "distributed_product_mode = 'global'"

var (
	createTable  = regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS (\w+)`)
	createView   = regexp.MustCompile(`^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO )(\w+)`)
	alterTable   = regexp.MustCompile(`^ALTER TABLE (\w+)`)
	dropTable    = regexp.MustCompile(`^DROP TABLE IF EXISTS (\w+)$`)
	dropView     = regexp.MustCompile(`^DROP VIEW IF EXISTS \w+$`)
	readsTable   = regexp.MustCompile(`\bFROM (\w+)\b`)
	engineClause = regexp.MustCompile(`(?m)^ENGINE = (\w*MergeTree)(?:\(([^\n]*)\))?$`)
	windowClause = regexp.MustCompile(`\bnon_replicated_deduplication_window = (\d+)`)
	tableComment = regexp.MustCompile(`\nCOMMENT '(?:[^']|'')*'$`)
	commentLines = regexp.MustCompile(`(?m)^\s*--[^\n]*\n`)
	physical     = regexp.MustCompile(`\b(MODIFY (SETTING|TTL|ORDER BY)|RESET SETTING|REMOVE TTL|(ADD|DROP|CLEAR|MATERIALIZE) (INDEX|PROJECTION)|MATERIALIZE COLUMN|MODIFY COLUMN [^,]* CODEC)\b`)
	logical      = regexp.MustCompile(`\b(ADD COLUMN|DROP COLUMN|RENAME COLUMN|COMMENT COLUMN|MODIFY COMMENT)\b`)
)

// local is the name of what one shard has of a table.
func (l layout) local(table string) string {
	if l.cluster == "" || clickhouse.IsDimension(table) {
		return table
	}
	return table + clickhouse.LocalSuffix
}

// derive makes the text of a migration for one server of the cluster. It refuses a statement that it does not know.
func (l layout) derive(text string) (string, error) {
	facts := factTables()
	var derived []string
	for _, s := range statements(text) {
		made, err := l.statement(s, facts)
		if err != nil {
			return "", err
		}
		derived = append(derived, made...)
	}
	return strings.Join(derived, ";\n\n") + ";\n", nil
}

func (l layout) statement(s string, facts map[string]bool) ([]string, error) {
	switch {
	case createTable.MatchString(s):
		return l.table(s)
	case createView.MatchString(s):
		m := createView.FindStringSubmatch(s)
		return []string{m[1] + l.local(m[2]) + l.reading(s[len(m[0]):], facts)}, nil
	case alterTable.MatchString(s):
		return l.alter(s)
	case dropTable.MatchString(s):
		return l.drop(dropTable.FindStringSubmatch(s)[1]), nil
	case dropView.MatchString(s):
		return []string{s}, nil
	}
	return nil, fmt.Errorf("lay out %.60q: no statement that is known here", s)
}

// table is a shard's own table and, of facts, the one over all shards.
func (l layout) table(s string) ([]string, error) {
	name := createTable.FindStringSubmatch(s)[1]
	engine := engineClause.FindStringSubmatch(s)
	if engine == nil {
		return nil, fmt.Errorf("lay out table %s: want a line ENGINE = …MergeTree", name)
	}
	if l.replicated {
		// By macros of the server: another order of the addresses moves no table.
		path := fmt.Sprintf("'/clickhouse/answerscope/{database}/{shard}/%s', '{replica}'", name)
		if engine[2] != "" {
			path += ", " + engine[2]
		}
		s = strings.Replace(s, engine[0], "ENGINE = Replicated"+engine[1]+"("+path+")", 1)
		s = windowClause.ReplaceAllString(s, "replicated_deduplication_window = $1, replicated_deduplication_window_seconds = 604800")
	}
	if clickhouse.IsDimension(name) {
		return []string{s}, nil
	}
	local := l.local(name)
	s = strings.Replace(s, "CREATE TABLE IF NOT EXISTS "+name, "CREATE TABLE IF NOT EXISTS "+local, 1)
	over := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s\nENGINE = Distributed('%s', currentDatabase(), '%s')%s",
		name, local, l.cluster, local, tableComment.FindString(s))
	return []string{s, over}, nil
}

// alter changes a shard's own table and, where columns change, the one over all shards.
func (l layout) alter(s string) ([]string, error) {
	name := alterTable.FindStringSubmatch(s)[1]
	if clickhouse.IsDimension(name) {
		return []string{s}, nil
	}
	changes := quotedOrCommentText.ReplaceAllString(s, "")
	own := "ALTER TABLE " + l.local(name) + strings.TrimPrefix(s, "ALTER TABLE "+name)
	switch inside, outside := physical.MatchString(changes), logical.MatchString(changes); {
	case inside && !outside:
		return []string{own}, nil
	case outside && !inside:
		return []string{own, s}, nil
	}
	return nil, fmt.Errorf("lay out %.60q: want changes of columns or changes of storage, known ones, in a statement of their own", s)
}

var quotedOrCommentText = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'`)

// drop waits until the name is free: a replicated table stays in Keeper for a while otherwise.
func (l layout) drop(name string) []string {
	if clickhouse.IsDimension(name) {
		return []string{"DROP TABLE IF EXISTS " + name + " SYNC"}
	}
	return []string{"DROP TABLE IF EXISTS " + name, "DROP TABLE IF EXISTS " + l.local(name) + " SYNC"}
}

// reading makes a view read the tables of its own shard.
func (l layout) reading(text string, facts map[string]bool) string {
	return readsTable.ReplaceAllStringFunc(text, func(from string) string {
		name := strings.TrimPrefix(from, "FROM ")
		if !facts[name] {
			return from
		}
		return "FROM " + l.local(name)
	})
}

// question is the text of a named view on these servers: that of its file, with the setting global, which its callers
// then need not send.
func (l layout) question(text string) string {
	if l.cluster == "" {
		return text
	}
	text = strings.TrimSpace(text)
	if settings.MatchString(text) {
		return text + ", " + global + "\n"
	}
	return text + "\nSETTINGS " + global + "\n"
}

// settings is the clause that ends a question, if it has one.
var settings = regexp.MustCompile(`\nSETTINGS [^\n]*$`)

// statements are those of a migration's text, without comments.
func statements(text string) (all []string) {
	for statement := range strings.SplitSeq(commentLines.ReplaceAllString(text+"\n", ""), ";") {
		if s := strings.TrimSpace(statement); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// allStatements are those of every migration.
func allStatements() (all []string) {
	for _, name := range numbered() {
		all = append(all, statements(mustRead("migrate/"+name))...)
	}
	return all
}

// factTables are the tables of all migrations but dimensions, also dropped ones.
func factTables() map[string]bool {
	facts := map[string]bool{}
	for _, s := range allStatements() {
		if m := createTable.FindStringSubmatch(s); m != nil && !clickhouse.IsDimension(m[1]) {
			facts[m[1]] = true
		}
	}
	return facts
}

// laidOut is a source of migrations that derives each.
type laidOut struct {
	source.Driver
	layout
}

// ReadUp is the derived text of a migration.
func (s laidOut) ReadUp(version uint) (io.ReadCloser, string, error) {
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
