package reread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// page is some answers of a brand, appended with the names of one snapshot.
type page struct {
	begun time.Time
	names *postgres.Snapshot
	ids   []clickhouse.UUID      // in the order of the log
	left  int                    // answers that could not be appended
	end   clickhouse.StaleCursor // of its last answer
}

const (
	chunkBytes = 4 << 20         // held between the warehouse and the log
	replicaLag = 3 * time.Second // of a replica; what it lacks by then was refused
)

var errFull = errors.New("page is full")

// append appends answers of a brand as rereads, until the page is full.
func (r *Rereader) append(ctx context.Context, names *postgres.Snapshot, outdated []clickhouse.StaleAnswer) (page, error) {
	p := page{begun: time.Now(), names: names}
	key := event.BrandKey(names.BrandID)
	var records []producer.Record
	bytes, waiting := 0, 0
	send := func() error {
		_, err := r.producer.AppendAll(ctx, event.TopicAnswers, records)
		records, waiting = records[:0], 0
		return err
	}
	take := func(kept *clickhouse.AnswerRow) error {
		if bytes >= pageBytes {
			return errFull
		}
		p.end = clickhouse.StaleCursor{Day: kept.Day, ID: kept.ID}
		value, err := r.encode(kept, names)
		if err != nil {
			if p.left++; p.left == 1 {
				r.log.Warn("answer cannot be appended again", "brand", names.BrandID, "answer", kept.ID, "cause", err,
					"next", "nothing at once: its figures stay as they are; report this line as a bug")
			}
			return nil
		}
		p.ids = append(p.ids, kept.ID)
		records = append(records, producer.Record{Key: key, Value: value})
		bytes, waiting = bytes+len(value), waiting+len(value)
		if waiting >= chunkBytes {
			return send()
		}
		return nil
	}
	organization, brand := clickhouse.UUID(names.OrganizationID), clickhouse.UUID(names.BrandID)
	err := clickhouse.KeptAnswers(ctx, r.warehouse, organization, brand, outdated, take)
	switch {
	case err == nil: // the last answer may have been deleted meanwhile
		last := outdated[len(outdated)-1]
		p.end = clickhouse.StaleCursor{Day: last.Day, ID: last.ID}
	case !errors.Is(err, errFull):
		return p, err
	}
	if err := send(); err != nil {
		return p, err
	}
	fault.Pass(fault.Requested)
	r.metrics.answers.Add(float64(len(p.ids)))
	return p, nil
}

func (r *Rereader) encode(kept *clickhouse.AnswerRow, names *postgres.Snapshot) ([]byte, error) {
	a, err := record(kept, names, r.cfg.ExtractVersion)
	if err != nil {
		return nil, err
	}
	if err := a.Check(time.Now()); err != nil {
		return nil, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		return nil, fmt.Errorf("with its current names: %w", err)
	}
	return value, nil
}

// waitFor waits until the sink has inserted a page and returns how many of its answers were refused. inserted is false
// when the partition makes no progress.
func (r *Rereader) waitFor(ctx context.Context, p *page) (refused int, inserted bool, err error) {
	if len(p.ids) == 0 {
		return 0, true, nil
	}
	begun, changed, renewed := time.Now(), time.Now(), p.begun
	w, pending := watch{brand: p.names.BrandID, lookedAt: begun, movedAt: begun}, p.ids
	for wait := 50 * time.Millisecond; ; wait = min(wait*3/2, 2*time.Second) {
		before := len(pending)
		if pending, err = r.pending(ctx, p, pending); err != nil {
			return 0, false, err
		}
		if len(pending) == 0 {
			r.metrics.landing.Observe(time.Since(begun).Seconds())
			return 0, true, nil
		}
		if len(pending) < before || !w.passed() {
			changed = time.Now()
		}
		late := time.Since(w.movedAt) > r.cfg.StallTimeout || time.Since(begun) > pageTimeout
		switch {
		case time.Since(changed) > replicaLag:
			return len(pending), true, nil
		case !w.passed() && w.end > 0 && late:
			r.stall(p, &w, len(pending), time.Since(begun))
			return 0, false, nil
		case time.Since(renewed) > r.cfg.Lease/3:
			renewed = time.Now()
			if err := r.renewLease(ctx, p.names.BrandID); err != nil {
				return 0, false, err
			}
		}
		if err := lifecycle.Pause(ctx, wait); err != nil {
			return 0, false, err
		}
		if err := w.look(ctx, r); err != nil {
			return 0, false, err
		}
	}
}

// pending are those of ids whose current row has an older reading than the page's.
func (r *Rereader) pending(ctx context.Context, p *page, ids []clickhouse.UUID) ([]clickhouse.UUID, error) {
	of := r.current(p.names)
	keys := make([]clickhouse.Key, len(ids))
	for i, id := range ids {
		keys[i] = clickhouse.Key{OrganizationID: of.OrganizationID, BrandID: of.BrandID, ID: id}
	}
	landed, err := clickhouse.LandedAnswers(ctx, r.warehouse, keys, clickhouse.LogLimit{})
	if err != nil {
		return nil, err
	}
	want := clickhouse.ReadingVersion{Revision: of.Revision, ExtractVersion: of.ExtractVersion}
	var pending []clickhouse.UUID
	for i, key := range keys {
		if version, there := landed[key]; there && version.Older(want) {
			pending = append(pending, ids[i])
		}
	}
	return pending, nil
}

// stall notes that a partition has to insert a page before its brands go on.
func (r *Rereader) stall(p *page, w *watch, pending int, waited time.Duration) {
	r.stalled[w.Partition] = w.end
	r.log.Warn("reread is not inserted", "brand", p.names.BrandID, "answers", pending, "waited", waited,
		"partition", w.Partition, "inserted", max(0, w.Committed), "end", w.end,
		"next", "see how far behind the sink of answers is on that partition; its brands go on once it has inserted these")
}

// renewLease keeps the brand for this process while its page is inserted.
func (r *Rereader) renewLease(ctx context.Context, brand uuid.UUID) error {
	if err := r.report(ctx); err != nil {
		return err
	}
	_, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (bool, error) { return r.queue.Extend(ctx, brand) })
	return err
}
