package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
	"github.com/gofrs/uuid/v5"
)

// Import reads lines from file and appends each as an answer of every one of
// the brands, in one reading. It returns when Kafka has them all; an error is an
// *Interrupted. progress, if not nil, is called after every batch.
func (in *Intake) Import(ctx context.Context, file io.Reader, brands []uuid.UUID, progress func(Progress)) (Summary, error) {
	i := &importing{delivery: newDelivery(in), brands: brands, lines: newLines(file, in.config.LineBytes)}
	if err := i.run(ctx, progress); err != nil {
		return i.summary, &Interrupted{Summary: i.summary, Line: i.done, Cause: err}
	}
	return i.summary, nil
}

// importing is one import under way.
type importing struct {
	*delivery
	brands []uuid.UUID
	lines  *lines
	done   int // line
}

// captured is a line that can be an answer.
type captured struct {
	Capture
	line int
}

func (i *importing) run(ctx context.Context, progress func(Progress)) error {
	for {
		batch, err := i.batch()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", i.lines.number+1, err)
		}
		if batch, err = i.thawed(ctx, batch); err != nil {
			return err
		}
		for _, brand := range i.brands {
			if err := i.take(ctx, brand, batch); err != nil {
				return err
			}
		}
		i.done = i.lines.number
		if progress != nil {
			progress(Progress{Bytes: i.lines.read, Summary: i.summary})
		}
		if ended {
			return nil
		}
	}
}

// batch reads the next lines that can be answers and are new to the file. Lines
// that are equal for one brand are so for any.
func (i *importing) batch() ([]captured, error) {
	var batch []captured
	begun := i.lines.read
	for len(batch) < i.config.BatchLines && i.lines.read-begun < int64(i.config.BatchBytes) {
		line, length, err := i.lines.next()
		if err != nil {
			return batch, err
		}
		if line == nil && length > 0 {
			i.refuse(i.lines.number, uuid.Nil, fmt.Errorf("line of %d bytes: want at most %d", length, i.config.LineBytes))
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		c, err := Parse(line, i.now())
		if err != nil {
			i.refuse(i.lines.number, uuid.Nil, err)
			continue
		}
		if !i.seen.add(c.id(uuid.Nil)) {
			i.summary.Skipped += len(i.brands)
			continue
		}
		batch = append(batch, captured{c, i.lines.number})
	}
	return batch, nil
}

// thawed refuses the lines of frozen months.
func (i *importing) thawed(ctx context.Context, batch []captured) ([]captured, error) {
	return thawed(ctx, i.store, batch,
		func(c captured) time.Time { return c.AnsweredAt },
		func(c captured, why error) { i.refuse(c.line, uuid.Nil, why) })
}

// take appends what of the batch has not landed for the brand. What has landed
// asks nothing of Postgres: a prompt that was deleted since is not made again.
func (i *importing) take(ctx context.Context, brand uuid.UUID, batch []captured) error {
	if len(batch) == 0 {
		return ctx.Err()
	}
	snapshot, err := answer.ReadSnapshot(ctx, i.store, brand)
	if err != nil {
		return err
	}
	landed, err := i.landed(ctx, snapshot.OrganizationID, brand, len(batch), func(n int) uuid.UUID { return batch[n].id(brand) })
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
	return i.send(ctx, func(yield func(told) bool) {
		for n, c := range fresh {
			if !yield(told{c.line, c.record(snapshot, answer.Prompt(prompts[n]))}) {
				return
			}
		}
	})
}

func (c Capture) record(s answer.Snapshot, prompt event.Prompt) event.Answer {
	if c.GivenUp != nil {
		return c.run(s, prompt).GaveUp(c.GivenUp)
	}
	return c.run(s, prompt).Answered(c.Reply)
}

// id is that of the record which the line becomes for a brand.
func (c Capture) id(brand uuid.UUID) uuid.UUID {
	var s answer.Snapshot
	s.Brand.ID = brand
	return c.run(s, event.Prompt{Text: c.Prompt}).ID()
}
