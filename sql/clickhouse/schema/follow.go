package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// follow gives a replica what its leader has and it lacks.
func follow(ctx context.Context, c clickhouse.Config, l layout, leader, follower string, progress func(step string)) error {
	steps, err := behind(ctx, c, l, leader, follower)
	if err != nil {
		return err
	}
	to, err := clickhouse.Open(ctx, c.At(follower))
	if err != nil {
		return err
	}
	defer to.Close()
	for _, d := range steps {
		if d.statement == "" {
			continue // a function or a view: define knows their order
		}
		progress("replica " + d.name)
		if err := to.Exec(ctx, d.statement); err != nil {
			return fmt.Errorf("make %s: %w", d.name, err)
		}
	}
	return define(ctx, to, l, func(step string) { progress("replica " + step) })
}

// An object is a table or a materialized view of a database.
type object struct {
	Name    string `ch:"name"`
	Engine  string `ch:"engine"`
	Full    string `ch:"engine_full"`
	Comment string `ch:"comment"`
	Create  string `ch:"create_table_query"`
}

// keeps tells a table that holds rows; others can be made anew.
func (o object) keeps() bool { return strings.HasSuffix(o.Engine, "MergeTree") }

// behind lists what a replica lacks of its leader, in an order in which it can be
// made. What is a function or a named view has no statement.
func behind(ctx context.Context, c clickhouse.Config, l layout, leader, follower string) ([]definition, error) {
	from, err := clickhouse.Open(ctx, c.At(leader))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := clickhouse.Open(ctx, c.At(follower))
	if err != nil {
		return nil, err
	}
	defer to.Close()
	want, err := objects(ctx, from)
	if err != nil {
		return nil, err
	}
	have, err := objects(ctx, to)
	if err != nil {
		return nil, err
	}
	if len(want) == 0 {
		return nil, nil // the leader itself has yet to begin
	}
	steps := lackingObjects(want, have)
	version, dirty, err := appliedVersion(ctx, from)
	if err != nil {
		return nil, err
	}
	known, _, err := appliedVersion(ctx, to)
	if err != nil {
		return nil, err
	}
	if known != version && !dirty {
		steps = append(steps, definition{"schema_migrations", fmt.Sprintf(
			"INSERT INTO schema_migrations (version, dirty, sequence) SELECT %d, 0, max(sequence) + 1 FROM schema_migrations", version)})
	}
	outdated, err := outdatedDefinitions(ctx, to, l)
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

func lackingObjects(want, have []object) []definition {
	var steps []definition
	gone := map[string]bool{}
	for _, o := range have {
		i := slices.IndexFunc(want, func(w object) bool { return w.Name == o.Name })
		switch {
		case o.keeps() && i >= 0:
			steps = append(steps, ownChanges(want[i], o)...)
		case o.keeps() && !dropped(o.Name): // whoever's it is
		case i < 0 || want[i].Create != o.Create:
			steps = append(steps, definition{"drop " + o.Name, "DROP TABLE " + clickhouse.QuoteName(o.Name) + " SYNC"})
			gone[o.Name] = true
		}
	}
	for _, w := range want {
		if gone[w.Name] || !slices.ContainsFunc(have, func(o object) bool { return o.Name == w.Name }) {
			steps = append(steps, definition{w.Name, w.Create})
		}
	}
	return steps
}

// ownChanges are those that a replicated table does not tell its replicas: settings
// and its comment.
func ownChanges(want, have object) []definition {
	var steps []definition
	settings := func(o object) []string {
		_, list, _ := strings.Cut(o.Full, " SETTINGS ")
		return strings.Split(list, ", ")
	}
	others := slices.DeleteFunc(settings(want), func(s string) bool { return slices.Contains(settings(have), s) })
	if len(others) > 0 {
		steps = append(steps, definition{"settings of " + want.Name, "ALTER TABLE " + clickhouse.QuoteName(want.Name) + " MODIFY SETTING " + strings.Join(others, ", ")})
	}
	if want.Comment != have.Comment {
		steps = append(steps, definition{"comment of " + want.Name, "ALTER TABLE " + clickhouse.QuoteName(want.Name) + " MODIFY COMMENT " + clickhouse.QuoteText(want.Comment)})
	}
	return steps
}

// dropped tells a shard's own table that some migration drops.
func dropped(local string) bool {
	for _, name := range numbered() {
		for statement := range strings.SplitSeq(commentLines.ReplaceAllString(mustRead("migrate/"+name), ""), ";") {
			m := dropTable.FindStringSubmatch(strings.TrimSpace(statement))
			if m != nil && m[1]+clickhouse.LocalSuffix == local {
				return true
			}
		}
	}
	return false
}
