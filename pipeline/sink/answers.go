package sink

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Answers is the sink of topic answers.
type Answers = Sink[clickhouse.AnswerRow]

// Answer is an item of Answers.
type Answer = Item[clickhouse.AnswerRow]

// NewAnswers does nothing yet.
func NewAnswers(conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Answers {
	return newSink(topic[clickhouse.AnswerRow]{
		name:    event.TopicAnswers,
		table:   clickhouse.Answers,
		version: extract.Version,
		supports: func(version int) bool {
			_, ok := extract.At(version)
			return ok
		},
		decode:  decodeAnswer,
		landed:  landedAnswers,
		current: clickhouse.CurrentAnswers,
		correct: correct,
		counted: clickhouse.CountedAnswers,
	}, conn, registerer, log)
}

func decodeAnswer(version int, r consume.Record) (row clickhouse.AnswerRow, reread bool, err error) {
	row, reread, err = DecodeAnswer(version, r)
	if reread {
		emptyFirstRowColumns(&row)
	}
	return row, reread, err
}

// DecodeAnswer makes the row of a record with one version of the extractor. The error is an event.ErrNewer for a record
// that only a newer build understands; else the record is malformed.
func DecodeAnswer(version int, r consume.Record) (row clickhouse.AnswerRow, reread bool, err error) {
	read, ok := extract.At(version)
	if !ok {
		return row, false, fmt.Errorf("extract version %d: %w", version, event.ErrNewer)
	}
	var a event.Answer
	if err := event.DecodeAnswer(r.Value, &a); err != nil {
		return row, false, err
	}
	if a.Reread != nil && a.Reread.MinExtractVersion > version {
		return row, false, fmt.Errorf("a reread for extract version %d: %w", a.Reread.MinExtractVersion, event.ErrNewer)
	}
	reading := read(&a)
	row, err = answerRow(&r, &a, &reading, version)
	return row, a.Reread != nil, err
}

func landedAnswers(ctx context.Context, conn *clickhouse.Conn, keys []clickhouse.Key, below clickhouse.LogLimit) (map[clickhouse.Key]bool, error) {
	versions, err := clickhouse.LandedAnswers(ctx, conn, keys, below)
	landed := make(map[clickhouse.Key]bool, len(versions))
	for key := range versions {
		landed[key] = true
	}
	return landed, err
}

// correct makes the two rows of a correction: the current row once more with sign -1, and the new reading with sign +1.
// Every sum over sign × value moves by the difference, with the insert or not at all. What is long or is spent once
// stays on the id's first row, and both rows leave it empty. Both are of the reread's record, so that a replay of it
// does not find them.
func correct(current, reread *clickhouse.AnswerRow) []clickhouse.AnswerRow {
	if current == nil || !versionOf(current).Older(versionOf(reread)) {
		return nil
	}
	back := *current
	back.Sign = -1
	back.LogTopic, back.LogPartition, back.LogOffset = reread.LogTopic, reread.LogPartition, reread.LogOffset
	emptyFirstRowColumns(&back)
	return []clickhouse.AnswerRow{back, *reread}
}

func versionOf(row *clickhouse.AnswerRow) clickhouse.ReadingVersion {
	return clickhouse.ReadingVersion{Revision: row.Revision, ExtractVersion: row.ExtractVersion}
}

// emptyFirstRowColumns empties the columns that only the first row of an id has.
func emptyFirstRowColumns(row *clickhouse.AnswerRow) {
	var none clickhouse.AnswerRow
	row.Text, row.SearchQueries, row.RawProducts = none.Text, none.SearchQueries, none.RawProducts
	row.RawCitationURLs, row.RawCitationTitles, row.RawCitationCited = none.RawCitationURLs, none.RawCitationTitles, none.RawCitationCited
	row.InputTokens, row.OutputTokens, row.Searches, row.CostUSD = none.InputTokens, none.OutputTokens, none.Searches, none.CostUSD
}
