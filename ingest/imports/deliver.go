package imports

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
)

// delivery appends answers that have not landed, and counts.
type delivery struct {
	*Importer
	seen    *seen
	summary Summary
	kind    string // of what was given
}

func newDelivery(in *Importer) *delivery {
	return &delivery{Importer: in, seen: newSeen(in.limits.remembered), summary: Summary{Refusals: []Refusal{}}, kind: event.TopicAnswers}
}

// sourced is an answer with the line that it came from, 0 for none.
type sourced struct {
	line   int
	answer event.Answer
}

// landed looks up which of n facts have landed, and counts them as skipped.
func (d *delivery) landed(ctx context.Context, landings answer.Lookup, organization, brand uuid.UUID, n int, id func(n int) uuid.UUID) ([]bool, error) {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = id(i)
	}
	found, err := landings(ctx, organization, brand, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d facts of brand %s: %w", n, brand, err)
	}
	landed := make([]bool, n)
	for i, id := range ids {
		if found[id] {
			landed[i] = true
			d.summary.Skipped++
		}
	}
	return landed, nil
}

// send appends answers and waits until Kafka has them.
func (d *delivery) send(ctx context.Context, answers iter.Seq[sourced]) error {
	var records []producer.Record
	size := 0
	for s := range answers {
		record, err := answer.Record(&s.answer, d.now())
		if err != nil {
			d.refuse(s.line, s.answer.Brand.ID, err)
			continue
		}
		if size > 0 && size+len(record.Value) > d.limits.batchBytes {
			if err := d.append(ctx, event.TopicAnswers, records); err != nil {
				return err
			}
			records, size = records[:0], 0
		}
		records = append(records, record)
		size += len(record.Value)
	}
	return d.append(ctx, event.TopicAnswers, records)
}

func (d *delivery) append(ctx context.Context, topic string, records []producer.Record) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	appended, err := d.producer.AppendAll(ctx, topic, records)
	d.summary.Imported += appended
	return err
}

func (d *delivery) refuse(line int, brand uuid.UUID, why error) {
	d.summary.Refused++
	if len(d.summary.Refusals) < d.limits.listed {
		d.summary.Refusals = append(d.summary.Refusals, Refusal{Line: line, Brand: brand, Reason: why.Error()})
	}
}

func (d *delivery) interrupted(line int, cause error) error {
	return &Interrupted{Line: line, Imported: d.summary.Imported, Facts: d.kind, Cause: cause}
}

// withoutFrozen leaves out and refuses the facts of frozen months, which the sink does not take.
func withoutFrozen[T any](ctx context.Context, store *postgres.DB, topic string, batch []T, at func(T) time.Time, refuse func(T, error)) ([]T, error) {
	open, frozen, err := postgres.SplitFrozen(ctx, store, topic, batch, at)
	field := "at"
	if topic == event.TopicAnswers {
		field = "answered_at"
	}
	for _, a := range frozen {
		refuse(a, fmt.Errorf("%s %s: raw %s of that month have expired, and no more are taken; want a later one",
			field, at(a).Format(time.RFC3339), topic))
	}
	return open, err
}

// seen is a set of the last ids. The sink drops a repeated answer whose id is no longer in the set; only the summary
// then counts it as imported and not as skipped.
type seen struct {
	ids    map[uuid.UUID]struct{}
	oldest []uuid.UUID // a ring, once it is full
	at     int
	most   int
}

func newSeen(most int) *seen {
	return &seen{ids: map[uuid.UUID]struct{}{}, most: most}
}

// add adds an id and reports whether it is new.
func (s *seen) add(id uuid.UUID) bool {
	if _, there := s.ids[id]; there {
		return false
	}
	if len(s.oldest) < s.most {
		s.oldest = append(s.oldest, id)
	} else {
		delete(s.ids, s.oldest[s.at])
		s.oldest[s.at] = id
		s.at = (s.at + 1) % s.most
	}
	s.ids[id] = struct{}{}
	return true
}
