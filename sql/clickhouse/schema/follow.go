package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// fillingSuffix ends the name of a replicated table until it has its rows. A query that another server sends, or that
// reads the table of a shard here, asks another replica where a table is missing: it never sees half of the rows.
const fillingSuffix = "_filling"

// syncTimeout is for one wait of a table for its rows. It is shorter than the timeout of reading an answer.
const syncTimeout = time.Minute

// follow brings a replica to the state of its leader. It may be killed and run again at any point.
func follow(ctx context.Context, l layout, leader, follower *clickhouse.Conn, progress func(step string)) error {
	steps, err := followSteps(ctx, l, leader, follower)
	if err != nil {
		return err
	}
	bounded := driver.Context(ctx, driver.WithSettings(driver.Settings{"receive_timeout": syncTimeout.Seconds()}))
	for _, d := range steps {
		progress("replica " + d.name)
		err := follower.Exec(bounded, d.statement)
		for clickhouse.HasCode(err, proto.ErrTimeoutExceeded) { // a large table is filled for longer
			err = follower.Exec(bounded, d.statement)
		}
		if err != nil {
			return fmt.Errorf("make %s: %w", d.name, err)
		}
	}
	return nil
}

// forget has Keeper forget a replica whose disk was lost: its new tables have other parts.
func forget(ctx context.Context, leader, follower *clickhouse.Conn) error {
	tables, err := objects(ctx, follower)
	if err != nil || slices.ContainsFunc(tables, object.replicated) {
		return err
	}
	var name, database string
	const identity = "SELECT anyIf(substitution, macro = 'replica'), currentDatabase() FROM system.macros"
	if err := follower.QueryRow(ctx, identity).Scan(&name, &database); err != nil {
		return fmt.Errorf("read the macros: %w", err)
	}
	err = leader.Exec(ctx, fmt.Sprintf("SYSTEM DROP REPLICA %s FROM DATABASE %s",
		clickhouse.QuoteText(name), clickhouse.QuoteName(database)))
	if clickhouse.HasCode(err, proto.ErrTableWasNotDropped) { // it is active
		return fmt.Errorf("keeper still has a session of an earlier replica %q: run this again in a minute: %w",
			name, err)
	}
	return err
}

// An object is a table or a materialized view of a database.
type object struct {
	Name    string `ch:"name"`
	Engine  string `ch:"engine"`
	Full    string `ch:"engine_full"`
	Comment string `ch:"comment"`
	Create  string `ch:"create_table_query"`
}

func (o object) replicated() bool { return strings.HasPrefix(o.Engine, "Replicated") }

// followSteps lists the differences of a replica from its leader, in an order in which they can be applied. Dimensions,
// tables over all shards and views come first: with them the replica answers queries, by the rows of others.
func followSteps(ctx context.Context, l layout, leader, follower *clickhouse.Conn) ([]definition, error) {
	want, err := objects(ctx, leader)
	if err != nil || len(want) == 0 { // the leader itself is empty
		return nil, err
	}
	have, err := objects(ctx, follower)
	if err != nil {
		return nil, err
	}
	steps, missing := objectSteps(want, have)
	outdated, err := outdatedDefinitions(ctx, follower, l)
	if err != nil {
		return nil, err
	}
	facts := slices.IndexFunc(missing, func(o object) bool {
		return !clickhouse.IsDimension(o.Name) && o.Engine != "Distributed"
	})
	if facts < 0 {
		facts = len(missing)
	}
	steps = slices.Concat(steps, createSteps(missing[:facts], have), outdated, createSteps(missing[facts:], have))
	version, dirty, err := appliedVersion(ctx, leader)
	if err != nil {
		return nil, err
	}
	current, _, err := appliedVersion(ctx, follower)
	if current != version && !dirty {
		steps = append(steps, definition{"schema_migrations", fmt.Sprintf("INSERT INTO schema_migrations "+
			"(version, dirty, sequence) SELECT %d, 0, max(sequence) + 1 FROM schema_migrations", version)})
	}
	return steps, err
}

// createSteps makes replicated tables, waits for their rows, names them, and then makes what reads or fills them.
func createSteps(missing, have []object) []definition {
	var fill, rows, rename, others []definition
	for _, o := range missing {
		if !o.replicated() {
			others = append(others, definition{o.Name, o.Create})
			continue
		}
		filling := o.Name + fillingSuffix
		if !slices.ContainsFunc(have, func(h object) bool { return h.Name == filling }) {
			fill = append(fill, definition{o.Name, strings.Replace(o.Create, "."+o.Name, "."+filling, 1)})
		}
		rows = append(rows, definition{"rows of " + o.Name, "SYSTEM SYNC REPLICA " + clickhouse.QuoteName(filling)})
		rename = append(rename, definition{"name of " + o.Name,
			"RENAME TABLE " + clickhouse.QuoteName(filling) + " TO " + clickhouse.QuoteName(o.Name)})
	}
	return slices.Concat(fill, rows, rename, others)
}

// objects lists tables and materialized views, without the comment that numbers a server: a replica gets its own, last.
func objects(ctx context.Context, conn *clickhouse.Conn) (all []object, err error) {
	// Views come after the tables that they read and fill; followSteps wants facts behind all that has none.
	err = conn.Select(ctx, &all, `
		SELECT name, engine, engine_full,
			if(name = 'schema_migrations', '', t.comment) AS comment,
			if(name = 'schema_migrations', replaceRegexpOne(t.create_table_query, ' COMMENT \'[^\']*\'$', ''),
				replaceAll(t.create_table_query, '{uuid}', toString(uuid))) AS create_table_query
		FROM system.tables AS t
		WHERE database = currentDatabase() AND engine != 'View'
		ORDER BY
			multiIf(startsWith(name, 'dimension_'), 0, engine = 'Distributed', 1, endsWith(engine, 'MergeTree'), 2, 3),
			name`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return all, nil
}

// objectSteps changes a table with rows in place, and drops others that differ. It returns the objects that are then
// missing.
func objectSteps(want, have []object) (steps []definition, missing []object) {
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
	return steps, slices.DeleteFunc(want, func(w object) bool { return exists[w.Name] })
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
