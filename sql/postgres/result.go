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

// Result is an answer with its reading, a row of prompt_results. A zero byte of a
// text is kept as U+FFFD.
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

// Kept says what became of results. Those that are in neither Added nor Changed
// were there in a reading as new, if they are Current.
type Kept struct {
	Live    int64 `db:"live"`    // whose brand and prompt are there
	Current int64 `db:"current"` // of those, not old, or their pair's newest
	Added   int64 `db:"added"`   // of those, not there before
	Changed int64 `db:"changed"` // of those, read anew
}

// ErrRefused says that Postgres will not take a row, whenever it is asked.
var ErrRefused = errors.New("refused")

type (
	resultRows struct {
		IDs, Prompts, Brands, Organizations      []uuid.UUID // of equal length, as all lists
		Platforms, Models, ServedModels, Regions []string
		Samples                                  []int64
		Responses, Sources                       []string
		Mentions, Citations, Positions           []int32
		Sentiments                               []string
		Visibilities                             []int32
		Competitors, SearchQueries               []string
		Jobs                                     []uuid.UUID
		Revisions                                []int64
		ExtractVersions                          []int32
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
	keepPromptResults     = query[resultRows, Kept]("keep_prompt_results")
	dropSupersededResults = query[resultPairs, none]("drop_superseded_results")
	prunePromptResults    = query[oldResults, none]("prune_prompt_results")
)

// KeepResults adds the first tellings that are not there, then gives the rows of
// rereads their newer reading, or adds them; all or nothing. Neither list has an id
// twice. Results whose brand or prompt is gone are left out, and so are those from
// before old that are not the newest of their prompt and platform. The error is
// ErrRefused when it is a row that is not taken.
func (db *DB) KeepResults(ctx context.Context, first, rereads []Result, old time.Time) (added, changed Kept, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var err error
		if added, err = keepResults(ctx, tx, first, old, false); err != nil {
			return err
		}
		changed, err = keepResults(ctx, tx, rereads, old, true)
		return err
	})
	if err != nil {
		return Kept{}, Kept{}, fmt.Errorf("keep %d results and %d rereads: %w", len(first), len(rereads), err)
	}
	return added, changed, nil
}

func keepResults(ctx context.Context, tx pgx.Tx, results []Result, old time.Time, change bool) (Kept, error) {
	if len(results) == 0 {
		return Kept{}, nil
	}
	rows := resultRows{Old: old, Change: change}
	pairs := resultPairs{Old: old}
	for i := range results {
		rows.add(&results[i])
		if results[i].AnsweredAt.Before(old) {
			pairs.Prompts = append(pairs.Prompts, results[i].PromptID)
			pairs.Platforms = append(pairs.Platforms, keepable(results[i].Platform))
		}
	}
	kept, err := keepPromptResults.one(ctx, tx, rows)
	if err != nil {
		return Kept{}, refusal(err)
	}
	if len(pairs.Prompts) > 0 { // a history that comes in its order would stay whole until the next pruning
		if _, err := dropSupersededResults.run(ctx, tx, pairs); err != nil {
			return Kept{}, err
		}
	}
	return kept, nil
}

func (rows *resultRows) add(r *Result) {
	rows.IDs = append(rows.IDs, r.ID)
	rows.Prompts = append(rows.Prompts, r.PromptID)
	rows.Brands = append(rows.Brands, r.BrandID)
	rows.Organizations = append(rows.Organizations, r.OrganizationID)
	rows.Platforms = append(rows.Platforms, keepable(r.Platform))
	rows.Models = append(rows.Models, keepable(r.Model))
	rows.ServedModels = append(rows.ServedModels, keepable(r.ServedModel))
	rows.Regions = append(rows.Regions, keepable(r.Region))
	rows.Samples = append(rows.Samples, r.Sample)
	rows.Responses = append(rows.Responses, keepable(r.Response))
	rows.Sources = append(rows.Sources, r.sources())
	rows.Mentions = append(rows.Mentions, int32(r.Mentions))
	rows.Citations = append(rows.Citations, int32(r.Citations))
	rows.Positions = append(rows.Positions, int32(r.Position))
	rows.Sentiments = append(rows.Sentiments, r.Sentiment)
	rows.Visibilities = append(rows.Visibilities, int32(r.Visibility))
	rows.Competitors = append(rows.Competitors, r.competitors())
	rows.SearchQueries = append(rows.SearchQueries, r.searchQueries())
	rows.Jobs = append(rows.Jobs, r.JobID)
	rows.Revisions = append(rows.Revisions, r.Revision)
	rows.ExtractVersions = append(rows.ExtractVersions, int32(r.ExtractVersion))
	rows.AnsweredAt = append(rows.AnsweredAt, r.AnsweredAt)
}

// keepable is text as Postgres can keep it.
func keepable(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

func (r *Result) sources() string {
	sources := make([]ResultSource, len(r.Sources))
	for i, s := range r.Sources {
		s.URL, s.Title = keepable(s.URL), keepable(s.Title)
		sources[i] = s
	}
	return asJSON(sources)
}

func (r *Result) competitors() string {
	competitors := make([]ResultCompetitor, len(r.Competitors))
	for i, c := range r.Competitors {
		c.Name = keepable(c.Name)
		competitors[i] = c
	}
	return asJSON(competitors)
}

func (r *Result) searchQueries() string {
	queries := make([]string, len(r.SearchQueries))
	for i, q := range r.SearchQueries {
		queries[i] = keepable(q)
	}
	return asJSON(queries)
}

func asJSON(list any) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // texts, numbers and ids always marshal
	}
	return string(text)
}

// refusal is ErrRefused where it is a row that the server does not take: a value that
// its type, a check or an index cannot hold.
func refusal(err error) error {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (strings.HasPrefix(refused.Code, "22") || refused.Code == "23514" || strings.HasPrefix(refused.Code, "54")) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// PruneResults deletes results from before old that are not the newest of their
// prompt and platform, at most most of them, and says how many.
func (db *DB) PruneResults(ctx context.Context, old time.Time, most int) (int64, error) {
	deleted, err := prunePromptResults.run(ctx, db, oldResults{old, most})
	if err != nil {
		return 0, fmt.Errorf("prune results from before %s: %w", old.Format(time.DateOnly), err)
	}
	return deleted, nil
}
