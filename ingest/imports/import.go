package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Import reads lines from file and appends each as an answer of every one of the brands, or as a visit or crawl of the
// only one. It returns when Kafka has them all; an error is a *Interrupted. progress, if not nil, is called after
// every batch.
func (in *Importer) Import(ctx context.Context, file io.Reader, brands []uuid.UUID, progress func(Progress)) (Summary, error) {
	i := &importing{delivery: newDelivery(in), brands: brands}
	i.lines = newLineReader(file, in.limits.lineBytes, func(line int, why error) { i.refuse(line, uuid.Nil, why) })
	if err := i.run(ctx, progress); err != nil {
		return i.summary, i.interrupted(i.done, err)
	}
	return i.summary, nil
}

// importing is one import under way.
type importing struct {
	*delivery
	brands []uuid.UUID
	lines  *lineReader
	done   int // line
}

// captured is a line that can be an answer.
type captured struct {
	Capture
	line int
}

// A batch is what the next lines are.
type batch struct {
	answers        []captured
	visits, crawls []fact
}

func (b *batch) len() int { return len(b.answers) + len(b.visits) + len(b.crawls) }

func (i *importing) run(ctx context.Context, progress func(Progress)) error {
	for {
		next, err := i.batch()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", i.lines.Number+1, err)
		}
		if err := i.importBatch(ctx, next); err != nil {
			return err
		}
		i.done = i.lines.Number
		if progress != nil {
			progress(Progress{Bytes: i.lines.Read, Summary: i.summary})
		}
		if ended {
			return nil
		}
	}
}

func (i *importing) importBatch(ctx context.Context, next batch) error {
	answers, err := withoutFrozen(ctx, i.store, event.TopicAnswers, next.answers,
		func(c captured) time.Time { return c.AnsweredAt },
		func(c captured, why error) { i.refuse(c.line, uuid.Nil, why) })
	if err != nil {
		return err
	}
	for _, brand := range i.brands {
		if err := i.importFor(ctx, brand, answers); err != nil {
			return err
		}
	}
	if err := i.importFacts(ctx, event.TopicVisits, i.landings.Visits, next.visits); err != nil {
		return err
	}
	return i.importFacts(ctx, event.TopicCrawls, i.landings.Crawls, next.crawls)
}

// batch reads the next lines that can be counted and are new to the file. Answers that are equal for one brand are so
// for any.
func (i *importing) batch() (next batch, err error) {
	begun := i.lines.Read
	for next.len() < i.limits.batchLines && i.lines.Read-begun < int64(i.limits.batchBytes) {
		text, err := i.lines.Next()
		if err != nil {
			return next, err
		}
		if err := i.take(text, &next); err != nil {
			i.refuse(i.lines.Number, uuid.Nil, err)
		}
	}
	return next, nil
}

// take adds a line to a batch, unless an equal one was before.
func (i *importing) take(text []byte, to *batch) error {
	var l line
	if err := decode(text, &l); err != nil {
		return err
	}
	if l.isFact() {
		return i.takeFact(&l, text, to)
	}
	c, err := l.parse(i.now())
	if err != nil {
		return err
	}
	if !i.seen.add(c.id(uuid.Nil)) {
		i.summary.Skipped += len(i.brands)
		return nil
	}
	to.answers = append(to.answers, captured{c, i.lines.Number})
	return nil
}

func (i *importing) takeFact(l *line, text []byte, to *batch) error {
	if len(i.brands) != 1 {
		return fmt.Errorf("a visit or crawl is of one brand, got %d: import it with --brand", len(i.brands))
	}
	f, err := parseFact(l, text, i.now())
	if err != nil {
		return err
	}
	f.line, i.kind = i.lines.Number, "facts"
	switch {
	case !i.seen.add(f.id()):
		i.summary.Skipped++
	case f.visit != nil:
		to.visits = append(to.visits, f)
	default:
		to.crawls = append(to.crawls, f)
	}
	return nil
}

// importFor appends what of the batch has not landed for the brand. Prompts are created only for what has not landed:
// one that was deleted since is not created again.
func (i *importing) importFor(ctx context.Context, brand uuid.UUID, batch []captured) error {
	if len(batch) == 0 {
		return ctx.Err()
	}
	if err := i.producer.AwaitRoom(ctx); err != nil { // prompts are on the same disk
		return err
	}
	snapshot, err := answer.ReadSnapshot(ctx, i.store, brand)
	if err != nil {
		return err
	}
	landed, err := i.landed(ctx, i.landings.Answers, snapshot.OrganizationID, brand, len(batch), func(n int) uuid.UUID { return batch[n].id(brand) })
	if err != nil {
		return err
	}
	var fresh []captured
	var wanted []postgres.NewPrompt
	for n, c := range batch {
		if !landed[n] {
			fresh = append(fresh, c)
			wanted = append(wanted, postgres.NewPrompt{Text: c.Prompt, Topic: c.Topic})
		}
	}
	if len(fresh) == 0 {
		return ctx.Err()
	}
	prompts, err := i.store.EnsurePrompts(ctx, brand, wanted)
	if err != nil {
		return err
	}
	return i.send(ctx, func(yield func(sourced) bool) {
		for n, c := range fresh {
			record := c.record(snapshot, answer.Prompt(prompts[n]))
			if i.Observe != nil {
				i.Observe(&record)
			}
			if !yield(sourced{c.line, record}) {
				return
			}
		}
	})
}
