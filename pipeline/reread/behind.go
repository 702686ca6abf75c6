package reread

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// behind are partitions on which a page did not land in time, with the offset up to
// which they have to land first. Many brands share a partition: while one stands
// still, those of the others are read again.
type behind map[int]int64

// waits says whether a brand's partition is behind.
func (r *Rereader) waits(ctx context.Context, brand uuid.UUID) (bool, error) {
	if len(r.behind) == 0 {
		return false, nil
	}
	if time.Since(r.looked) > r.cfg.Look {
		places, err := r.reached(ctx)
		if err != nil {
			return false, err
		}
		r.places, r.looked = places, time.Now()
		for _, p := range places {
			if end := r.behind[p.Partition]; p.Landed >= end || p.End < end { // the latter: the log was replaced
				delete(r.behind, p.Partition)
			}
		}
	}
	of, err := placeOn(r.places, brand)
	_, is := r.behind[of.Partition]
	return is, err
}

// reached asks how far the sink of answers is.
func (r *Rereader) reached(ctx context.Context) ([]consume.Place, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.Silence, fmt.Errorf("the brokers said nothing for %v", r.cfg.Silence))
	defer cancel()
	return consume.Places(ctx, r.cfg.Connection, r.cfg.Group, r.cfg.Topic)
}

// placeOn is that of the partition that has a brand's answers.
func placeOn(places []consume.Place, brand uuid.UUID) (consume.Place, error) {
	ids := make([]int, len(places))
	for i, p := range places {
		ids[i] = p.Partition
	}
	if len(ids) == 0 {
		return consume.Place{}, fmt.Errorf("find partition of brand %s: the topic has none", brand)
	}
	id := producer.Partition(event.AnswerKey(brand), ids)
	return places[slices.Index(ids, id)], nil
}

// watch is how far the partition of a page has come since the page is on it.
type watch struct {
	brand  uuid.UUID
	looked time.Time
	moved  time.Time // when it was last seen to have landed more
	end    int64     // the page is below it; 0 before the first look
	place  consume.Place
}

// see looks again, if the last look is old enough.
func (w *watch) see(ctx context.Context, r *Rereader) error {
	if time.Since(w.looked) < r.cfg.Look {
		return nil
	}
	places, err := r.reached(ctx)
	if err != nil {
		return err
	}
	place, err := placeOn(places, w.brand)
	if err != nil {
		return err
	}
	if w.end == 0 {
		w.end = place.End
	} else if place.Landed != w.place.Landed {
		w.moved = time.Now()
	}
	w.place, w.looked = place, time.Now()
	return nil
}

// through says whether the whole page has landed, or was refused.
func (w *watch) through() bool { return w.end > 0 && w.place.Landed >= w.end }
