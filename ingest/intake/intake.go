package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
	"github.com/gofrs/uuid/v5"
)

// Config bounds what an import holds at a time.
type Config struct {
	LineBytes  int // a longer line is refused
	BatchLines int // lines that are looked up and appended together
	BatchBytes int // a batch ends when it has so many, whatever its lines
	Remembered int // ids of earlier lines, so that equal lines are told apart
	Listed     int // refusals that the summary lists; it counts them all
}

// DefaultConfig holds at most about 50 MB.
func DefaultConfig() Config {
	return Config{LineBytes: 8 << 20, BatchLines: 1000, BatchBytes: 8 << 20, Remembered: 1 << 20, Listed: 1000}
}

// Validate says every bound that is not one.
func (c Config) Validate() error {
	var errs []error
	for _, bound := range []struct {
		name  string
		value int
	}{{"line bytes", c.LineBytes}, {"batch lines", c.BatchLines}, {"batch bytes", c.BatchBytes}, {"remembered", c.Remembered}, {"listed", c.Listed}} {
		if bound.value < 1 {
			errs = append(errs, fmt.Errorf("intake: %s is %d: want 1 or more", bound.name, bound.value))
		}
	}
	return errors.Join(errs...)
}

// Landings tells which answers of a brand have landed in the warehouse. An
// answer lies on the day of event.IDTime of its id or on the one after it.
type Landings interface {
	Landed(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Intake appends answers to the log.
type Intake struct {
	config   Config
	log      *producer.Producer
	store    *postgres.DB
	landings Landings
	now      func() time.Time
}

// New returns an intake that does nothing yet. now is the clock.
func New(config Config, log *producer.Producer, store *postgres.DB, landings Landings, now func() time.Time) (*Intake, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Intake{config, log, store, landings, now}, nil
}

// Summary is what became of the answers that were given, one for each line and
// brand. Refused counts lines, or answers where one brand's record alone was
// refused.
type Summary struct {
	Imported int       `json:"imported"` // Kafka has them
	Skipped  int       `json:"skipped"`  // had landed, or were earlier in the file
	Refused  int       `json:"refused"`
	Refusals []Refusal `json:"refusals"` // the first Config.Listed of them
}

// Refusal says which line was refused, and what would be right.
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

// Interrupted is an import that ended early. What Kafka had acknowledged by then is
// in Summary; importing again goes on from there.
type Interrupted struct {
	Summary Summary
	Line    int // the last line of which everything is on the log; 0 none
	Cause   error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("stopped after line %d; Kafka has acknowledged %d answers, and the same import again goes on from there: %v", e.Line, e.Summary.Imported, e.Cause)
}

func (e *Interrupted) Unwrap() error { return e.Cause }
