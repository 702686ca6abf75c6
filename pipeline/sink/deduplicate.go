package sink

import (
	"context"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// deduplicate makes the rows of the accepted records.
//
// An id is counted once: a record whose id has landed, or is in the batch before it, is dropped whatever it says. A
// reread corrects such an answer if its reading is newer than the current one, and is dropped if not.
func (in *insertion[R]) deduplicate(ctx context.Context) error {
	known, err := in.knownIDs(ctx)
	if err != nil {
		return err
	}
	current, err := in.currentRows(ctx)
	if err != nil {
		return err
	}
	in.rows = make([]R, 0, len(in.Items))
	for i := range in.Items {
		switch item := &in.Items[i]; {
		case in.dispositions[i] == deleted:
			in.outcomes.add(dropped)
		case in.dispositions[i] == frozen && item.reread:
			in.outcomes.add(outdated)
		case in.dispositions[i] != accept: // a dead letter
		case item.reread:
			key := item.row.Key()
			rows := in.topic.correct(current[key], &item.row)
			if len(rows) == 0 {
				in.outcomes.add(outdated)
				continue
			}
			in.rows = append(in.rows, rows...)
			current[key] = &item.row
			in.outcomes.add(corrected)
		case known[i]:
			in.outcomes.add(duplicate)
		default:
			in.rows = append(in.rows, item.row)
			if key := item.row.Key(); current != nil && current[key] == nil { // there is one where a lost first row comes back
				current[key] = &item.row
			}
			in.outcomes.add(inserted)
		}
	}
	return nil
}

// knownIDs says of each accepted record that is no reread whether its id has landed below the batch, or is in the batch
// before it.
func (in *insertion[R]) knownIDs(ctx context.Context) ([]bool, error) {
	ids := idSet(make(keySet, len(in.Items)))
	if in.cache != nil {
		var err error
		if in.cached, err = in.cache.take(ctx, in.conn, in.below()); err != nil {
			return nil, err
		}
		ids = in.cached
	}
	known := make([]bool, len(in.Items))
	var keys []clickhouse.Key
	var positions []int // of keys among the items
	for i := range in.Items {
		item := &in.Items[i]
		if in.dispositions[i] != accept || item.reread {
			continue
		}
		key := item.row.Key()
		if known[i] = ids.add(key); !known[i] && ids.mayHaveLanded(key.ID) {
			keys, positions = append(keys, key), append(positions, i)
		}
	}
	landed, err := in.topic.landed(ctx, in.conn, keys, in.below())
	for n, key := range keys {
		known[positions[n]] = landed[key]
	}
	return known, err
}

// idSet knows ids without a lookup.
type idSet interface {
	add(key clickhouse.Key) (known bool)
	mayHaveLanded(id clickhouse.UUID) bool // says of an id that was not known whether it must be looked up
}

// keySet are the ids of a batch. All of them are looked up: an access log may be read again after months, so that what
// landed last says nothing.
type keySet map[clickhouse.Key]struct{}

func (s keySet) add(key clickhouse.Key) (known bool) {
	before := len(s)
	s[key] = struct{}{}
	return len(s) == before
}

func (keySet) mayHaveLanded(clickhouse.UUID) bool { return true }

// currentRows are those that the batch's rereads may correct; nil without rereads.
func (in *insertion[R]) currentRows(ctx context.Context) (map[clickhouse.Key]*R, error) {
	var keys []clickhouse.Key
	for i := range in.Items {
		if item := &in.Items[i]; item.reread && in.dispositions[i] == accept {
			keys = append(keys, item.row.Key())
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return in.topic.current(ctx, in.conn, keys, in.below())
}
