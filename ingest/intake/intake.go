package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
)

// limits bound what an import holds at a time.
type limits struct {
	lineBytes  int // a longer line is refused
	batchLines int // lines that are looked up and appended together
	batchBytes int // a batch ends when it has so many, whatever its lines
	remembered int // ids of earlier lines, so that equal lines are recognized
	listed     int // refusals that the summary lists; it counts them all
}

// defaultLimits are about 50 MB.
var defaultLimits = limits{lineBytes: 8 << 20, batchLines: 1000, batchBytes: 8 << 20, remembered: 1 << 20, listed: 1000}

// Landings looks up which answers of a brand are in the warehouse. An answer is on the day of event.IDTime of its id or
// on the one after it.
type Landings interface {
	Landed(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Intake appends answers to the log.
type Intake struct {
	limits   limits
	log      *producer.Producer
	store    *postgres.DB
	landings Landings
	now      func() time.Time
}

// New returns an intake that does nothing yet. now is the clock.
func New(log *producer.Producer, store *postgres.DB, landings Landings, now func() time.Time) *Intake {
	return &Intake{defaultLimits, log, store, landings, now}
}

// Summary counts the answers that were given, one for each line and brand. Refused counts lines, or answers where the
// record of one brand alone was refused.
type Summary struct {
	Imported int       `json:"imported"` // Kafka has them
	Skipped  int       `json:"skipped"`  // had landed, or were earlier in the file
	Refused  int       `json:"refused"`
	Refusals []Refusal `json:"refusals"` // the first thousand of them
}

// Refusal is a refused line, with what would be right.
type Refusal struct {
	Line   int       `json:"line"`              // from 1; 0 for an answer that came from no file
	Brand  uuid.UUID `json:"brand_id,omitzero"` // where it concerns one brand
	Reason string    `json:"reason"`
}

// Progress is how far an import is.
type Progress struct {
	Bytes   int64 // read of the file
	Summary Summary
}

// Interrupted is an import that ended early. What Kafka had acknowledged by then is in Summary; the same import again
// continues from there.
type Interrupted struct {
	Summary Summary
	Line    int // the last line of which all answers are on the log; 0 none
	Cause   error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("stopped after line %d; Kafka has acknowledged %d answers, and the same import again goes on from there: %v", e.Line, e.Summary.Imported, e.Cause)
}

func (e *Interrupted) Unwrap() error { return e.Cause }
