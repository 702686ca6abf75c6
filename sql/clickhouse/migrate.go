package clickhouse

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/golang-migrate/migrate/v4"
	driver "github.com/golang-migrate/migrate/v4/database/clickhouse"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
)

// Migrate brings the schema up: the numbered files of migrate/, then function/
// and query/ as they are in this binary. It may be killed and run again at any
// point. Two runs at once would race: the caller holds the migration lock of
// Postgres, since the driver's own lock is local to the process.
//
// open are the batches of topic answers that were planned and not committed, each
// by its first offset. They will be replayed, and then bring all their rows to a
// table that a migration adds: what has landed of them is not filled in there.
func Migrate(ctx context.Context, c Config, progress func(step string), open ...Below) error {
	if c.Shards != "" {
		return migrateCluster(ctx, c, progress, open)
	}
	return migrateServer(ctx, c, layout{}, progress, open)
}

// migrateServer brings up one server, alone or of a cluster.
func migrateServer(ctx context.Context, c Config, l layout, progress func(step string), open []Below) error {
	conn, err := Open(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := noteOpen(ctx, conn, open); err != nil {
		return err
	}
	if err := runNumbered(c, l, progress); err != nil {
		return err
	}
	if err := conn.Exec(ctx, "DROP TABLE IF EXISTS open_batches"); err != nil {
		return fmt.Errorf("forget open batches: %w", err)
	}
	return define(ctx, conn, l, progress)
}

// define gives a server the functions and views that it should have.
func define(ctx context.Context, conn *Conn, l layout, progress func(step string)) error {
	stale, err := staleDefinitions(ctx, conn, l)
	if err != nil {
		return err
	}
	for _, d := range stale {
		progress(d.name)
		if err := conn.Exec(ctx, d.statement); err != nil {
			return fmt.Errorf("define %s: %w", d.name, err)
		}
	}
	return nil
}

// noteOpen tells migrations which batches are open. The table is there while they
// run; one that a killed run left behind is emptied first.
func noteOpen(ctx context.Context, conn *Conn, open []Below) error {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS open_batches (log_topic String, log_partition Int32, first_offset Int64) ENGINE = Memory",
		"TRUNCATE TABLE open_batches",
	} {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("note open batches: %w", err)
		}
	}
	for _, b := range open {
		err := conn.Exec(ctx, "INSERT INTO open_batches SELECT {topic:String}, {partition:Int32}, {first:Int64}",
			clickhouse.Named("topic", b.Topic), clickhouse.Named("partition", b.Partition), clickhouse.Named("first", b.Offset))
		if err != nil {
			return fmt.Errorf("note open batch %s/%d@%d: %w", b.Topic, b.Partition, b.Offset, err)
		}
	}
	return nil
}

// Pending lists what Migrate would do, in order; nothing when all is up.
func Pending(ctx context.Context, c Config) (pending []string, err error) {
	if c.Shards != "" {
		return pendingOfCluster(ctx, c)
	}
	return pendingOfServer(ctx, c, layout{})
}

func pendingOfServer(ctx context.Context, c Config, l layout) (pending []string, err error) {
	conn, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	err = untilAnswered(ctx, func() error {
		pending, err = lacking(ctx, conn, l)
		return err
	})
	return pending, err
}

func lacking(ctx context.Context, conn *Conn, l layout) ([]string, error) {
	version, dirty, err := appliedVersion(ctx, conn)
	if err != nil {
		return nil, err
	}
	var pending []string
	for _, name := range numbered() {
		if v := versionOf(name); v > version || v == version && dirty {
			pending = append(pending, strings.TrimSuffix(name, ".up.sql"))
		}
	}
	stale, err := staleDefinitions(ctx, conn, l)
	if err != nil {
		return nil, err
	}
	for _, d := range stale {
		pending = append(pending, d.name)
	}
	return pending, nil
}

// Upgrades says of what is Pending whether it changes tables that an earlier
// release has made, and may have filled.
func Upgrades(pending []string) bool {
	servers := map[string][]string{}
	for _, step := range pending {
		server, name, of := strings.Cut(step, stepOf)
		if !of {
			server, name = "", step
		}
		servers[server] = append(servers[server], name)
	}
	for _, steps := range servers {
		names := numbered()
		if !slices.Contains(steps, strings.TrimSuffix(names[0], ".up.sql")) && slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(steps, strings.TrimSuffix(name, ".up.sql"))
		}) {
			return true
		}
	}
	return false
}

func runNumbered(c Config, l layout, progress func(step string)) error {
	options, err := options(c)
	if err != nil {
		return err
	}
	db := clickhouse.OpenDB(options)
	m, err := migrator(db, l)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer m.Close() // closes db too
	if err := mend(m); err != nil {
		return err
	}
	for {
		switch err := m.Steps(1); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, migrate.ErrNoChange):
			return nil
		case err != nil:
			return fmt.Errorf("migrate clickhouse: %w", err)
		}
		version, _, err := m.Version()
		if err != nil {
			return fmt.Errorf("migrate clickhouse: read version: %w", err)
		}
		progress(nameOf(version))
	}
}

func migrator(db *sql.DB, l layout) (*migrate.Migrate, error) {
	source, err := iofs.New(files, "migrate")
	if err != nil {
		return nil, fmt.Errorf("read clickhouse migrations: %w", err)
	}
	// The driver splits a file at every semicolon, in quotes and comments too:
	// a test holds our files to semicolons that end statements.
	target, err := driver.WithInstance(db, &driver.Config{MigrationsTableEngine: "MergeTree", MultiStatementEnabled: true})
	if err != nil {
		return nil, fmt.Errorf("open clickhouse for migration: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", laidOut{source, l}, "clickhouse", target)
	if err != nil {
		return nil, fmt.Errorf("prepare clickhouse migrations: %w", err)
	}
	return m, nil
}

// mend steps back from a migration that did not end. Every statement of ours
// can be run twice, so that the file can be run again from its start.
func mend(m *migrate.Migrate) error {
	version, dirty, err := m.Version()
	if errors.Is(err, migrate.ErrNilVersion) || err == nil && !dirty {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read clickhouse schema version: %w", err)
	}
	before := -1 // golang-migrate's word for none
	for _, name := range numbered() {
		if v := versionOf(name); v < version {
			before = int(v)
		}
	}
	if err := m.Force(before); err != nil {
		return fmt.Errorf("step back from half a migration %d: %w", version, err)
	}
	return nil
}

func numbered() []string {
	names, err := fs.Glob(files, "migrate/*.up.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = path.Base(name)
	}
	slices.Sort(names)
	return names
}

func versionOf(name string) uint {
	m, err := source.Parse(name)
	if err != nil {
		panic(err) // a misnamed embedded file is a build mistake
	}
	return m.Version
}

func nameOf(version uint) string {
	for _, name := range numbered() {
		if versionOf(name) == version {
			return strings.TrimSuffix(name, ".up.sql")
		}
	}
	return fmt.Sprint(version)
}

func appliedVersion(ctx context.Context, conn *Conn) (version uint, dirty bool, err error) {
	var exists uint64
	err = conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'").Scan(&exists)
	if err != nil || exists == 0 {
		return 0, false, err
	}
	var v int64
	var d uint8
	err = conn.QueryRow(ctx, "SELECT version, dirty FROM schema_migrations ORDER BY sequence DESC LIMIT 1").Scan(&v, &d)
	if errors.Is(err, sql.ErrNoRows) || v < 0 {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read clickhouse schema version: %w", err)
	}
	return uint(v), d == 1, nil
}

// A definition is a function or a named view, and what gives the server the one
// that it should have.
type definition struct {
	name      string
	statement string
}

// staleDefinitions are the functions and views that the server lacks or has in
// another text, in an order in which each finds what it uses.
func staleDefinitions(ctx context.Context, conn *Conn, l layout) ([]definition, error) {
	stale, err := forgottenViews(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range definitionNames("function") {
		d := definition{name, "CREATE OR REPLACE FUNCTION " + name + " AS " + mustRead("function/"+name+".sql")}
		var fresh uint64
		// A function belongs to the whole server: leaving a right one alone keeps
		// databases that migrate at the same time out of each other's way.
		err := conn.QueryRow(ctx,
			"SELECT count() FROM system.functions WHERE name = {name:String} AND create_query = formatQuerySingleLine({text:String})",
			clickhouse.Named("name", name), clickhouse.Named("text", strings.Replace(d.statement, "OR REPLACE ", "", 1))).Scan(&fresh)
		if err != nil {
			return nil, fmt.Errorf("read function %s: %w", name, err)
		}
		if fresh == 0 {
			stale = append(stale, d)
		}
	}
	for _, name := range byUse(definitionNames("query")) {
		text := l.question(mustRead("query/" + name + ".sql"))
		comment := comment(text)
		var fresh uint64
		err := conn.QueryRow(ctx,
			"SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {name:String} AND comment = {comment:String}",
			clickhouse.Named("name", name), clickhouse.Named("comment", comment)).Scan(&fresh)
		if err != nil {
			return nil, fmt.Errorf("read view %s: %w", name, err)
		}
		if fresh == 0 {
			create := fmt.Sprintf("CREATE OR REPLACE VIEW %s AS %s COMMENT '%s'", name, strings.TrimSpace(text), comment)
			stale = append(stale, definition{name, create})
		}
	}
	return stale, nil
}

// forgottenViews are those that an earlier release made of a file which is no
// more: left behind, they would go on telling figures by an old definition.
func forgottenViews(ctx context.Context, conn *Conn) ([]definition, error) {
	var names []string
	err := conn.QueryRow(ctx,
		"SELECT arraySort(groupArray(name)) FROM system.tables WHERE database = currentDatabase() AND engine = 'View' AND match(comment, '\\[[0-9a-f]{12}\\]$')").Scan(&names)
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	var forgotten []definition
	for _, name := range names {
		if !slices.Contains(definitionNames("query"), name) {
			forgotten = append(forgotten, definition{name, "DROP VIEW IF EXISTS " + name})
		}
	}
	return forgotten, nil
}

// comment is what the server shows beside a view: what it answers, and by which
// texts, so that a changed one is seen: its own and those of the functions, which
// the server writes into a view when it is made. The views that it calls it finds
// by their names whenever it is asked.
func comment(text string) string {
	sum := sha256.New()
	sum.Write([]byte(text))
	for _, name := range definitionNames("function") {
		sum.Write([]byte(mustRead("function/" + name + ".sql")))
	}
	line, _, _ := strings.Cut(text, "\n")
	_, says, _ := strings.Cut(line, ": ")
	return strings.ReplaceAll(says, "'", "’") + " [" + hex.EncodeToString(sum.Sum(nil)[:6]) + "]"
}

func definitionNames(dir string) []string {
	names, err := fs.Glob(files, dir+"/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".sql")
	}
	slices.Sort(names)
	return names
}

// byUse orders views so that each comes after those that it calls.
func byUse(names []string) []string {
	var ordered []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(ordered, name) {
			return
		}
		text := mustRead("query/" + name + ".sql")
		for _, other := range names {
			if other != name && strings.Contains(text, " "+other+"(") {
				add(other)
			}
		}
		ordered = append(ordered, name)
	}
	for _, name := range names {
		add(name)
	}
	return ordered
}
