package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// TrackedPrompt is a prompt as it is asked. Empty lists are the brand's.
type TrackedPrompt struct {
	ID        uuid.UUID `db:"id" json:"id"`
	Text      string    `db:"text" json:"text"`
	Set       string    `db:"set" json:"set"`
	Topic     string    `db:"topic" json:"topic"` // "" is none
	Platforms []string  `db:"platforms" json:"platforms"`
	Models    []string  `db:"models" json:"models"`
	Regions   []string  `db:"regions" json:"regions"`
	Samples   int       `db:"samples" json:"samples"`
	IsBranded *bool     `db:"is_branded" json:"is_branded"` // nil: decided by whether the text names the brand
	IsActive  bool      `db:"is_active" json:"is_active"`
}

// PromptEdit is what to change of a prompt; nil stays.
type PromptEdit struct {
	Text, Set, Topic           *string   // Topic "" is none
	Platforms, Models, Regions *[]string // an empty list is the brand's
	Samples                    *int
	IsBranded, IsActive        *bool
}

// Prompts returns the prompts of a brand, oldest first.
func (db *DB) Prompts(ctx context.Context, brand uuid.UUID) ([]TrackedPrompt, error) {
	return queryAll[TrackedPrompt](ctx, db, "prompts", brand)
}

// AddPrompt adds a prompt to a brand, with its set and topic where they are missing, and returns its id.
func (db *DB) AddPrompt(ctx context.Context, brand uuid.UUID, p TrackedPrompt) (id uuid.UUID, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		set, err := queryOne[uuid.UUID](ctx, tx, "ensure_prompt_set", brand, p.Set)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_topics", brand, []string{p.Topic}); err != nil {
			return err
		}
		id, err = queryOne[uuid.UUID](ctx, tx, "add_prompt", brand, set, p.Topic, p.Text, p.Platforms, p.Models, p.Regions, p.Samples, p.IsBranded)
		return err
	})
	return id, wrap(err, "add prompt to brand %s", brand)
}

// EditPrompt changes a prompt of a brand, and adds its set and topic where they are missing. ErrNotFound if the brand
// has no such prompt.
func (db *DB) EditPrompt(ctx context.Context, brand, prompt uuid.UUID, e PromptEdit) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if e.Topic != nil {
			if err := exec(ctx, tx, "add_topics", brand, []string{*e.Topic}); err != nil {
				return err
			}
		}
		set := uuid.NullUUID{Valid: e.Set != nil}
		if e.Set != nil {
			var err error
			if set.UUID, err = queryOne[uuid.UUID](ctx, tx, "ensure_prompt_set", brand, *e.Set); err != nil {
				return err
			}
		}
		return execOne(ctx, tx, "edit_prompt", brand, prompt, e.Text, set, e.Topic, e.Platforms, e.Models, e.Regions, e.Samples, e.IsBranded, e.IsActive)
	})
	return wrap(err, "edit prompt %s", prompt)
}

// RemovePrompt deletes a prompt of a brand. ErrNotFound if the brand has no such prompt.
func (db *DB) RemovePrompt(ctx context.Context, brand, prompt uuid.UUID) error {
	return wrap(execOne(ctx, db, "remove_prompt", brand, prompt), "remove prompt %s", prompt)
}
