package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/lines"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Import reads lines from file and appends each as an answer of every one of the brands. It returns when Kafka has them
// all; an error is a *lines.Interrupted. progress, if not nil, is called after every batch.
func (in *Intake) Import(ctx context.Context, file io.Reader, brands []uuid.UUID, progress func(Progress)) (Summary, error) {
	i := &importing{delivery: newDelivery(in), brands: brands}
	i.lines = lines.New(file, in.limits.lineBytes, func(line int, why error) { i.refuse(line, uuid.Nil, why) })
	if err := i.run(ctx, progress); err != nil {
		return i.summary, i.interrupted(i.done, err)
	}
	return i.summary, nil
}

// importing is one import under way.
type importing struct {
	*delivery
	brands []uuid.UUID
	lines  *lines.Reader
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
			return fmt.Errorf("read line %d: %w", i.lines.Number+1, err)
		}
		batch, err = withoutFrozen(ctx, i.store, batch,
			func(c captured) time.Time { return c.AnsweredAt },
			func(c captured, why error) { i.refuse(c.line, uuid.Nil, why) })
		if err != nil {
			return err
		}
		for _, brand := range i.brands {
			if err := i.importFor(ctx, brand, batch); err != nil {
				return err
			}
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

// batch reads the next lines that can be answers and are new to the file. Lines that are equal for one brand are so for
// any.
func (i *importing) batch() ([]captured, error) {
	var batch []captured
	begun := i.lines.Read
	for len(batch) < i.limits.batchLines && i.lines.Read-begun < int64(i.limits.batchBytes) {
		text, err := i.lines.Next()
		if err != nil {
			return batch, err
		}
		c, err := Parse(text, i.now())
		if err != nil {
			i.refuse(i.lines.Number, uuid.Nil, err)
			continue
		}
		if !i.seen.add(c.id(uuid.Nil)) {
			i.summary.Skipped += len(i.brands)
			continue
		}
		batch = append(batch, captured{c, i.lines.Number})
	}
	return batch, nil
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
	return i.send(ctx, func(yield func(sourced) bool) {
		for n, c := range fresh {
			if !yield(sourced{c.line, c.record(snapshot, answer.Prompt(prompts[n]))}) {
				return
			}
		}
	})
}
