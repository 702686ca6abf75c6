package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// follow gives a replica what its leader has and it lacks.
func follow(ctx context.Context, l layout, leader, follower *clickhouse.Conn, progress func(step string)) error {
	steps, err := behind(ctx, l, leader, follower)
	if err != nil {
		return err
	}
	for _, d := range steps {
		if d.statement == "" {
			continue // a function or a view: define knows their order
		}
		progress("replica " + d.name)
		if err := follower.Exec(ctx, d.statement); err != nil {
			return fmt.Errorf("make %s: %w", d.name, err)
		}
	}
	return define(ctx, follower, l, func(step string) { progress("replica " + step) })
}

// An object is a table or a materialized view of a database.
type object struct {
	Name    string `ch:"name"`
	Engine  string `ch:"engine"`
	Full    string `ch:"engine_full"`
	Comment string `ch:"comment"`
	Create  string `ch:"create_table_query"`
}

// behind lists what a replica lacks of its leader, in an order in which it can be made. A function or a named view has
// no statement.
func behind(ctx context.Context, l layout, leader, follower *clickhouse.Conn) ([]definition, error) {
	want, err := objects(ctx, leader)
	if err != nil || len(want) == 0 { // the leader itself has yet to begin
		return nil, err
	}
	have, err := objects(ctx, follower)
	if err != nil {
		return nil, err
	}
	steps := lackingObjects(want, have)
	version, dirty, err := appliedVersion(ctx, leader)
	if err != nil {
		return nil, err
	}
	known, _, err := appliedVersion(ctx, follower)
	if err != nil {
		return nil, err
	}
	if known != version && !dirty {
		steps = append(steps, definition{"schema_migrations", fmt.Sprintf(
			"INSERT INTO schema_migrations (version, dirty, sequence) SELECT %d, 0, max(sequence) + 1 FROM schema_migrations", version)})
	}
	outdated, err := outdatedDefinitions(ctx, follower, l)
	for _, d := range outdated {
		steps = append(steps, definition{name: d.name})
	}
	return steps, err
}

func objects(ctx context.Context, conn *clickhouse.Conn) (all []object, err error) {
	// What views read and fill comes before them.
	err = conn.Select(ctx, &all, `
		SELECT name, engine, engine_full, comment, create_table_query
		FROM system.tables
		WHERE database = currentDatabase() AND engine != 'View'
		ORDER BY multiIf(endsWith(engine, 'MergeTree'), 0, engine = 'Distributed', 1, 2), name`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return all, nil
}

// lackingObjects are steps. A table with rows is only changed, others are made again where they differ.
func lackingObjects(want, have []object) []definition {
	var steps []definition
	left := map[string]bool{} // of have, after the steps
	for _, o := range have {
		left[o.Name] = true
		i := slices.IndexFunc(want, func(w object) bool { return w.Name == o.Name })
		rows := strings.HasSuffix(o.Engine, "MergeTree")
		switch {
		case rows && i >= 0:
			steps = append(steps, ownChanges(want[i], o)...)
		case rows && !dropped(o.Name): // a table that is not of this schema
		case i < 0 || want[i].Create != o.Create:
			steps = append(steps, definition{"drop " + o.Name, "DROP TABLE " + clickhouse.QuoteName(o.Name) + " SYNC"})
			left[o.Name] = false
		}
	}
	for _, w := range want {
		if !left[w.Name] {
			steps = append(steps, definition{w.Name, w.Create})
		}
	}
	return steps
}

// ownChanges are those that a replicated table does not copy to its replicas: settings and its comment.
func ownChanges(want, have object) []definition {
	var steps []definition
	alter := "ALTER TABLE " + clickhouse.QuoteName(want.Name)
	settings := func(o object) []string {
		_, list, _ := strings.Cut(o.Full, " SETTINGS ")
		return strings.Split(list, ", ")
	}
	others := slices.DeleteFunc(settings(want), func(s string) bool { return slices.Contains(settings(have), s) })
	if len(others) > 0 {
		steps = append(steps, definition{"settings of " + want.Name, alter + " MODIFY SETTING " + strings.Join(others, ", ")})
	}
	if want.Comment != have.Comment {
		steps = append(steps, definition{"comment of " + want.Name, alter + " MODIFY COMMENT " + clickhouse.QuoteText(want.Comment)})
	}
	return steps
}

// dropped reports whether some migration drops the table of which a shard has this part.
func dropped(local string) bool {
	for _, s := range allStatements() {
		if m := dropTable.FindStringSubmatch(s); m != nil && m[1]+clickhouse.LocalSuffix == local {
			return true
		}
	}
	return false
}
