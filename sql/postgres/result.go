package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Result is an answer with its reading, a row of prompt_results. A zero byte of a text is stored as U+FFFD.
type Result struct {
	ID             uuid.UUID // the answer's
	PromptID       uuid.UUID
	BrandID        uuid.UUID
	OrganizationID uuid.UUID
	Platform       string
	Model          string // requested; "" where none was
	ServedModel    string // "" where the platform does not say
	Region         string // "" where none was asked for
	Sample         int64
	Response       string
	SearchQueries  []string
	JobID          uuid.UUID // nil for none
	AnsweredAt     time.Time

	Revision       int64 // of the names that it is read by
	ExtractVersion int   // of the reader
	Mentions       int
	Citations      int    // of the brand's own domains
	Position       int    // 1-based; 0: not named
	Sentiment      string // positive, neutral, negative or unknown
	Visibility     int    // 0..100
	Sources        []ResultSource
	Competitors    []ResultCompetitor
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

// ErrRefused says that Postgres will never take a row.
var ErrRefused = errors.New("refused")

type (
	// readingRows are the readings of results.
	readingRows struct {
		IDs, Brands                    []uuid.UUID // of equal length, as all lists
		Sources                        []string
		Mentions, Citations, Positions []int32
		Sentiments                     []string
		Visibilities                   []int32
		Competitors                    []string
		Revisions                      []int64
		ExtractVersions                []int32
	}
	resultRows struct {
		readingRows
		Prompts, Organizations                   []uuid.UUID
		Platforms, Models, ServedModels, Regions []string
		Samples                                  []int64
		Responses, SearchQueries                 []string
		Jobs                                     []uuid.UUID
		AnsweredAt                               []time.Time
		Old                                      time.Time
		Change                                   bool
	}
	resultPairs struct {
		Prompts   []uuid.UUID
		Platforms []string
		Old       time.Time
	}
	oldResults struct {
		Old  time.Time
		Most int
	}
)

var (
	storePromptResults    = query[resultRows, ResultCounts]("store_prompt_results")
	dropSupersededResults = query[resultPairs, none]("drop_superseded_results")
	prunePromptResults    = query[oldResults, none]("prune_prompt_results")
)

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
	rows := resultRows{Old: old, Change: change}
	pairs := resultPairs{Old: old}
	for i := range results {
		rows.add(&results[i])
		if results[i].AnsweredAt.Before(old) {
			pairs.Prompts = append(pairs.Prompts, results[i].PromptID)
			pairs.Platforms = append(pairs.Platforms, storable(results[i].Platform))
		}
	}
	counts, err := storePromptResults.one(ctx, tx, rows)
	if err != nil {
		return ResultCounts{}, refusal(err)
	}
	if len(pairs.Prompts) > 0 { // a history that comes in its order would stay whole until the next pruning
		if _, err := dropSupersededResults.run(ctx, tx, pairs); err != nil {
			return ResultCounts{}, err
		}
	}
	return counts, nil
}

func (rows *resultRows) add(r *Result) {
	rows.readingRows.add(r)
	rows.Prompts = append(rows.Prompts, r.PromptID)
	rows.Organizations = append(rows.Organizations, r.OrganizationID)
	rows.Platforms = append(rows.Platforms, storable(r.Platform))
	rows.Models = append(rows.Models, storable(r.Model))
	rows.ServedModels = append(rows.ServedModels, storable(r.ServedModel))
	rows.Regions = append(rows.Regions, storable(r.Region))
	rows.Samples = append(rows.Samples, r.Sample)
	rows.Responses = append(rows.Responses, storable(r.Response))
	rows.SearchQueries = append(rows.SearchQueries, storableJSON(r.SearchQueries))
	rows.Jobs = append(rows.Jobs, r.JobID)
	rows.AnsweredAt = append(rows.AnsweredAt, r.AnsweredAt)
}

func (rows *readingRows) add(r *Result) {
	rows.IDs = append(rows.IDs, r.ID)
	rows.Brands = append(rows.Brands, r.BrandID)
	rows.Sources = append(rows.Sources, storableJSON(r.Sources))
	rows.Mentions = append(rows.Mentions, int32(r.Mentions))
	rows.Citations = append(rows.Citations, int32(r.Citations))
	rows.Positions = append(rows.Positions, int32(r.Position))
	rows.Sentiments = append(rows.Sentiments, r.Sentiment)
	rows.Visibilities = append(rows.Visibilities, int32(r.Visibility))
	rows.Competitors = append(rows.Competitors, storableJSON(r.Competitors))
	rows.Revisions = append(rows.Revisions, r.Revision)
	rows.ExtractVersions = append(rows.ExtractVersions, int32(r.ExtractVersion))
}

// storable is text with U+FFFD for every zero byte, which Postgres cannot store.
func storable(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// storableJSON is a list as JSON, with U+FFFD for every zero byte of its texts.
func storableJSON[E any](list []E) string {
	if list == nil {
		return "[]"
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // texts, numbers and ids always marshal
	}
	return zeroBytes.Replace(string(text))
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
	deleted, err := prunePromptResults.run(ctx, db, oldResults{old, most})
	if err != nil {
		return 0, fmt.Errorf("prune results from before %s: %w", old.Format(time.DateOnly), err)
	}
	return deleted, nil
}
