package imports

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Import reads lines from file and appends each as an answer of every one of the brands, or as a visit or crawl of the
// only one. It returns when Kafka has them all; an error is an *Interrupted. progress, if not nil, is called after
// every batch.
func (im *Importer) Import(
	ctx context.Context, file io.Reader, brands []uuid.UUID, progress func(Progress),
) (Summary, error) {
	i := &fileImport{session: newSession(im, event.TopicAnswers), brands: brands}
	i.lines = newLineReader(file, im.limits.lineBytes, func(line int, err error) { i.refuse(line, uuid.Nil, err) })
	if err := i.run(ctx, progress); err != nil {
		return i.Summary, i.interrupted(i.appendedLine, err)
	}
	return i.Summary, nil
}

// fileImport is one import under way.
type fileImport struct {
	session
	brands       []uuid.UUID
	lines        *lineReader
	appendedLine int // the last line of which all facts are on the log
}

// lineBatch has the facts of the next lines.
type lineBatch struct{ answers, visits, crawls []fact }

func (b *lineBatch) len() int { return len(b.answers) + len(b.visits) + len(b.crawls) }

func (i *fileImport) run(ctx context.Context, progress func(Progress)) error {
	for {
		next, err := i.readBatch()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", i.lines.number+1, err)
		}
		if err := i.importBatch(ctx, next); err != nil {
			return err
		}
		i.appendedLine = i.lines.number
		if progress != nil {
			progress(Progress{Bytes: i.lines.bytes, Summary: i.Summary})
		}
		if ended {
			return nil
		}
	}
}

func (i *fileImport) importBatch(ctx context.Context, b lineBatch) error {
	if err := i.importAnswers(ctx, b.answers); err != nil {
		return err
	}
	if err := i.importExported(ctx, target{topic: event.TopicVisits, lookup: i.lookups.Visits}, b.visits); err != nil {
		return err
	}
	return i.importExported(ctx, target{topic: event.TopicCrawls, lookup: i.lookups.Crawls}, b.crawls)
}

// readBatch reads the next lines, and refuses those that cannot be counted.
func (i *fileImport) readBatch() (b lineBatch, err error) {
	start := i.lines.bytes
	for b.len() < i.limits.batchLines && i.lines.bytes-start < int64(i.limits.batchBytes) {
		text, err := i.lines.next()
		if err != nil {
			return b, err
		}
		if err := i.add(text, &b); err != nil {
			i.refuse(i.lines.number, uuid.Nil, err)
		}
	}
	return b, nil
}

// add adds a line to a batch, unless an equal one came before. Answers that are equal for one brand are so for any.
func (i *fileImport) add(text []byte, b *lineBatch) error {
	var l line
	if err := decode(text, &l); err != nil {
		return err
	}
	if l.isExported() {
		return i.addExported(&l, text, b)
	}
	c, err := l.parse(i.now())
	if err != nil {
		return err
	}
	if !i.seen.add(c.id(uuid.Nil)) {
		i.Skipped += len(i.brands)
		return nil
	}
	b.answers = append(b.answers, fact{line: i.lines.number, at: c.Due, capture: &c})
	return nil
}

func (i *fileImport) addExported(l *line, text []byte, b *lineBatch) error {
	if len(i.brands) != 1 {
		return fmt.Errorf("a visit or crawl is of one brand, got %d: import it with --brand", len(i.brands))
	}
	topic, f, err := parseExported(l, text, i.now())
	if err != nil {
		return err
	}
	f.line, i.noun = i.lines.number, "facts"
	switch {
	case !i.seen.add(f.id):
		i.Skipped++
	case topic == event.TopicVisits:
		b.visits = append(b.visits, f)
	default:
		b.crawls = append(b.crawls, f)
	}
	return nil
}

// importExported appends visits or crawls of the only brand.
func (i *fileImport) importExported(ctx context.Context, to target, facts []fact) error {
	if len(facts) == 0 {
		return ctx.Err()
	}
	snapshot, err := answer.ReadSnapshot(ctx, i.store, i.brands[0])
	if err != nil {
		return err
	}
	to.organization, to.brand = snapshot.OrganizationID, snapshot.Brand.ID
	return i.deliver(ctx, to, facts)
}

// importAnswers appends answers of every brand.
func (i *fileImport) importAnswers(ctx context.Context, answers []fact) error {
	answers, err := i.dropFrozen(ctx, event.TopicAnswers, answers)
	if err != nil || len(answers) == 0 {
		return errors.Join(err, ctx.Err())
	}
	for _, brand := range i.brands {
		if err := i.importFor(ctx, brand, answers); err != nil {
			return err
		}
	}
	return nil
}

// importFor appends answers of one brand. Prompts are created only for those that are not in the warehouse, so that a
// prompt that was deleted since is not created again.
func (i *fileImport) importFor(ctx context.Context, brand uuid.UUID, answers []fact) error {
	if err := i.producer.AwaitRoom(ctx); err != nil { // prompts are on the same disk
		return err
	}
	snapshot, err := answer.ReadSnapshot(ctx, i.store, brand)
	if err != nil {
		return err
	}
	to := target{event.TopicAnswers, i.lookups.Answers, snapshot.OrganizationID, brand}
	facts := make([]fact, len(answers))
	for n, f := range answers {
		f.brand, f.id = brand, f.capture.id(brand)
		facts[n] = f
	}
	if facts, err = i.dropLanded(ctx, to, facts); err != nil || len(facts) == 0 {
		return errors.Join(err, ctx.Err())
	}
	texts := make([]postgres.NewPrompt, len(facts))
	for n, f := range facts {
		texts[n] = postgres.NewPrompt{Text: f.capture.Prompt.Text, Topic: f.capture.Topic}
	}
	prompts, err := i.store.EnsurePrompts(ctx, brand, texts)
	if err != nil {
		return err
	}
	for n, f := range facts {
		facts[n].encode = func(_, _ uuid.UUID) ([]byte, error) {
			a := f.capture.record(snapshot, answer.Prompt(prompts[n]))
			if i.Observe != nil {
				i.Observe(&a)
			}
			record, err := answer.Record(&a, i.now())
			return record.Value, err
		}
	}
	return i.append(ctx, to, facts)
}
