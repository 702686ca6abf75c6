package imports

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
)

// fact becomes one record of a brand.
type fact struct {
	line    int       // of the file, from 1; 0: it came from no file
	brand   uuid.UUID // that a refusal names; Nil: a refusal concerns the line
	id      uuid.UUID
	at      time.Time
	capture *Capture // of an answer
	encode  func(organization, brand uuid.UUID) ([]byte, error)
}

// target is the brand and the topic of a batch.
type target struct {
	topic               string
	lookup              answer.Lookup
	organization, brand uuid.UUID
}

// importRun is one import under way.
type importRun struct {
	*Importer
	Summary
	seen     *seen
	noun     string        // of its facts, for messages
	onRefuse func(Refusal) // nil, or called with each refusal that Summary lists
}

func newImportRun(im *Importer, noun string) importRun {
	seen := newSeen(im.limits.remembered)
	return importRun{Importer: im, Summary: Summary{Refusals: []Refusal{}}, seen: seen, noun: noun}
}

// deliver appends the facts of one batch that are not in the warehouse.
func (s *importRun) deliver(ctx context.Context, to target, facts []fact) error {
	facts, err := s.dropFrozen(ctx, to.topic, facts)
	if err != nil {
		return err
	}
	if facts, err = s.dropLanded(ctx, to, facts); err != nil {
		return err
	}
	return s.append(ctx, to, facts)
}

// dropFrozen refuses the facts of frozen months, which the sink does not take.
func (s *importRun) dropFrozen(ctx context.Context, topic string, facts []fact) ([]fact, error) {
	open, frozen, err := postgres.SplitFrozen(ctx, s.store, topic, facts, func(f fact) time.Time { return f.at })
	field := "at"
	if topic == event.TopicAnswers {
		field = "answered_at"
	}
	for _, f := range frozen {
		const expired = "%s %s: raw %s of that month have expired, and no more are taken; want a later one"
		s.refuse(f.line, f.brand, fmt.Errorf(expired, field, f.at.Format(time.RFC3339), topic))
	}
	return open, err
}

// dropLanded skips the facts that are in the warehouse.
func (s *importRun) dropLanded(ctx context.Context, to target, facts []fact) ([]fact, error) {
	if len(facts) == 0 {
		return nil, ctx.Err()
	}
	ids := make([]uuid.UUID, len(facts))
	for i, f := range facts {
		ids[i] = f.id
	}
	landed, err := to.lookup(ctx, to.organization, to.brand, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d %s of brand %s: %w", len(ids), to.topic, to.brand, err)
	}
	fresh := facts[:0:0]
	for _, f := range facts {
		if landed[f.id] {
			s.Skipped++
		} else {
			fresh = append(fresh, f)
		}
	}
	return fresh, nil
}

// append encodes facts, and waits until Kafka has them.
func (s *importRun) append(ctx context.Context, to target, facts []fact) error {
	b := batch{Importer: s.Importer, topic: to.topic, appended: &s.Imported}
	for _, f := range facts {
		value, err := f.encode(to.organization, to.brand)
		if err != nil {
			s.refuse(f.line, f.brand, err)
			continue
		}
		if err := b.add(ctx, to.brand, value); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// batch collects records, and appends them when they are batchBytes together.
type batch struct {
	*Importer
	topic    string
	appended *int // counts those that Kafka has
	records  []producer.Record
	size     int // bytes
}

func (b *batch) add(ctx context.Context, brand uuid.UUID, value []byte) error {
	if b.size > 0 && b.size+len(value) > b.limits.batchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.records = append(b.records, producer.Record{Key: event.BrandKey(brand), Value: value})
	b.size += len(value)
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.records) == 0 {
		return ctx.Err()
	}
	n, err := b.producer.AppendAll(ctx, b.topic, b.records)
	*b.appended += n
	b.records, b.size = b.records[:0], 0
	return err
}

func (s *importRun) refuse(line int, brand uuid.UUID, reason error) {
	s.Refused++
	if len(s.Refusals) == s.limits.listed {
		return
	}
	refusal := Refusal{Line: line, Brand: brand, Reason: reason.Error()}
	s.Refusals = append(s.Refusals, refusal)
	if s.onRefuse != nil {
		s.onRefuse(refusal)
	}
}

func (s *importRun) interrupted(line int, cause error) error {
	return &Interrupted{Line: line, Imported: s.Imported, Facts: s.noun, Cause: cause}
}

// seen is a set of recent ids. The sink drops a repeated answer whose id is no longer in the set; only the summary
// then counts it as imported and not as skipped.
type seen struct {
	ids   map[uuid.UUID]struct{}
	ring  []uuid.UUID
	next  int // of the ring, once it is full: the oldest id
	limit int
}

func newSeen(limit int) *seen {
	return &seen{ids: map[uuid.UUID]struct{}{}, limit: limit}
}

// add adds an id and reports whether it is new.
func (s *seen) add(id uuid.UUID) bool {
	if _, ok := s.ids[id]; ok {
		return false
	}
	if len(s.ring) < s.limit {
		s.ring = append(s.ring, id)
	} else {
		delete(s.ids, s.ring[s.next])
		s.ring[s.next] = id
		s.next = (s.next + 1) % s.limit
	}
	s.ids[id] = struct{}{}
	return true
}
