package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// LandedBrand has the answers of a brand in the warehouse.
type LandedBrand struct {
	BrandID        uuid.UUID `json:"brand_id"`
	Checksum       string    `json:"checksum"` // of all readings
	Revision       int64     `json:"revision"` // of the oldest reading, as ExtractVersion
	ExtractVersion int       `json:"extract_version"`
}

// DueAdvice is a brand whose suggestions are to be computed.
type DueAdvice struct {
	BrandID uuid.UUID       `db:"id"`
	Inputs  json.RawMessage `db:"inputs"` // all that they depend on, beside the window
}

// AdviceVersions are the versions of the programs that make suggestions.
type AdviceVersions struct{ Rules, Extract int }

// BrandsToAdvise returns the active brands whose suggestions depend on something else than at the last computation;
// with all, every one that is not being reread.
func (db *DB) BrandsToAdvise(
	ctx context.Context, landed []LandedBrand, v AdviceVersions, all bool,
) ([]DueAdvice, error) {
	return queryAll[DueAdvice](ctx, db, "brands_to_advise", landed, v.Rules, v.Extract, all, nil)
}

// BrandToAdvise returns one brand, due or not; ErrNotFound if it does not exist.
func (db *DB) BrandToAdvise(
	ctx context.Context, landed []LandedBrand, v AdviceVersions, brand uuid.UUID,
) (DueAdvice, error) {
	return queryOne[DueAdvice](ctx, db, "brands_to_advise", landed, v.Rules, v.Extract, false, brand)
}

// Advice is what a computation found for a brand.
type Advice struct {
	DueAdvice

	RulesVersion int
	From, To     string // UTC days of the answers
	Window       any    // JSON, From and To as evidence has them
	Suggestions  any    // a JSON list of kind, key, text, reason, score, evidence
	Totals       any    // JSON
	Reasons      any    // JSON
	Tracked      []string
	ComputedAt   time.Time
}

// StoreAdvice stores a computation, all or nothing; nothing if a later one has been stored. Unchanged suggestions keep
// their rows, and a person's decision about one stays. ErrNotFound if the brand was deleted.
func (db *DB) StoreAdvice(ctx context.Context, a Advice) error {
	suggestions, err := json.Marshal(a.Suggestions)
	if err != nil {
		return wrap(err, "encode suggestions of brand %s", a.BrandID)
	}
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := execOne(ctx, tx, "lock_advice", a.BrandID); err != nil {
			return err
		}
		runs, err := execRows(ctx, tx, "store_advice_run",
			a.BrandID, a.Inputs, a.RulesVersion, a.From, a.To, a.Totals, a.Reasons, a.ComputedAt)
		if err != nil || runs == 0 {
			return err
		}
		err = exec(ctx, tx, "store_suggestions",
			a.BrandID, zeroBytes.Replace(string(suggestions)), a.ComputedAt, a.Window)
		if err != nil {
			return err
		}
		return exec(ctx, tx, "settle_suggestions", a.BrandID, a.Tracked, a.ComputedAt)
	})
	return wrap(err, "store suggestions of brand %s", a.BrandID)
}

// SuggestFromPage stores what a brand's home page states, a JSON list of kind, key, text, reason, evidence, and
// returns how many are new. They stay until a person decides. ErrNotFound if the brand was deleted.
func (db *DB) SuggestFromPage(ctx context.Context, brand uuid.UUID, list any, now time.Time) (added int64, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := execOne(ctx, tx, "lock_advice", brand); err != nil {
			return err
		}
		added, err = execRows(ctx, tx, "suggest_from_page", brand, list, now)
		return err
	})
	return added, wrap(err, "store suggestions of the home page of brand %s", brand)
}

// PruneSuggestions deletes undecided suggestions that expired more than 30 days ago.
func (db *DB) PruneSuggestions(ctx context.Context, now time.Time) error {
	return exec(ctx, db, "prune_suggestions", now)
}

// Suggestion is what a brand might do next, computed or a person's.
type Suggestion struct {
	ID            uuid.UUID       `db:"id"`
	Kind          string          `db:"kind"`
	Key           string          `db:"key"` // "": a person's
	Text          string          `db:"text"`
	Reason        string          `db:"reason"`
	Score         *float64        `db:"score"`  // nil: a person's
	State         string          `db:"state"`  // new, added, closed or dismissed
	Origin        string          `db:"origin"` // computed or person
	Evidence      json.RawMessage `db:"evidence"`
	AddedPromptID *uuid.UUID      `db:"added_prompt_id"`
	CreatedAt     time.Time       `db:"created_at"`
	ExpiresAt     *time.Time      `db:"expires_at"`
}

// SuggestionFilter selects suggestions of a brand after a position.
type SuggestionFilter struct {
	OrganizationID, BrandID uuid.UUID
	States, Kinds           []string // no kinds: all
	AfterKind, AfterKey     string
	AfterScore              float64 // negated; −1 stands for none
	AfterID                 uuid.UUID
	Limit                   uint32
}

// Suggestions returns the suggestions that pass a filter at an instant, by kind, then score.
func (db *DB) Suggestions(ctx context.Context, f SuggestionFilter, now time.Time) ([]Suggestion, error) {
	return queryAll[Suggestion](ctx, db, "suggestions", f.OrganizationID, f.BrandID, now, f.States, f.Kinds,
		f.AfterKind, f.AfterScore, f.AfterKey, f.Limit, f.AfterID)
}

// AdviceRun is the last computation of a brand's suggestions.
type AdviceRun struct {
	ComputedAt   *time.Time      `db:"computed_at"` // nil: none yet
	RulesVersion int             `db:"rules_version"`
	From         string          `db:"date_from"`
	To           string          `db:"date_to"`
	Reasons      json.RawMessage `db:"reasons"`
	Totals       json.RawMessage `db:"totals"` // by kind, with how many are in each state
}

// AdviceRun returns the last computation of a brand of the organization; ErrNotFound without the brand.
func (db *DB) AdviceRun(ctx context.Context, organization, brand uuid.UUID, now time.Time) (AdviceRun, error) {
	return queryOne[AdviceRun](ctx, db, "advice_run", organization, brand, now)
}
