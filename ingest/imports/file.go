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
// only one. It returns when Kafka has them all; an error is an *Interrupted. progress, if not nil, is called after
// every batch.
func (im *Importer) Import(
	ctx context.Context, file io.Reader, brands []uuid.UUID, progress func(Progress),
) (Summary, error) {
	i := &fileImport{importRun: newImportRun(im, event.TopicAnswers), brands: brands}
	i.lines = newLineReader(file, im.limits.lineBytes, func(line int, err error) { i.refuse(line, uuid.Nil, err) })
	if err := i.run(ctx, progress); err != nil {
		return i.Summary, i.interrupted(i.appendedLine, err)
	}
	return i.Summary, nil
}

// fileImport is one import under way.
type fileImport struct {
	importRun
	brands       []uuid.UUID
	lines        *lineReader
	appendedLine int // the last line of which all facts are on the log
}

// lineBatch has the facts of the next lines by topic.
type lineBatch map[string][]fact

func (i *fileImport) run(ctx context.Context, progress func(Progress)) error {
	for {
		next, err := i.readBatch()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", i.lines.number+1, err)
		}
		if err := i.importAnswers(ctx, next[event.TopicAnswers]); err != nil {
			return err
		}
		if err := i.importExported(ctx, next); err != nil {
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

// readBatch reads the next lines that are new to the file, and refuses those that cannot be counted.
func (i *fileImport) readBatch() (lineBatch, error) {
	b, start := lineBatch{}, i.lines.bytes
	for n := 0; n < i.limits.batchLines && i.lines.bytes-start < int64(i.limits.batchBytes); {
		text, err := i.lines.next()
		if err != nil {
			return b, err
		}
		topic, f, err := parseLine(text, i.now())
		if err == nil && topic != event.TopicAnswers && len(i.brands) != 1 {
			err = fmt.Errorf("a visit or crawl is of one brand, got %d: import it with --brand", len(i.brands))
		}
		if err != nil {
			i.refuse(i.lines.number, uuid.Nil, err)
			continue
		}
		if topic != event.TopicAnswers {
			i.noun = "facts"
		}
		if !i.seen.add(f.id) {
			i.Skipped += len(i.brands)
			continue
		}
		f.line = i.lines.number
		b[topic] = append(b[topic], f)
		n++
	}
	return b, nil
}

// parseLine reads an answer, or a visit or crawl that export wrote. Two answers are equal for every brand or for none,
// so the id of an answer has no brand yet.
func parseLine(text []byte, now time.Time) (topic string, f fact, err error) {
	var l line
	if err := decode(text, &l); err != nil {
		return "", fact{}, err
	}
	switch {
	case l.Prompt == "" && bool(l.Crawler):
		f, err = parseCrawl(text, now)
		return event.TopicCrawls, f, err
	case l.Prompt == "" && bool(l.Event):
		f, err = parseVisit(text, now)
		return event.TopicVisits, f, err
	}
	c, err := l.parse(now)
	return event.TopicAnswers, fact{id: c.id(uuid.Nil), at: c.Due, capture: &c}, err
}

// importExported appends visits and crawls of the only brand.
func (i *fileImport) importExported(ctx context.Context, b lineBatch) error {
	for _, to := range []target{
		{topic: event.TopicVisits, lookup: i.lookups.Visits}, {topic: event.TopicCrawls, lookup: i.lookups.Crawls},
	} {
		if len(b[to.topic]) == 0 {
			continue
		}
		snapshot, err := answer.ReadSnapshot(ctx, i.store, i.brands[0])
		if err != nil {
			return err
		}
		to.organization, to.brand = snapshot.OrganizationID, snapshot.Brand.ID
		if err := i.deliver(ctx, to, b[to.topic]); err != nil {
			return err
		}
	}
	return ctx.Err()
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
