package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// follow brings a replica to the state of its leader.
func follow(ctx context.Context, l layout, leader, follower *clickhouse.Conn, progress func(step string)) error {
	steps, err := followSteps(ctx, l, leader, follower)
	if err != nil {
		return err
	}
	for _, d := range steps {
		if d.statement == "" {
			continue // define has the order of functions and views
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

// followSteps lists the differences of a replica from its leader, in an order in which they can be applied. A function
// or a named view has no statement.
func followSteps(ctx context.Context, l layout, leader, follower *clickhouse.Conn) ([]definition, error) {
	want, err := objects(ctx, leader)
	if err != nil || len(want) == 0 { // the leader itself is empty
		return nil, err
	}
	have, err := objects(ctx, follower)
	if err != nil {
		return nil, err
	}
	steps := objectSteps(want, have)
	version, dirty, err := appliedVersion(ctx, leader)
	if err != nil {
		return nil, err
	}
	current, _, err := appliedVersion(ctx, follower)
	if err != nil {
		return nil, err
	}
	if current != version && !dirty {
		steps = append(steps, definition{"schema_migrations", fmt.Sprintf("INSERT INTO schema_migrations "+
			"(version, dirty, sequence) SELECT %d, 0, max(sequence) + 1 FROM schema_migrations", version)})
	}
	outdated, err := outdatedDefinitions(ctx, follower, l)
	for _, d := range outdated {
		steps = append(steps, definition{name: d.name})
	}
	return steps, err
}

// objects lists tables and materialized views, without the comment that numbers a server: a replica gets its own, last.
func objects(ctx context.Context, conn *clickhouse.Conn) (all []object, err error) {
	// Views come after the tables that they read and fill.
	err = conn.Select(ctx, &all, `
		SELECT name, engine, engine_full,
			if(name = 'schema_migrations', '', t.comment) AS comment,
			if(name = 'schema_migrations', replaceRegexpOne(t.create_table_query, ' COMMENT \'[^\']*\'$', ''),
				t.create_table_query) AS create_table_query
		FROM system.tables AS t
		WHERE database = currentDatabase() AND engine != 'View'
		ORDER BY multiIf(endsWith(engine, 'MergeTree'), 0, engine = 'Distributed', 1, 2), name`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return all, nil
}

// objectSteps changes a table with rows in place, and recreates others that differ.
func objectSteps(want, have []object) []definition {
	var steps []definition
	exists := map[string]bool{} // after the steps
	for _, o := range have {
		exists[o.Name] = true
		i := slices.IndexFunc(want, func(w object) bool { return w.Name == o.Name })
		hasRows := strings.HasSuffix(o.Engine, "MergeTree")
		switch {
		case hasRows && i >= 0:
			steps = append(steps, unreplicatedSteps(want[i], o)...)
		case hasRows && !dropped(o.Name): // a table that is not of this schema
		case i < 0 || want[i].Create != o.Create:
			steps = append(steps, definition{"drop " + o.Name, "DROP TABLE " + clickhouse.QuoteName(o.Name) + " SYNC"})
			exists[o.Name] = false
		}
	}
	for _, w := range want {
		if !exists[w.Name] {
			steps = append(steps, definition{w.Name, w.Create})
		}
	}
	return steps
}

// unreplicatedSteps changes what a replicated table does not copy to its replicas: settings and its comment.
func unreplicatedSteps(want, have object) []definition {
	var steps []definition
	alter := "ALTER TABLE " + clickhouse.QuoteName(want.Name)
	settings := func(o object) []string {
		_, list, _ := strings.Cut(o.Full, " SETTINGS ")
		return strings.Split(list, ", ")
	}
	changed := slices.DeleteFunc(settings(want), func(s string) bool { return slices.Contains(settings(have), s) })
	if len(changed) > 0 {
		list := strings.Join(changed, ", ")
		steps = append(steps, definition{"settings of " + want.Name, alter + " MODIFY SETTING " + list})
	}
	if want.Comment != have.Comment {
		comment := clickhouse.QuoteText(want.Comment)
		steps = append(steps, definition{"comment of " + want.Name, alter + " MODIFY COMMENT " + comment})
	}
	return steps
}

// dropped reports whether a migration drops the table of this shard's part.
func dropped(local string) bool {
	return slices.ContainsFunc(allStatements(), func(s string) bool {
		m := dropTable.FindStringSubmatch(s)
		return m != nil && m[1]+clickhouse.LocalSuffix == local
	})
}
