// Package results keeps table prompt_results of Postgres: one row for each answer whose prompt exists, for clients that
// read rows instead of figures. Given-up runs have no row.
//
// It reads topic answers in a consumer group of its own, so that slow or refused writes here delay nothing else. The
// replay of a batch changes no row: a first record inserts the row if it is missing, a reread updates an older one.
package results

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	kept         = 90 * 24 * time.Hour // older rows stay only as the newest of their prompt and platform
	writeTimeout = 30 * time.Second    // of a batch, or of one statement of Prune; it is tried again then
)

// Results writes topic answers to Postgres. It is safe for concurrent use.
type Results struct {
	extractVersion int
	db             *postgres.DB
	warehouse      *clickhouse.Conn // of Renew alone
	now            func() time.Time
	metrics        *metrics
	log            *slog.Logger
}

// New does nothing yet. Answers are read with an extractVersion that this build carries.
func New(extractVersion int, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, registerer prometheus.Registerer, log *slog.Logger) *Results {
	return &Results{extractVersion, db, warehouse, now, newMetrics(registerer), log}
}

// Item is a record's row.
type Item struct {
	row    *postgres.Result // nil: it has none
	reread bool
}

// Version is the extractor that answers are read with.
func (r *Results) Version() int { return r.extractVersion }

// Supports is always true: a row names the version that read it, and a replay may make other rows than the plan did.
func (r *Results) Supports(int) bool { return true }

// Decode makes the row of a record. A malformed record has none: the sink makes a dead letter of it.
func (r *Results) Decode(version int, record consume.Record) (item Item, month int, err error) {
	read, ok := extract.At(version)
	if !ok {
		version = r.extractVersion
		read, _ = extract.At(version)
	}
	var a event.Answer
	switch err := event.DecodeAnswer(record.Value, &a); {
	case errors.Is(err, event.ErrNewer):
		return Item{}, 0, fmt.Errorf("%w: %w", consume.ErrNewer, err)
	case err != nil:
		return Item{}, 0, nil //nolint:nilerr // a malformed record is a dead letter of the sink, and no row
	case a.Reread != nil && a.Reread.MinExtractVersion > version:
		return Item{}, 0, fmt.Errorf("a reread, for extract version %d: %w", a.Reread.MinExtractVersion, consume.ErrNewer)
	case a.GivenUp != nil:
		return Item{}, 0, nil
	}
	reading := read(&a)
	return Item{rowOf(&a, &reading, version), a.Reread != nil}, 0, nil
}

// Insert writes the rows of a batch, but for a row that Postgres refuses.
func (r *Results) Insert(ctx context.Context, b *consume.Batch[Item], checkOwnership func() error) error {
	if err := checkOwnership(); err != nil {
		return err
	}
	var o outcomes
	first, rereads := r.deduplicate(b.Items, &o)
	if err := r.write(ctx, first, rereads, &o); err != nil {
		return err
	}
	r.metrics.count(o)
	return nil
}

// deduplicate gives the first record and the newest reread of each id: no other record of the batch can count.
func (r *Results) deduplicate(items []Item, o *outcomes) (first, rereads []postgres.Result) {
	seen, at := map[uuid.UUID]bool{}, map[uuid.UUID]int{}
	for i := range items {
		row := items[i].row
		if row == nil {
			o.skipped++
			continue
		}
		if !items[i].reread {
			if seen[row.ID] {
				o.duplicate++
				continue
			}
			seen[row.ID] = true
			first = append(first, *row)
			continue
		}
		n, known := at[row.ID]
		switch {
		case !known:
			at[row.ID] = len(rereads)
			rereads = append(rereads, *row)
			continue
		case newer(row, &rereads[n]):
			rereads[n] = *row
		}
		o.duplicate++
	}
	return first, rereads
}

func newer(a, b *postgres.Result) bool {
	return a.Revision > b.Revision || a.Revision == b.Revision && a.ExtractVersion > b.ExtractVersion
}

// write writes rows in one transaction. If one of them is refused, it writes each half, so that only that row is left
// out. Rows that were written before an error are written again at the next try, to no effect.
func (r *Results) write(ctx context.Context, first, rereads []postgres.Result, o *outcomes) error {
	if len(first)+len(rereads) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	done, again, err := r.db.StoreResults(bounded, first, rereads, r.now().Add(-kept))
	switch {
	case err == nil:
		o.add(len(first)+len(rereads), done, again)
		return nil
	case !errors.Is(err, postgres.ErrRefused):
		return err
	case len(first)+len(rereads) == 1:
		id := append(first, rereads...)[0].ID
		r.log.Warn("result refused", "answer", id, "cause", err,
			"next", "nothing: the answer is counted, and has no row in prompt_results; report this line as a bug")
		o.refused++
		return nil
	}
	i, j := len(first)/2, len(rereads)/2
	if len(first) > 0 && len(rereads) > 0 { // first records before rereads, as in one transaction
		i, j = len(first), 0
	}
	if err := r.write(ctx, first[:i], rereads[:j], o); err != nil {
		return err
	}
	return r.write(ctx, first[i:], rereads[j:], o)
}

// LastOffset is unknown: a batch that is read twice changes nothing.
func (r *Results) LastOffset(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}
