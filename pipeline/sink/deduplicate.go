package sink

import (
	"context"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// deduplicate makes the rows of the accepted records.
//
// An id is counted once: a record whose id has landed, or is in the batch before it, is dropped, even if it differs. A
// reread corrects such an answer if its reading is newer than the current one, and else is dropped.
func (in *insertion[R]) deduplicate(ctx context.Context) error {
	duplicates, err := in.duplicates(ctx)
	if err != nil {
		return err
	}
	current, err := in.currentRows(ctx)
	if err != nil {
		return err
	}
	in.rows = make([]R, 0, len(in.batch.Items))
	for i := range in.batch.Items {
		switch item := &in.batch.Items[i]; {
		case in.dispositions[i] == deleted:
			in.outcomes[dropped]++
		case in.dispositions[i] == frozen && item.reread:
			in.outcomes[outdated]++
		case in.dispositions[i] != accept: // a dead letter
		case item.reread:
			key := item.row.Key()
			rows := in.sink.topic.correct(current[key], &item.row)
			if len(rows) == 0 {
				in.outcomes[outdated]++
				continue
			}
			in.rows = append(in.rows, rows...)
			current[key] = &item.row
			in.outcomes[corrected]++
		case duplicates[i]:
			in.outcomes[duplicate]++
		default:
			in.rows = append(in.rows, item.row)
			// The current row may exist already when a lost first row is recovered.
			if key := item.row.Key(); current != nil && current[key] == nil {
				current[key] = &item.row
			}
			in.outcomes[inserted]++
		}
	}
	return nil
}

// duplicates reports for each accepted record that is no reread whether its id has landed below the batch, or is in the
// batch before it.
func (in *insertion[R]) duplicates(ctx context.Context) ([]bool, error) {
	ids := idSet(make(keySet, len(in.batch.Items)))
	if in.sink.cache != nil {
		var err error
		if in.cached, err = in.sink.cache.take(ctx, in.conn, in.below()); err != nil {
			return nil, err
		}
		ids = in.cached
	}
	duplicates := make([]bool, len(in.batch.Items))
	var keys []clickhouse.Key
	var positions []int // of keys among the items
	for i := range in.batch.Items {
		item := &in.batch.Items[i]
		if in.dispositions[i] != accept || item.reread {
			continue
		}
		key := item.row.Key()
		if duplicates[i] = !ids.add(key); !duplicates[i] && ids.mayHaveLanded(key.ID) {
			keys, positions = append(keys, key), append(positions, i)
		}
	}
	landed, err := in.sink.topic.landed(ctx, in.conn, keys, in.below())
	for n, key := range keys {
		duplicates[positions[n]] = landed[key]
	}
	return duplicates, err
}

// idSet is a set of ids that saves lookups in the warehouse.
type idSet interface {
	add(key clickhouse.Key) (added bool)   // false: it was in the set
	mayHaveLanded(id clickhouse.UUID) bool // whether an added id must be looked up
}

// keySet has the ids of a batch. All of them are looked up: an access log may be imported again after months, so the
// age of an id proves nothing.
type keySet map[clickhouse.Key]struct{}

func (s keySet) add(key clickhouse.Key) (added bool) {
	before := len(s)
	s[key] = struct{}{}
	return len(s) > before
}

func (keySet) mayHaveLanded(clickhouse.UUID) bool { return true }

// currentRows returns the current rows of the batch's rereads; nil without rereads.
func (in *insertion[R]) currentRows(ctx context.Context) (map[clickhouse.Key]*R, error) {
	var keys []clickhouse.Key
	for i := range in.batch.Items {
		if item := &in.batch.Items[i]; item.reread && in.dispositions[i] == accept {
			keys = append(keys, item.row.Key())
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return in.sink.topic.current(ctx, in.conn, keys, in.below())
}
