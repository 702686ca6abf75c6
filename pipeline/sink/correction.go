package sink

import (
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// tellings fold the records of a batch, in their order, into its rows.
//
// A correction is two rows of one insert: the row that stands once more with sign
// -1, and the new reading with sign +1. Every sum over sign × value moves by the
// difference, with the insert or not at all. What is long or is spent once stays on
// the id's first row, and both rows leave it empty.
type tellings struct {
	landed   map[clickhouse.AnswerKey]clickhouse.Reading    // of every answer of the batch that has landed, then of all that it tells
	standing map[clickhouse.AnswerKey]*clickhouse.AnswerRow // of those that a reread may correct
	rows     []clickhouse.AnswerRow
	outcomes outcomes
}

// tell takes a first telling.
func (t *tellings) tell(row *clickhouse.AnswerRow) {
	key := keyOf(row)
	if _, told := t.landed[key]; told {
		t.outcomes.add(repeated)
		return
	}
	t.rows = append(t.rows, *row)
	t.stands(key, row)
	t.outcomes.add(told)
}

// reread takes a new reading of an answer.
func (t *tellings) reread(row *clickhouse.AnswerRow) {
	key := keyOf(row)
	was := t.standing[key]
	if was == nil || !readingOf(was).Older(readingOf(row)) {
		t.outcomes.add(stale)
		return
	}
	t.rows = append(t.rows, withdrawn(was, row), *row)
	t.stands(key, row)
	t.outcomes.add(corrected)
}

func (t *tellings) stands(key clickhouse.AnswerKey, row *clickhouse.AnswerRow) {
	t.landed[key] = readingOf(row)
	t.standing[key] = row
}

// withdrawn takes back the row that stands. It belongs to the record that corrects
// it, so that a replay of that record does not find it.
func withdrawn(was, by *clickhouse.AnswerRow) clickhouse.AnswerRow {
	row := *was
	row.Sign = -1
	row.LogTopic, row.LogPartition, row.LogOffset = by.LogTopic, by.LogPartition, by.LogOffset
	onFirstRow(&row)
	return row
}

// onFirstRow empties what only the first row of an id has.
func onFirstRow(row *clickhouse.AnswerRow) {
	var none clickhouse.AnswerRow
	row.Text, row.SearchQueries, row.RawProducts = none.Text, none.SearchQueries, none.RawProducts
	row.RawCitationURLs, row.RawCitationTitles, row.RawCitationCited = none.RawCitationURLs, none.RawCitationTitles, none.RawCitationCited
	row.InputTokens, row.OutputTokens, row.Searches, row.CostUSD = none.InputTokens, none.OutputTokens, none.Searches, none.CostUSD
}
