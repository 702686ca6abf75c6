package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Result is an answer with its reading, a row of prompt_results by the names of its columns. U+FFFD is stored for a
// zero byte of a text, and for what is no UTF-8.
type Result struct {
	ID             uuid.UUID `json:"id"` // the answer's
	PromptID       uuid.UUID `json:"prompt_id"`
	BrandID        uuid.UUID `json:"brand_id"`
	OrganizationID uuid.UUID `json:"organization_id"`
	Platform       string    `json:"platform"`
	Model          string    `json:"model_used"`   // requested; "" where none was
	ServedModel    string    `json:"served_model"` // "" where the platform does not say
	Region         string    `json:"region"`       // "" where none was given
	Sample         int64     `json:"sample"`
	Response       string    `json:"response"`
	SearchQueries  []string  `json:"search_queries"`
	JobID          uuid.UUID `json:"job_id"` // nil for none
	AnsweredAt     time.Time `json:"created_at"`

	Revision       int64              `json:"revision"`        // of the names that it is read by
	ExtractVersion int                `json:"extract_version"` // of the reader
	Mentions       int                `json:"mention_count"`
	Citations      int                `json:"citation_count"`   // of the brand's own domains
	Position       int                `json:"mention_position"` // 1-based; 0: not named
	Sentiment      string             `json:"sentiment"`        // positive, neutral, negative or unknown
	Visibility     int                `json:"visibility_score"` // 0..100
	Sources        []ResultSource     `json:"citations"`
	Competitors    []ResultCompetitor `json:"competitor_mentions"`
}

// ResultSource is a URL of an answer.
type ResultSource struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Cited bool   `json:"cited"` // false: only consulted
	Type  string `json:"type"`  // owned, competitor, forum, social, review, institutional or editorial
}

// ResultCompetitor is what an answer says of a competitor.
type ResultCompetitor struct {
	ID         uuid.UUID `json:"competitor_id"`
	Name       string    `json:"name"`
	Mentions   int       `json:"mention_count"`
	Citations  int       `json:"citation_count"`
	Visibility int       `json:"visibility_score"`
	Position   *int      `json:"mention_position"` // nil: not named
}

// ResultCounts counts what became of results. Those that are in neither Added nor Changed had a reading as new, if they
// are Current.
type ResultCounts struct {
	Live    int64 `db:"live"`    // whose brand and prompt exist
	Current int64 `db:"current"` // of those, not old, or the newest of their prompt and platform
	Added   int64 `db:"added"`   // of those, new
	Changed int64 `db:"changed"` // of those, with a newer reading
}

// OutdatedResult is a result with a reading by an earlier extractor.
type OutdatedResult struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	CreatedAt      time.Time `db:"created_at"`
}

// ErrRefused says that Postgres will never take a row.
var ErrRefused = errors.New("refused")

// StoreResults adds the first results of answers that have none, then gives those of rereads their newer reading, or
// adds them; all or nothing. Neither list has an id twice. Results whose brand or prompt was deleted are left out, and
// so are those from before old that are not the newest of their prompt and platform. The error is ErrRefused when
// Postgres does not take a row.
func (db *DB) StoreResults(ctx context.Context, first, rereads []Result, old time.Time) (added, changed ResultCounts, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var err error
		if added, err = storeResults(ctx, tx, first, old, false); err != nil {
			return err
		}
		changed, err = storeResults(ctx, tx, rereads, old, true)
		return err
	})
	if err != nil {
		return ResultCounts{}, ResultCounts{}, fmt.Errorf("store %d results and %d rereads: %w", len(first), len(rereads), err)
	}
	return added, changed, nil
}

func storeResults(ctx context.Context, tx pgx.Tx, results []Result, old time.Time, change bool) (ResultCounts, error) {
	if len(results) == 0 {
		return ResultCounts{}, nil
	}
	rows, err := rowsOf(results)
	if err != nil {
		return ResultCounts{}, err
	}
	counts, err := queryOne[ResultCounts](ctx, tx, "store_prompt_results", rows, old, change)
	if err == nil && slices.ContainsFunc(results, func(r Result) bool { return r.AnsweredAt.Before(old) }) {
		err = exec(ctx, tx, "drop_superseded_results", rows, old) // a history that comes in its order would stay whole until the next pruning
	}
	return counts, refusal(err)
}

// rowsOf are results as JSON, with U+FFFD for every zero byte, which Postgres cannot store.
func rowsOf(results []Result) (string, error) {
	text, err := json.Marshal(results)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err) // a time that JSON does not have
	}
	return zeroBytes.Replace(string(text)), nil
}

// zeroBytes replaces zero bytes as JSON writes them. An escaped backslash before the letter u is not the start of one.
var zeroBytes = strings.NewReplacer(`\\`, `\\`, `\u0000`, "\uFFFD")

// refusal is ErrRefused where a value does not fit its type, a check or an index.
func refusal(err error) error {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (strings.HasPrefix(refused.Code, "22") || refused.Code == "23514" || strings.HasPrefix(refused.Code, "54")) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// PruneResults deletes results from before old that are not the newest of their prompt and platform, at most most of
// them, and returns how many.
func (db *DB) PruneResults(ctx context.Context, old time.Time, most int) (int64, error) {
	deleted, err := execRows(ctx, db, "prune_prompt_results", old, most)
	return deleted, wrap(err, "prune results from before %s", old.Format(time.DateOnly))
}

// OutdatedResultBrands are the brands that have results of an extractor before extractVersion.
func (db *DB) OutdatedResultBrands(ctx context.Context, extractVersion int) ([]uuid.UUID, error) {
	brands, err := queryAll[uuid.UUID](ctx, db, "outdated_result_brands", extractVersion)
	return brands, wrap(err, "find results of extractors before %d", extractVersion)
}

// OutdatedResults are a brand's results of an extractor before extractVersion, newest first, at most most of them, that
// come after one of them; nil starts.
func (db *DB) OutdatedResults(ctx context.Context, brand uuid.UUID, extractVersion int, after *OutdatedResult, most int) ([]OutdatedResult, error) {
	if after == nil {
		after = &OutdatedResult{CreatedAt: time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)}
	}
	outdated, err := queryAll[OutdatedResult](ctx, db, "outdated_results", brand, extractVersion, after.CreatedAt, after.ID, most)
	return outdated, wrap(err, "find results of brand %s by extractors before %d", brand, extractVersion)
}

// RenewResults updates the readings of results where the given ones are newer, and returns how many it updated. Of a
// Result only its ids and its reading count.
func (db *DB) RenewResults(ctx context.Context, results []Result) (int64, error) {
	rows, err := rowsOf(results)
	if err != nil {
		return 0, err
	}
	renewed, err := execRows(ctx, db, "renew_results", rows)
	return renewed, wrap(err, "renew %d results", len(results))
}
