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

var (
	trackedPrompts = query[TrackedPrompt]("prompts")
	addPrompt      = query[uuid.UUID]("add_prompt")
	editPrompt     = query[uuid.UUID]("edit_prompt")
	removePrompt   = query[uuid.UUID]("remove_prompt")
)

// Prompts returns the prompts of a brand, oldest first.
func (db *DB) Prompts(ctx context.Context, brand uuid.UUID) ([]TrackedPrompt, error) {
	return trackedPrompts.all(ctx, db, brand)
}

// AddPrompt adds a prompt to a brand, with its set and topic where they are missing, and returns its id.
func (db *DB) AddPrompt(ctx context.Context, brand uuid.UUID, p TrackedPrompt) (id uuid.UUID, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		set, err := ensurePromptSet.one(ctx, tx, brand, p.Set)
		if err != nil {
			return err
		}
		if _, err := addTopics.run(ctx, tx, brand, []string{p.Topic}); err != nil {
			return err
		}
		id, err = addPrompt.one(ctx, tx, brand, set, p.Topic, p.Text, p.Platforms, p.Models, p.Regions, p.Samples, p.IsBranded)
		return err
	})
	return id, wrap(err, "add prompt to brand %s", brand)
}

// EditPrompt changes a prompt of a brand, and adds its set and topic where they are missing. ErrNotFound if the brand
// has no such prompt.
func (db *DB) EditPrompt(ctx context.Context, brand, prompt uuid.UUID, e PromptEdit) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if e.Topic != nil {
			if _, err := addTopics.run(ctx, tx, brand, []string{*e.Topic}); err != nil {
				return err
			}
		}
		set := uuid.NullUUID{Valid: e.Set != nil}
		if e.Set != nil {
			var err error
			if set.UUID, err = ensurePromptSet.one(ctx, tx, brand, *e.Set); err != nil {
				return err
			}
		}
		_, err := editPrompt.one(ctx, tx, brand, prompt, e.Text, set, e.Topic, e.Platforms, e.Models, e.Regions, e.Samples, e.IsBranded, e.IsActive)
		return err
	})
	return wrap(err, "edit prompt %s", prompt)
}

// RemovePrompt deletes a prompt of a brand. ErrNotFound if the brand has no such prompt.
func (db *DB) RemovePrompt(ctx context.Context, brand, prompt uuid.UUID) error {
	_, err := removePrompt.one(ctx, db, brand, prompt)
	return wrap(err, "remove prompt %s", prompt)
}
