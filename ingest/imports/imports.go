// Package imports appends facts to the log: lines of answers that were captured elsewhere (NDJSON), lines of visits and
// crawls that were exported, requests of AI crawlers in access logs, and facts that the simulator made.
//
// An import is idempotent, whenever it is repeated. An answer's id is made of what identifies it (brand, prompt text,
// platform, model, region, sample, answered_at), so importing a file again makes the same ids: those in the warehouse
// are skipped, and the sink drops one that is appended twice. An import that was killed is continued by running it
// again. An exported visit or crawl keeps its id.
//
// A line that cannot be counted is refused with its number and with what would be right, and the import goes on.
// Memory is bounded: one batch of lines and the ids of the last ones.
//
// Decisions that the format of answers leaves open:
//   - Unknown fields are ignored. A line that has a field twice is refused, since either value could be meant.
//   - null is the same as absent. An optional text may be empty.
//   - Bytes that are not UTF-8 refuse the line; an escaped half of a surrogate pair becomes U+FFFD.
//   - An integer may be written 1, 1.0 or 1e0.
//   - Times are in milliseconds: two that differ by less are the same instant.
//   - An empty text refuses the line unless it has products: no answer was captured.
//   - A citation with an empty url cites nothing and is left out.
//   - A line may have given_up, an error class, with given_up_error, in place of a text: a run that ended without an
//     answer, as an export writes it.
//   - A line of a frozen month, whose raw answers have expired, is refused.
//   - A line without a prompt that has event is an exported visit, one that has crawler a crawl. They are imported for
//     one brand.
//   - Blank lines, a byte-order mark at the beginning and CRLF are ignored.
package imports

import (
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
)

// limits bound what an import holds at a time.
type limits struct {
	lineBytes  int // a longer line is refused
	batchLines int // lines that are looked up and appended together
	batchBytes int // a batch ends when it has so many, even with fewer lines
	remembered int // ids of earlier lines, so that equal lines are recognized
	listed     int // refusals that the summary lists; it counts them all

	logCrawls int           // crawls of an access log that are looked up and appended together
	linger    time.Duration // how long a crawl of a followed file waits for others
}

// defaultLimits are about 50 MB, and 100 MB of an access log.
var defaultLimits = limits{
	lineBytes: 8 << 20, batchLines: 1000, batchBytes: 8 << 20, remembered: 1 << 20, listed: 1000,
	logCrawls: 2000, linger: time.Second,
}

const (
	longestLogLine  = 256 << 10 // bytes; a longer line of an access log is refused
	rememberedLines = 1 << 19   // distinct lines of an access log whose ordinals are kept, twice as many at most
)

// Importer appends facts to the log.
type Importer struct {
	limits   limits
	producer *producer.Producer
	store    *postgres.DB
	lookups  Lookups
	now      func() time.Time

	// Observe is nil, or called with each answer that Import appends; it may keep the answer and must not change it.
	Observe func(*event.Answer)
}

// Lookups find facts in the warehouse.
type Lookups struct{ Answers, Visits, Crawls answer.Lookup }

// New returns an importer that does nothing yet. now is the clock.
func New(producer *producer.Producer, store *postgres.DB, lookups Lookups, now func() time.Time) *Importer {
	return &Importer{limits: defaultLimits, producer: producer, store: store, lookups: lookups, now: now}
}

// Counts count the facts of an import, one for each line and brand. Refused counts lines, or answers where only the
// record of one brand was refused.
type Counts struct {
	Imported int `json:"imported"` // Kafka has them
	Skipped  int `json:"skipped"`  // were in the warehouse, or earlier in the file
	Refused  int `json:"refused"`
}

// Summary is the outcome of an import.
type Summary struct {
	Counts
	Refusals []Refusal `json:"refusals"` // the first thousand of them
}

// Refusal is a refused line, with what would be right.
type Refusal struct {
	Line   int       `json:"line"`              // from 1; 0 for a fact that came from no file
	Brand  uuid.UUID `json:"brand_id,omitzero"` // where it concerns one of several brands
	Reason string    `json:"reason"`
}

// Progress is how far an import is.
type Progress struct {
	Bytes   int64 // read of the file
	Summary Summary
}

// Interrupted is an import that ended early. The same import again continues from there.
type Interrupted struct {
	Line     int    // the last line of which all facts are on the log; 0 none
	Imported int    // facts that Kafka had acknowledged
	Facts    string // what they are called
	Cause    error
}

func (e *Interrupted) Error() string {
	const text = "stopped after line %d; Kafka has acknowledged %d %s, and the same import again goes on from there: %v"
	return fmt.Sprintf(text, e.Line, e.Imported, e.Facts, e.Cause)
}

func (e *Interrupted) Unwrap() error { return e.Cause }
