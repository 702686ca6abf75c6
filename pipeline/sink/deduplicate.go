package sink

import (
	"context"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// deduplicate makes the rows of the accepted records.
//
// An id is counted once: a record whose id has landed, or is in the batch before it, is dropped whatever it says. A reread
// corrects such an answer if its reading is newer than the current one, and is dropped if not.
func (l *landing[R]) deduplicate(ctx context.Context) error {
	known, err := l.knownIDs(ctx)
	if err != nil {
		return err
	}
	current, err := l.currentRows(ctx)
	if err != nil {
		return err
	}
	l.rows = make([]R, 0, len(l.Items))
	for i := range l.Items {
		switch item := &l.Items[i]; {
		case l.dispositions[i] == deleted:
			l.outcomes.add(dropped)
		case l.dispositions[i] == frozen && item.reread:
			l.outcomes.add(outdated)
		case l.dispositions[i] != accept: // a dead letter
		case item.reread:
			key := item.row.Origin().Key
			rows := l.topic.correct(current[key], &item.row)
			if len(rows) == 0 {
				l.outcomes.add(outdated)
				continue
			}
			l.rows = append(l.rows, rows...)
			current[key] = &item.row
			l.outcomes.add(corrected)
		case known[i]:
			l.outcomes.add(duplicate)
		default:
			l.rows = append(l.rows, item.row)
			if current != nil {
				current[item.row.Origin().Key] = &item.row
			}
			l.outcomes.add(inserted)
		}
	}
	return nil
}

// knownIDs says of each accepted record that is no reread whether its id has landed below the batch, or is in the batch
// before it.
func (l *landing[R]) knownIDs(ctx context.Context) ([]bool, error) {
	ids := idSet(make(keySet, len(l.Items)))
	if l.cache != nil {
		var err error
		if l.cached, err = l.cache.take(ctx, l.conn, l.below()); err != nil {
			return nil, err
		}
		ids = l.cached
	}
	known := make([]bool, len(l.Items))
	var keys []clickhouse.Key
	var positions []int // of keys among the items
	for i := range l.Items {
		item := &l.Items[i]
		if l.dispositions[i] != accept || item.reread {
			continue
		}
		key := item.row.Origin().Key
		if known[i] = ids.add(key); !known[i] && ids.mayHaveLanded(key.ID) {
			keys, positions = append(keys, key), append(positions, i)
		}
	}
	landed, err := l.topic.landed(ctx, l.conn, keys, l.below())
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
func (l *landing[R]) currentRows(ctx context.Context) (map[clickhouse.Key]*R, error) {
	var keys []clickhouse.Key
	for i := range l.Items {
		if item := &l.Items[i]; item.reread && l.dispositions[i] == accept {
			keys = append(keys, item.row.Origin().Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return l.topic.current(ctx, l.conn, keys, l.below())
}
