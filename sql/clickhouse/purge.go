package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Deleted is a brand that is no more, or a whole organization where Brand is nil.
type DeletedOwner struct {
	Organization UUID
	Brand        UUID
}

// deletedAtOnce bounds the text of one statement.
const deletedAtOnce = 500

// Purge deletes every row of what was deleted: facts, rollups, dimensions and dead letters, of every table that has a
// column organization_id, at every shard. It returns how many rows it found, by table, and rewrites only months that
// have some.
//
// Rows are rewritten away (a mutation), not masked (a lightweight delete): they are then off the disk, and most of
// either is to link and sync parts anew (60 parts, 1.5 M rows: 11.8 s and 9.6 s). Inserts go on meanwhile, and tokens
// stay. Rows that are inserted while it runs may stay: purge again later.
func Purge(ctx context.Context, conn *Conn, deleted []DeletedOwner) (found map[string]uint64, err error) {
	found = map[string]uint64{}
	err = conn.EachShard(func(shard *Conn) error {
		tables, err := purgeable(ctx, shard)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(deleted, deletedAtOnce) {
			for _, t := range tables {
				n, err := t.purge(ctx, shard, some)
				found[t.Name] += n
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return found, err
}

// A purgeTable is a table of which rows belong to brands.
type purgeTable struct {
	Name  string `ch:"name"`
	Brand string `ch:"brand"` // the column of the brand's id; "" of dead letters
}

// purgeable are all of them, the landing tables first.
func purgeable(ctx context.Context, conn *Conn) (tables []purgeTable, err error) {
	err = conn.Select(ctx, &tables, `
		SELECT
			table AS name,
			multiIf(startsWith(table, 'deadletters'), '', has(groupArray(columns.name), 'brand_id'), 'brand_id', 'id') AS brand
		FROM system.columns
		WHERE database = currentDatabase()
		  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree'))
		GROUP BY table
		HAVING brand = '' OR has(groupArray(columns.name), 'organization_id')
		ORDER BY has(groupArray(columns.name), 'log_offset') DESC, table`)
	if err != nil {
		return nil, fmt.Errorf("list tables to purge: %w", err)
	}
	return tables, nil
}

// ofBrands picks rows by their owner, which the primary key leads to.
func ofBrands(brand string, deleted []DeletedOwner) string {
	var pairs, organizations []string
	for _, d := range deleted {
		if d.Brand == (UUID{}) {
			organizations = append(organizations, "'"+d.Organization.String()+"'")
		} else {
			pairs = append(pairs, "('"+d.Organization.String()+"', '"+d.Brand.String()+"')")
		}
	}
	var either []string
	if len(pairs) > 0 {
		either = append(either, "(organization_id, "+brand+") IN ("+strings.Join(pairs, ", ")+")")
	}
	if len(organizations) > 0 {
		either = append(either, "organization_id IN ("+strings.Join(organizations, ", ")+")")
	}
	return strings.Join(either, " OR ")
}

// lettersOf picks dead letters by the ids in their record: in its key, in the fields of its owner or, where it is no
// JSON, anywhere.
func lettersOf(deleted []DeletedOwner) string {
	var ids []string
	for _, d := range deleted {
		id := d.Brand
		if id == (UUID{}) {
			id = d.Organization
		}
		ids = append(ids, "'"+id.String()+"'")
	}
	in := " IN (" + strings.Join(ids, ", ") + ")"
	return "lower(key)" + in +
		" OR lower(JSONExtractString(value, 'brand', 'id'))" + in +
		" OR lower(JSONExtractString(value, 'brand_id'))" + in +
		" OR lower(JSONExtractString(value, 'organization_id'))" + in +
		" OR NOT isValidJSON(value) AND hasAny(extractAll(lower(value), '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'), [" + strings.Join(ids, ", ") + "])"
}

// purge deletes what belongs to deleted in the partitions where there is any.
func (t purgeTable) purge(ctx context.Context, conn *Conn, deleted []DeletedOwner) (found uint64, err error) {
	where := lettersOf(deleted)
	if t.Brand != "" {
		where = ofBrands(t.Brand, deleted)
	}
	var partitions []struct {
		ID   string `ch:"partition_id"` // not "id": that is a column of a brand's own row, and an alias would hide it
		Rows uint64 `ch:"rows"`
	}
	named := clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"log_comment": "purge"}))
	err = Retry(ctx, func() error {
		partitions = nil
		return conn.Select(named, &partitions, "SELECT _partition_id AS partition_id, count() AS rows FROM "+QuoteName(t.Name)+" WHERE "+where+" GROUP BY partition_id ORDER BY partition_id")
	})
	if err != nil {
		return 0, fmt.Errorf("look for rows to purge in %s: %w", t.Name, err)
	}
	if len(partitions) == 0 {
		return 0, nil
	}
	// Another mutation would only wait behind one that cannot end.
	if err := mutated(ctx, conn, t.Name); err != nil {
		return 0, err
	}
	for _, p := range partitions {
		found += p.Rows
		if err := conn.Exec(named, "ALTER TABLE "+QuoteName(t.Name)+" DELETE IN PARTITION ID '"+p.ID+"' WHERE "+where+" SETTINGS mutations_sync = 0"); err != nil {
			return found, fmt.Errorf("purge month %s of %s: %w", p.ID, t.Name, err)
		}
	}
	return found, mutated(ctx, conn, t.Name)
}

// mutated waits until no mutation of a table is under way. It is an error if the server repeats one in vain.
func mutated(ctx context.Context, conn *Conn, table string) error {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		var running uint64
		var why string
		err := Retry(ctx, func() error {
			return conn.QueryRow(ctx, `
				SELECT count(), max(latest_fail_reason)
				FROM system.mutations
				WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done`,
				clickhouse.Named("table", table)).Scan(&running, &why)
		})
		switch {
		case err != nil:
			return fmt.Errorf("read mutations of %s: %w", table, err)
		case why != "":
			return fmt.Errorf("mutate %s: %w", table, errors.New(why))
		case running == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for mutations of %s: %w", table, ctx.Err())
		case <-time.After(wait):
		}
	}
}
