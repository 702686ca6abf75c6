package clickhouse

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Twin makes a database beside the one of conn, or makes it anew, and returns what
// it is called: <database>_<name>. It has every table that a materialized view
// reads or fills, and those views, as the server has them now, and no rows: what is
// inserted there goes the way that it would go here, each time anew, and nobody counts
// it.
//
// Its tables are plain MergeTrees without TTL also where those here are replicated,
// so that it is of one server; their partitions fit into the tables here.
//
// A name is one user's at a time: who makes it anew takes it away from the other,
// whose inserts then fail.
func Twin(ctx context.Context, conn *Conn, name string) (database string, err error) {
	if err := DropTwin(ctx, conn, name); err != nil {
		return "", err
	}
	objects, err := twinned(ctx, conn)
	if err != nil {
		return "", err
	}
	here, err := currentDatabase(ctx, conn)
	if err != nil {
		return "", err
	}
	database = here + "_" + name
	statements := []string{"CREATE DATABASE " + quoted(database) + " ENGINE = Atomic"}
	for _, o := range objects {
		if !o.view {
			statements = append(statements, fmt.Sprintf("CREATE TABLE %s.%s AS %s ENGINE = %s", quoted(database), quoted(o.name), quoted(o.name), twinEngine(o.engine)))
		}
	}
	into := movedTo(here, database, objects)
	for _, o := range objects {
		if o.view {
			statements = append(statements, into(o.create))
		}
	}
	for _, s := range statements {
		if err := conn.Exec(ctx, s); err != nil {
			return "", fmt.Errorf("make twin %s: %w", database, err)
		}
	}
	return database, nil
}

// DropTwin takes a twin away with all that is in it. Of one that is not there nothing
// is asked but whether it is: not every user may drop databases.
func DropTwin(ctx context.Context, conn *Conn, name string) error {
	here, err := currentDatabase(ctx, conn)
	if err != nil {
		return err
	}
	var there uint64
	err = conn.QueryRow(ctx, "SELECT count() FROM system.databases WHERE name = "+quote(here+"_"+name)).Scan(&there)
	if err == nil && there > 0 {
		err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(here+"_"+name)+" SYNC")
	}
	if err != nil {
		return fmt.Errorf("drop twin %s_%s: %w", here, name, err)
	}
	return nil
}

// twinObject is a table or a view of which a twin has one too.
type twinObject struct {
	name   string
	view   bool
	engine string // of a table, with its keys and settings
	create string // of a view
}

// twinned are the tables that views of this database read or fill, and the views.
func twinned(ctx context.Context, conn *Conn) ([]twinObject, error) {
	var all []struct {
		Name    string   `ch:"name"`
		Engine  string   `ch:"engine"`
		Full    string   `ch:"engine_full"`
		Create  string   `ch:"create_table_query"`
		Readers []string `ch:"readers"`
	}
	err := conn.Select(ctx, &all, `
		SELECT name, engine, engine_full, create_table_query,
			arrayFilter((view, database) -> database = currentDatabase(), dependencies_table, dependencies_database) AS readers
		FROM system.tables
		WHERE database = currentDatabase()
		ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("list tables and views: %w", err)
	}
	var views []string
	for _, t := range all {
		if strings.HasSuffix(t.Engine, "MergeTree") {
			views = append(views, t.Readers...)
		}
	}
	var objects []twinObject
	var filled []string
	for _, t := range all {
		if t.Engine == "MaterializedView" && slices.Contains(views, t.Name) {
			objects = append(objects, twinObject{name: t.Name, view: true, create: t.Create})
			if target := viewTarget.FindStringSubmatch(t.Create); target != nil {
				filled = append(filled, strings.Trim(target[1], "`"))
			}
		}
	}
	for _, t := range all {
		if strings.HasSuffix(t.Engine, "MergeTree") && (len(t.Readers) > 0 || slices.Contains(filled, t.Name)) {
			objects = append(objects, twinObject{name: t.Name, engine: t.Full})
		}
	}
	return objects, nil
}

// What the server writes of its tables and views is in one form: keywords in upper
// case, names with their database, quoted only where they must be.
var (
	viewTarget      = regexp.MustCompile("^CREATE MATERIALIZED VIEW \\S+ TO (?:`[^`]+`|\\w+)\\.(`[^`]+`|\\w+)")
	replicatedPaths = regexp.MustCompile(`^Replicated(\w*MergeTree)(?:\('[^']*', '[^']*'(?:, )?)?`)
	timeToLive      = regexp.MustCompile(` TTL .*? SETTINGS `)
	windowSetting   = regexp.MustCompile(`\bnon_replicated_deduplication_window = \d+`)
)

// twinEngine is the engine of a table's twin.
func twinEngine(full string) string {
	full = timeToLive.ReplaceAllString(full, " SETTINGS ")
	if m := replicatedPaths.FindStringSubmatch(full); m != nil {
		plain := m[1]
		if strings.HasSuffix(m[0], "'") || strings.HasSuffix(m[0], ", ") {
			plain += "("
		}
		full = plain + strings.TrimPrefix(full, m[0])
	}
	return windowSetting.ReplaceAllString(full, "non_replicated_deduplication_window = 0")
}

// movedTo puts the names of objects in a view's definition into another database,
// and leaves those of other tables that it reads where they are.
func movedTo(here, database string, objects []twinObject) func(create string) string {
	var names []string
	for _, o := range objects {
		names = append(names, regexp.QuoteMeta(o.name))
	}
	own := regexp.MustCompile("\\b(VIEW|TO|FROM|JOIN) `?" + regexp.QuoteMeta(here) + "`?\\.(`?(?:" + strings.Join(names, "|") + ")\\b`?)")
	return func(create string) string {
		return own.ReplaceAllString(create, "$1 "+strings.ReplaceAll(quoted(database), "$", "$$")+".$2")
	}
}

func currentDatabase(ctx context.Context, conn *Conn) (name string, err error) {
	if err := conn.QueryRow(ctx, "SELECT currentDatabase()").Scan(&name); err != nil {
		return "", fmt.Errorf("ask which database this is: %w", err)
	}
	return name, nil
}

func quoted(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
