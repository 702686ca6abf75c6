package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A batch that the server refuses for a row of it would be refused for ever, and
// everything behind it would wait. So the records that it is refused for are looked
// for, and left out:
//
//  1. find: halves of the batch are inserted into a twin of the tables and views,
//     which remembers no tokens and counts for nobody
//  2. mark: the records that are refused alone are written down
//  3. insert: the batch without them, under the token of the whole: what the refused
//     insert has left in some tables is taken for this batch there
//  4. withdraw: their rows, which it may have left in the landing table, are deleted
//  5. keep: each becomes a dead letter, under a token of its own
//
// Which records these are depends on the server, which may be another or mended
// after a crash. So a batch that was tried before is looked up among the marks and
// leaves out what is marked, whatever the server would take by then: the tables that
// have its token from step 3 would never take those rows, and count them nowhere.
// A crash before 2 leaves nothing to look up, and the whole batch is sent again:
// either it is taken now, or the search is done again. Two consumers that do all this
// at once and come to different ends leave a record in the landing table, in the dead
// letters, or in both, never in neither.
//
// Rollups that took the rows before another one refused them still have them after
// step 4. So the month is suspect (clickhouse.Suspects) until it is reconciled, and
// the dead letters are not replayed before.

// sending is what a batch is called on its way into the tables, and where its
// records are.
type sending struct {
	name, token string
	plan        *consume.Plan
	from, to    clickhouse.RecordPlace // its first and its last record
	tries       int                    // how often it may have been sent before
	fetch       func(ctx context.Context, offsets []int64) ([]*consume.Record, error)
}

func sendingOf[T any](b *consume.Batch[T]) sending {
	return sending{
		name: b.String(), token: b.Token(), plan: &b.Plan, tries: b.Tries, fetch: b.FetchAll,
		from: clickhouse.RecordPlace{Topic: b.Topic, Partition: b.Partition, Offset: b.First},
		to:   clickhouse.RecordPlace{Topic: b.Topic, Partition: b.Partition, Offset: b.Last},
	}
}

// placed are rows of a landing table.
type placed interface{ Place() clickhouse.RowPlace }

// verdicts are what the server said of records that it refused, by their offsets.
type verdicts map[int64]string

const (
	refusedReason = "refused"
	// patience is how often a batch is tried again before an error that nobody has
	// thought of is taken for its records' fault.
	patience = 5
	// foundAtOnce bounds how long one search takes: what it has found is kept, and
	// the next try looks for more.
	foundAtOnce = 20
)

// insert inserts the rows of a batch but for those of records that the server
// refuses, which it returns as they are and as dead letters.
func (l *landing[R]) insert(ctx context.Context, s sending, rows []R, ours func() error) (refused []R, letters []clickhouse.DeadLetter, err error) {
	left := verdicts{}
	if s.tries > 0 {
		if left, err = l.marked(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	for {
		var taken []R
		taken, refused = parted(rows, left)
		if err := ours(); err != nil {
			return nil, nil, err
		}
		err := l.send(ctx, s, taken, ours)
		if err == nil {
			break
		}
		if !suspicious(err, s.tries) {
			return nil, nil, err
		}
		found, err := l.judge(ctx, s, taken, err, ours)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(left, found)
	}
	if len(refused) == 0 {
		return nil, nil, nil
	}
	letters, err = l.leaveOut(ctx, s, refused, left, ours)
	return refused, letters, err
}

// suspicious says whether an insert failed for a row, as far as one can tell.
func suspicious(err error, tries int) bool {
	switch clickhouse.BlameOf(err) {
	case clickhouse.Rows:
		return true
	case clickhouse.PerhapsRows:
		return tries >= patience
	default:
		return false
	}
}

// parted splits rows into those that are inserted and those of refused records.
func parted[R placed](rows []R, left verdicts) (taken, refused []R) {
	if len(left) == 0 {
		return rows, nil
	}
	for _, row := range rows {
		if _, out := left[row.Place().Record.Offset]; out {
			refused = append(refused, row)
		} else {
			taken = append(taken, row)
		}
	}
	return taken, refused
}

// without takes back what was counted of refused records: a telling is one row, a
// correction two.
func without[R placed](of outcomes, refused []R) outcomes {
	for record := range byRecord(refused) {
		if len(record) == 1 {
			of[told]--
		} else {
			of[corrected]--
		}
	}
	return of
}

// marked are the records of a batch that an earlier try has found. What a search
// that crashed has left is taken away.
func (l *landing[R]) marked(ctx context.Context, s sending) (verdicts, error) {
	marks, err := clickhouse.MarksBetween(ctx, l.conn, s.from, s.to)
	if err != nil {
		return nil, err
	}
	left := verdicts{}
	for _, m := range marks {
		if m.Mark.Mark == clickhouse.MarkRefused {
			left[m.Offset] = m.Detail
		}
	}
	return left, clickhouse.DropTwin(ctx, l.conn, s.probe())
}

// judge finds records that a batch is refused for, and marks them.
func (l *landing[R]) judge(ctx context.Context, s sending, rows []R, cause error, ours func() error) (verdicts, error) {
	l.log.Warn("batch refused, looking for the records", "batch", s.name, "cause", cause,
		"next", "nothing yet: the records that it is refused for become dead letters, and the rest lands")
	began := time.Now()
	found, searched := l.search(ctx, s, rows)
	l.metrics.searches.Observe(time.Since(began).Seconds())
	if searched != nil && !errors.Is(searched, errMany) {
		return nil, fmt.Errorf("look for what is refused: %w (%w)", searched, cause)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("a twin of the tables takes each of its records: %w", cause)
	}
	follow(found, rows)
	var marks []clickhouse.Mark
	for _, row := range rows {
		at := row.Place()
		if detail, out := found[at.Record.Offset]; out {
			marks = append(marks, clickhouse.Mark{
				Topic: at.Record.Topic, Partition: at.Record.Partition, Offset: at.Record.Offset,
				Mark: clickhouse.MarkRefused, Landing: l.table.Name, Month: at.Month(), Detail: detail,
			})
		}
	}
	if err := ours(); err != nil {
		return nil, err
	}
	if err := clickhouse.MarkRecords(ctx, l.conn, marks); err != nil {
		return nil, err
	}
	return found, searched
}

// probe is the name of the twin in which a partition's batches are looked through.
func (s *sending) probe() string {
	topic := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s.from.Topic)
	return fmt.Sprintf("probe_%s_%d", topic, s.from.Partition)
}

// dropPatience is how long a twin is tried to be dropped when nobody waits any more.
const dropPatience = 10 * time.Second

// search inserts halves of rows into a twin. Rows of one record stay together: a
// correction is two.
func (l *landing[R]) search(ctx context.Context, s sending, rows []R) (found verdicts, err error) {
	twin, err := clickhouse.Twin(ctx, l.conn, s.probe(), false)
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
		defer cancel()
		err = errors.Join(err, clickhouse.DropTwin(ctx, l.conn, s.probe()))
	}()
	below := clickhouse.Below{Topic: s.from.Topic, Partition: s.from.Partition, Offset: s.from.Offset}
	if err := l.table.TryLanded(ctx, l.conn, twin, below); err != nil {
		return nil, fmt.Errorf("rows that have landed are refused too, so that the tables or views are wrong, or others now: %w", err)
	}
	found = verdicts{}
	probe := l.table.In(twin)
	h := hunt[[]R]{
		try:     func(some [][]R) error { return probe.Insert(ctx, l.conn, s.token, slices.Concat(some...)) },
		refused: func(err error) bool { return clickhouse.BlameOf(err) != clickhouse.NotRows },
		found:   func(record []R, by error) { found[record[0].Place().Record.Offset] = detailOf(by.Error()) },
		most:    foundAtOnce,
	}
	return found, h.among(slices.Collect(byRecord(rows)))
}

// byRecord are the rows of each record.
func byRecord[R placed](rows []R) iter.Seq[[]R] {
	return func(yield func([]R) bool) {
		for first := 0; first < len(rows); {
			last := first + 1
			for last < len(rows) && rows[last].Place().Record == rows[first].Place().Record {
				last++
			}
			if !yield(rows[first:last]) {
				return
			}
			first = last
		}
	}
}

// follow adds the records that tell more of what a refused one has told first: a
// correction of rows that are not there would take away what was never counted.
func follow[R placed](left verdicts, rows []R) {
	type key struct{ organization, brand, id clickhouse.UUID }
	refused := map[key]int64{}
	for _, row := range rows {
		at := row.Place()
		k := key{at.OrganizationID, at.BrandID, at.ID}
		if _, out := left[at.Record.Offset]; out {
			refused[k] = at.Record.Offset
		} else if first, follows := refused[k]; follows {
			left[at.Record.Offset] = fmt.Sprintf("it corrects what offset %d tells, which is refused", first)
		}
	}
}

// leaveOut deletes what the landing table may have of refused records, and makes
// dead letters of them. Each has a token of its own: which others there are may be
// found out later.
func (l *landing[R]) leaveOut(ctx context.Context, s sending, refused []R, left verdicts, ours func() error) ([]clickhouse.DeadLetter, error) {
	var places []clickhouse.RowPlace
	var offsets []int64
	for _, row := range refused {
		at := row.Place()
		places, offsets = append(places, at), append(offsets, at.Record.Offset)
	}
	if err := ours(); err != nil {
		return nil, err
	}
	if err := l.table.Withdraw(ctx, l.conn, places); err != nil {
		return nil, err
	}
	records, err := s.fetch(ctx, slices.Compact(offsets))
	if err != nil {
		return nil, err
	}
	var letters []clickhouse.DeadLetter
	for _, r := range records {
		letter, _ := deadLetter(r, refusedReason, left[r.Offset])
		if err := ours(); err != nil {
			return nil, err
		}
		token := fmt.Sprintf("%s/refused@%d", s.token, r.Offset)
		if err := clickhouse.DeadLetters.Insert(ctx, l.conn, token, []clickhouse.DeadLetter{*letter}); err != nil {
			return nil, err
		}
		letters = append(letters, *letter)
	}
	return letters, nil
}
