package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Answers lands topic answers. It is safe for concurrent use.
type Answers struct {
	landing[clickhouse.AnswerRow]
}

// New does nothing yet.
func New(conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Answers {
	return &Answers{newLanding(clickhouse.Answers, conn, registerer, log)}
}

// Item is a record as a row of the landing table, or of the dead letters.
type Item struct {
	row    clickhouse.AnswerRow
	reread bool // row is a new reading of an answer that was told before
	dead   *clickhouse.DeadLetter
}

// Version is the extractor that new batches are read with.
func (s *Answers) Version() int { return extract.Version }

// Supports says whether this build carries an extractor of that version.
func (s *Answers) Supports(version int) bool {
	_, ok := extract.At(version)
	return ok
}

// Read makes the row of a record. What cannot be understood becomes a dead
// letter, byte for byte; a record of a newer version, or a reread that asks for a
// later extractor, is not touched.
func (s *Answers) Read(version int, r consume.Record) (item Item, month int, err error) {
	read, ok := extract.At(version)
	if !ok {
		return Item{}, 0, fmt.Errorf("extract version %d: %w", version, consume.ErrNewer)
	}
	var a event.Answer
	switch err := event.DecodeAnswer(r.Value, &a); {
	case errors.Is(err, event.ErrNewer):
		return Item{}, 0, fmt.Errorf("%w: %w", consume.ErrNewer, err)
	case err != nil:
		return dead(&r, "malformed", err.Error())
	case a.Reread != nil && a.Reread.MinExtractVersion > version:
		return Item{}, 0, fmt.Errorf("a reread for extract version %d: %w", a.Reread.MinExtractVersion, consume.ErrNewer)
	}
	reading := read(&a)
	row, err := answerRow(&r, &a, &reading, version)
	if err != nil {
		return dead(&r, "malformed", err.Error())
	}
	if a.Reread != nil {
		onFirstRow(&row)
	}
	return Item{row: row, reread: a.Reread != nil}, monthOf(a.AnsweredAt.Time), nil
}

func dead(r *consume.Record, reason, detail string) (Item, int, error) {
	letter, month := deadLetter(r, reason, detail)
	return Item{dead: letter}, month, nil
}

// Land inserts what the batch tells first, and its corrections.
//
// A run ends once: a telling of an answer that has landed, or that an earlier
// record of the batch tells, is dropped whatever it says. A reread corrects such an
// answer if its reading is newer than the one that stands, and is dropped if not.
func (s *Answers) Land(ctx context.Context, b *consume.Batch[Item], ours func() error) error {
	fates, err := fates(ctx, b.Hold, event.TopicAnswers, len(b.Items), func(i int) (about, bool) {
		item := &b.Items[i]
		return about{item.row.OrganizationID, item.row.BrandID, item.row.Day}, item.dead == nil
	})
	if err != nil {
		return err
	}
	late, err := s.late(ctx, b, fates)
	if err != nil {
		return err
	}
	t, err := s.below(ctx, b, fates)
	if err != nil {
		return err
	}
	var letters []clickhouse.DeadLetter
	for i := range b.Items {
		item := &b.Items[i]
		switch {
		case fates[i] == unread:
			letters = append(letters, *item.dead)
		case fates[i] == gone:
			t.outcomes.add(deleted)
		case fates[i] == frozen && item.reread:
			t.outcomes.add(stale)
		case fates[i] == frozen:
			letters, late = append(letters, late[0]), late[1:]
		case item.reread:
			t.reread(&item.row)
		default:
			t.tell(&item.row)
		}
	}
	_, err = s.take(ctx, sendingOf(b), t.rows, letters, t.outcomes, ours)
	return err
}

// late are the dead letters of tellings whose month is frozen. A reread of such a
// month tells nothing that would be lost.
func (s *Answers) late(ctx context.Context, b *consume.Batch[Item], fates []fate) ([]clickhouse.DeadLetter, error) {
	tellings := slices.Clone(fates)
	for i := range tellings {
		if b.Items[i].reread {
			tellings[i] = lives
		}
	}
	return frozenLetters(ctx, b, event.TopicAnswers, tellings, func(i int) time.Time { return b.Items[i].row.Day })
}

// below looks up every answer of the batch among the rows below it, and reads the
// rows there that its rereads may correct.
func (s *Answers) below(ctx context.Context, b *consume.Batch[Item], fates []fate) (tellings, error) {
	var keys []clickhouse.AnswerKey
	for i := range b.Items {
		if fates[i] == lives {
			keys = append(keys, keyOf(&b.Items[i].row))
		}
	}
	below := clickhouse.Below{Topic: b.Topic, Partition: b.Partition, Offset: b.First}
	landed, err := clickhouse.LandedAnswers(ctx, s.conn, keys, due, below)
	if err != nil {
		return tellings{}, err
	}
	keys = keys[:0]
	for i := range b.Items {
		item := &b.Items[i]
		if fates[i] != lives || !item.reread {
			continue
		}
		if was, there := landed[keyOf(&item.row)]; there && was.Older(readingOf(&item.row)) {
			keys = append(keys, keyOf(&item.row))
		}
	}
	standing, err := clickhouse.StandingAnswers(ctx, s.conn, keys, due, below)
	return tellings{landed: landed, standing: standing, rows: make([]clickhouse.AnswerRow, 0, len(b.Items))}, err
}

func keyOf(row *clickhouse.AnswerRow) clickhouse.AnswerKey {
	return clickhouse.AnswerKey{OrganizationID: row.OrganizationID, BrandID: row.BrandID, ID: row.ID}
}

func readingOf(row *clickhouse.AnswerRow) clickhouse.Reading {
	return clickhouse.Reading{Revision: row.Revision, ExtractVersion: row.ExtractVersion}
}

func due(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }
