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
)

// Result is an answer with its reading: a row of prompt_results, by the names of its columns. U+FFFD replaces zero
// bytes and invalid UTF-8 in its texts.
type Result struct {
	ID             uuid.UUID `json:"id"` // the answer's
	PromptID       uuid.UUID `json:"prompt_id"`
	BrandID        uuid.UUID `json:"brand_id"`
	OrganizationID uuid.UUID `json:"organization_id"`
	Platform       string    `json:"platform"`
	Model          string    `json:"model_used"`   // requested; "": none
	ServedModel    string    `json:"served_model"` // "": unknown
	Provider       string    `json:"provider"`     // "": the platform was asked itself
	Finish         string    `json:"finish"`       // "": unknown; not_shown: the surface had no answer
	Region         string    `json:"region"`       // "": none
	Sample         int64     `json:"sample"`
	Response       string    `json:"response"`
	SearchQueries  []string  `json:"search_queries"`
	JobID          uuid.UUID `json:"job_id"` // nil for none
	AnsweredAt     time.Time `json:"created_at"`

	Revision       int64              `json:"revision"`        // of the brand's names
	ExtractVersion int                `json:"extract_version"` // of the extractor
	Mentions       int                `json:"mention_count"`
	Citations      int                `json:"citation_count"`   // of the brand's own domains
	Position       int                `json:"mention_position"` // 1-based; 0: not mentioned
	Sentiment      string             `json:"sentiment"`        // positive, neutral, negative or unknown
	Visibility     int                `json:"visibility_score"` // 0..100; stored as null where nothing was shown
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

// ResultCompetitor is the reading of an answer for a competitor.
type ResultCompetitor struct {
	ID         uuid.UUID `json:"competitor_id"`
	Name       string    `json:"name"`
	Mentions   int       `json:"mention_count"`
	Citations  int       `json:"citation_count"`
	Visibility int       `json:"visibility_score"`
	Position   *int      `json:"mention_position"` // nil: not mentioned
}

// ResultCounts counts results. Current results in neither Added nor Changed already had a reading at least as new.
type ResultCounts struct {
	Live    int64 `db:"live"`    // their brand and prompt exist
	Current int64 `db:"current"` // live, and not old or the newest of their prompt and platform
	Added   int64 `db:"added"`   // current and new
	Changed int64 `db:"changed"` // current, with a newer reading
}

// OutdatedResult is a result whose reading is by an earlier extractor.
type OutdatedResult struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	CreatedAt      time.Time `db:"created_at"`
}

// ErrRefused reports that PostgreSQL will never accept a row.
var ErrRefused = errors.New("refused")

// StoreResults adds the first results of answers, then updates or adds the results of rereads; all or nothing. Neither
// list has an id twice. It leaves out results whose brand or prompt was deleted, and results from before old that are
// not the newest of their prompt and platform. The error is ErrRefused when PostgreSQL does not accept a row.
func (db *DB) StoreResults(
	ctx context.Context, first, rereads []Result, old time.Time,
) (added, changed ResultCounts, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) (err error) {
		if added, err = storeResults(ctx, tx, first, old, false); err != nil {
			return err
		}
		changed, err = storeResults(ctx, tx, rereads, old, true)
		return err
	})
	if err != nil {
		added, changed = ResultCounts{}, ResultCounts{}
	}
	return added, changed, wrap(err, "store %d results and %d rereads", len(first), len(rereads))
}

func storeResults(ctx context.Context, tx Tx, results []Result, old time.Time, change bool) (ResultCounts, error) {
	if len(results) == 0 {
		return ResultCounts{}, nil
	}
	rows, err := rowsOf(results)
	if err != nil {
		return ResultCounts{}, err
	}
	counts, err := queryOne[ResultCounts](ctx, tx, "store_prompt_results", rows, old, change)
	if err == nil && slices.ContainsFunc(results, func(r Result) bool { return r.AnsweredAt.Before(old) }) {
		// A history in order of time would otherwise stay complete until the next pruning.
		err = exec(ctx, tx, "drop_superseded_results", rows, old)
	}
	return counts, refusal(err)
}

// rowsOf encodes results in JSON, with U+FFFD for every zero byte, which PostgreSQL cannot store.
func rowsOf(results []Result) (string, error) {
	text, err := json.Marshal(results)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err) // a time that JSON does not have
	}
	return zeroBytes.Replace(string(text)), nil
}

// zeroBytes replaces escaped zero bytes of JSON. An escaped backslash before the letter u does not begin one.
var zeroBytes = strings.NewReplacer(`\\`, `\\`, `\u0000`, "\uFFFD")

// refusal returns ErrRefused where a value does not fit its type, a check or an index.
func refusal(err error) error {
	code := sqlState(err)
	if code == "23514" || strings.HasPrefix(code, "22") || strings.HasPrefix(code, "54") {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// PruneResults deletes at most limit results from before old that are not the newest of their prompt and platform, and
// returns how many it deleted.
func (db *DB) PruneResults(ctx context.Context, old time.Time, limit int) (int64, error) {
	deleted, err := execRows(ctx, db, "prune_prompt_results", old, limit)
	return deleted, wrap(err, "prune results from before %s", old.Format(time.DateOnly))
}

// OutdatedResultBrands returns the brands that have results of extractors before extractVersion.
func (db *DB) OutdatedResultBrands(ctx context.Context, extractVersion int) ([]uuid.UUID, error) {
	brands, err := queryAll[uuid.UUID](ctx, db, "outdated_result_brands", extractVersion)
	return brands, wrap(err, "find results of extractors before %d", extractVersion)
}

// OutdatedResults returns a page of a brand's results of extractors before extractVersion, newest first: at most limit
// of them after one of them; nil starts.
func (db *DB) OutdatedResults(
	ctx context.Context, brand uuid.UUID, extractVersion int, after *OutdatedResult, limit int,
) ([]OutdatedResult, error) {
	if after == nil {
		after = &OutdatedResult{CreatedAt: time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)}
	}
	outdated, err := queryAll[OutdatedResult](ctx, db, "outdated_results",
		brand, extractVersion, after.CreatedAt, after.ID, limit)
	return outdated, wrap(err, "find results of brand %s by extractors before %d", brand, extractVersion)
}

// RenewResults updates the readings of stored results that are older than these, and returns how many it updated. It
// uses only the ids and the reading of a Result.
func (db *DB) RenewResults(ctx context.Context, results []Result) (int64, error) {
	rows, err := rowsOf(results)
	if err != nil {
		return 0, err
	}
	renewed, err := execRows(ctx, db, "renew_results", rows)
	return renewed, wrap(err, "renew %d results", len(results))
}
