// Package results keeps table prompt_results of Postgres: one row for each answer whose prompt exists, for clients that
// read rows instead of figures. A surface that was seen without an answer has a row, too. Given-up runs have none.
//
// It reads topic answers in a consumer group of its own, so that slow or refused writes here delay nothing else. The
// replay of a batch changes no row: a first record inserts the row if it is missing, a reread updates an older one.
package results

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	maxAge       = 90 * 24 * time.Hour // older rows stay only as the newest of their prompt and platform
	writeTimeout = 30 * time.Second    // of an attempt to write a batch, and of one statement of Prune
)

// Results writes topic answers to Postgres. It is safe for concurrent use.
type Results struct {
	extractVersion int
	db             *postgres.DB
	warehouse      *clickhouse.Conn // only Renew reads it
	now            func() time.Time
	metrics        *metrics
	log            *slog.Logger
}

// New returns the target of the results group. extractVersion is one that this build carries.
func New(
	extractVersion int, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time,
	registerer prometheus.Registerer, log *slog.Logger,
) *Results {
	return &Results{extractVersion, db, warehouse, now, newMetrics(registerer), log}
}

// Item is a decoded record.
type Item struct {
	result *postgres.Result // nil: the record has no row
	reread bool
}

// Version is the extract version that answers are read with.
func (r *Results) Version() int { return r.extractVersion }

// Supports is always true: a row names the version that read it, and a replay may make other rows than the plan did.
func (r *Results) Supports(int) bool { return true }

// Decode makes the row of a record. A malformed record has none: it is a dead letter of the sink. An answer with a cost
// or price that the landing table refuses has no row here either.
func (r *Results) Decode(version int, record consume.Record) (item Item, month int, err error) {
	if _, ok := extract.At(version); !ok {
		version = r.extractVersion
	}
	row, reread, err := sink.DecodeAnswer(version, record)
	switch {
	case errors.Is(err, event.ErrNewer):
		return Item{}, 0, err
	case err != nil, row.GivenUp:
		return Item{}, 0, nil //nolint:nilerr // a malformed record has no row
	}
	return Item{resultOf(&row), reread}, 0, nil
}

// Insert writes the rows of a batch, except a row that Postgres refuses.
func (r *Results) Insert(ctx context.Context, b *consume.Batch[Item], checkOwnership func() error) error {
	if err := checkOwnership(); err != nil {
		return err
	}
	var o outcomes
	first, rereads := deduplicate(b.Items, &o)
	if err := r.write(ctx, first, rereads, &o); err != nil {
		return err
	}
	r.metrics.count(o)
	return nil
}

// deduplicate returns the first record and the newest reread of each id: no other record of the batch can count.
func deduplicate(items []Item, o *outcomes) (first, rereads []postgres.Result) {
	seen, index := map[uuid.UUID]bool{}, map[uuid.UUID]int{}
	for _, item := range items {
		if item.result == nil {
			o.skipped++
			continue
		}
		id := item.result.ID
		at, seenReread := index[id]
		switch {
		case !item.reread && !seen[id]:
			seen[id] = true
			first = append(first, *item.result)
			continue
		case item.reread && !seenReread:
			index[id] = len(rereads)
			rereads = append(rereads, *item.result)
			continue
		case item.reread && newer(item.result, &rereads[at]):
			rereads[at] = *item.result
		}
		o.duplicate++
	}
	return first, rereads
}

func newer(a, b *postgres.Result) bool {
	return a.Revision > b.Revision || a.Revision == b.Revision && a.ExtractVersion > b.ExtractVersion
}

// write writes rows in one transaction. If one of them is refused, it writes each half, so that only that row is left
// out. A retry after an error writes the same rows again, to no effect.
func (r *Results) write(ctx context.Context, first, rereads []postgres.Result, o *outcomes) error {
	if len(first)+len(rereads) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	added, changed, err := r.db.StoreResults(bounded, first, rereads, r.now().Add(-maxAge))
	switch {
	case err == nil:
		o.add(len(first)+len(rereads), added, changed)
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

// LastOffset is unknown: a batch that is written twice changes nothing.
func (r *Results) LastOffset(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}

type metrics struct {
	records *prometheus.CounterVec // by outcome
	pruned  prometheus.Counter
	renewed prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	return &metrics{
		records: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_results_records_total",
			Help: "Records of topic answers by their outcome in prompt_results: inserted, corrected, duplicate, old, " +
				"orphaned (the prompt is deleted), skipped (a dead letter, or a given-up run), refused.",
		}, []string{"outcome"}),
		pruned: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_results_pruned_total", Help: "Rows of prompt_results that were deleted for their age.",
		}),
		renewed: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_results_renewed_total",
			Help: "Rows of prompt_results that took over a newer reading from the warehouse.",
		}),
	}
}

// outcomes counts the records of a batch.
type outcomes struct{ inserted, corrected, duplicate, old, orphaned, skipped, refused int64 }

// add counts the rows of one transaction.
func (o *outcomes) add(rows int, first, rereads postgres.ResultCounts) {
	live, current := first.Live+rereads.Live, first.Current+rereads.Current
	inserted, corrected := first.Added+rereads.Added, first.Changed+rereads.Changed
	o.inserted += inserted
	o.corrected += corrected
	o.duplicate += current - inserted - corrected
	o.old += live - current
	o.orphaned += int64(rows) - live
}

func (m *metrics) count(o outcomes) {
	for name, n := range map[string]int64{
		"inserted": o.inserted, "corrected": o.corrected, "duplicate": o.duplicate, "old": o.old,
		"orphaned": o.orphaned, "skipped": o.skipped, "refused": o.refused,
	} {
		m.records.WithLabelValues(name).Add(float64(n))
	}
}
