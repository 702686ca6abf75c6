package results

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
	"github.com/answerscope/answerscope/sql/postgres"
)

// Config says how long results are kept and how much is asked of Postgres at once.
type Config struct {
	ExtractVersion int           // what answers are read with
	Keep           time.Duration // results older than this stay only as the newest of their prompt and platform
	Patience       time.Duration // for one batch, or one pruning, to be written; it is tried again then
	Prune          int           // rows that one statement deletes at most
}

// DefaultConfig suits every size.
func DefaultConfig() Config {
	return Config{ExtractVersion: extract.Version, Keep: 90 * 24 * time.Hour, Patience: 30 * time.Second, Prune: 1000}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	var errs []error
	if _, known := extract.At(c.ExtractVersion); !known {
		errs = append(errs, fmt.Errorf("results extract version %d: want one that this build carries", c.ExtractVersion))
	}
	if c.Keep <= 0 {
		errs = append(errs, fmt.Errorf("results keep %v: want more than 0", c.Keep))
	}
	if c.Patience <= 0 {
		errs = append(errs, fmt.Errorf("results patience %v: want more than 0", c.Patience))
	}
	if c.Prune < 1 {
		errs = append(errs, fmt.Errorf("results prune %d: want at least 1", c.Prune))
	}
	return errors.Join(errs...)
}

// Results takes topic answers to Postgres. It is safe for concurrent use.
type Results struct {
	cfg       Config
	db        *postgres.DB
	warehouse *clickhouse.Conn // of Renew alone
	now       func() time.Time
	metrics   *metrics
	log       *slog.Logger
}

// New does nothing yet.
func New(cfg Config, db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, registerer prometheus.Registerer, log *slog.Logger) (*Results, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Results{cfg, db, warehouse, now, newMetrics(registerer), log}, nil
}

// Item is a record as a row, or as none.
type Item struct {
	row    *postgres.Result // nil: it has none
	reread bool
}

// Version is the extractor that answers are read with.
func (r *Results) Version() int { return r.cfg.ExtractVersion }

// Supports is always true: a row says which version read it, and a plan's rows need
// not be the same at its replay.
func (r *Results) Supports(int) bool { return true }

// Read makes the row of a record. What cannot be understood has none: it is among
// the dead letters of the warehouse.
func (r *Results) Read(version int, record consume.Record) (item Item, month int, err error) {
	read, ok := extract.At(version)
	if !ok {
		version = r.cfg.ExtractVersion
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

// Land writes the rows of a batch in one transaction. A row that Postgres refuses is
// left out.
func (r *Results) Land(ctx context.Context, b *consume.Batch[Item], ours func() error) error {
	if err := ours(); err != nil {
		return err
	}
	first, rereads, repeated := split(b.Items)
	done := outcome{unread: len(b.Items) - len(first) - len(rereads) - repeated, repeated: int64(repeated)}
	if err := r.keep(ctx, first, rereads, &done); err != nil {
		return err
	}
	r.metrics.count(done)
	return nil
}

// split gives of each id its first telling and its newest reread: of what a batch
// says of one answer, only these can count.
func split(items []Item) (first, rereads []postgres.Result, repeated int) {
	told, reread := map[uuid.UUID]bool{}, map[uuid.UUID]int{}
	for i := range items {
		row := items[i].row
		if row == nil {
			continue
		}
		at, again := reread[row.ID]
		switch {
		case !items[i].reread && told[row.ID]:
			repeated++
		case !items[i].reread:
			told[row.ID] = true
			first = append(first, *row)
		case !again:
			reread[row.ID] = len(rereads)
			rereads = append(rereads, *row)
		default:
			repeated++
			if newer(row, &rereads[at]) {
				rereads[at] = *row
			}
		}
	}
	return first, rereads, repeated
}

func newer(a, b *postgres.Result) bool {
	return a.Revision > b.Revision || a.Revision == b.Revision && a.ExtractVersion > b.ExtractVersion
}

// keep writes rows; where one of them is refused, in halves, so that it alone is left
// out. What was written before an error is written again at the next try, to no
// effect.
func (r *Results) keep(ctx context.Context, first, rereads []postgres.Result, done *outcome) error {
	if len(first)+len(rereads) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	old := r.now().Add(-r.cfg.Keep)
	added, changed, err := r.db.StoreResults(bounded, first, rereads, old)
	switch {
	case err == nil:
		done.add(len(first)+len(rereads), added, changed)
		return nil
	case !errors.Is(err, postgres.ErrRefused):
		return err
	case len(first)+len(rereads) == 1:
		id := slices.Concat(first, rereads)[0].ID
		r.log.Warn("result refused", "answer", id, "cause", err, "next", "nothing: the answer is counted, and has no row in prompt_results; tell us why it is refused")
		done.refused++
		return nil
	}
	// First tellings before rereads, as in one statement.
	i, j := len(first)/2, len(rereads)/2
	if len(first) > 0 && len(rereads) > 0 {
		i, j = len(first), 0
	}
	if err := r.keep(ctx, first[:i], rereads[:j], done); err != nil {
		return err
	}
	return r.keep(ctx, first[i:], rereads[j:], done)
}

// Position is unknown: a batch that is taken twice changes nothing.
func (r *Results) Position(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}
