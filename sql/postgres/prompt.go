package postgres

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// MaxPromptText is the longest text of a prompt, in bytes. It has no zero byte.
const MaxPromptText = 32 << 10

// importedSet is the prompt set of prompts that were imported with their answers.
const importedSet = "Imported"

// Prompt is a prompt of a brand, as an answer's record names it.
type Prompt struct {
	ID        uuid.UUID  `db:"id"`
	Text      string     `db:"text"`
	SetID     uuid.UUID  `db:"prompt_set_id"`
	TopicID   *uuid.UUID `db:"topic_id"`   // nil: none
	IsBranded *bool      `db:"is_branded"` // nil: decided by whether the text names the brand
}

// NewPrompt is a prompt that must exist.
type NewPrompt struct {
	Text  string
	Topic string // "" is none
}

// EnsurePrompts returns the brand's prompt for each of wanted, in their order. A prompt is found by its text, byte for
// byte; of several with one text it is the oldest. Missing ones are added with their topics to the prompt set of
// imports; if wanted has a text twice, the first has its topic. Existing prompts keep their topics. ErrNotFound if
// there is no such brand. Concurrent callers get the same prompts.
func (db *DB) EnsurePrompts(ctx context.Context, brand uuid.UUID, wanted []NewPrompt) ([]Prompt, error) {
	texts := make([]string, 0, len(wanted))
	seen := make(map[string]bool, len(wanted))
	for _, w := range wanted {
		if !seen[w.Text] {
			seen[w.Text] = true
			texts = append(texts, w.Text)
		}
	}
	found, err := queryAll[Prompt](ctx, db, "prompts_by_text", brand, texts)
	if err == nil && len(found) < len(texts) {
		found, err = db.addMissingPrompts(ctx, brand, wanted, texts)
	}
	if err != nil {
		return nil, fmt.Errorf("ensure %d prompts of brand %s: %w", len(texts), brand, err)
	}
	byText := make(map[string]Prompt, len(found))
	for _, p := range found {
		byText[p.Text] = p
	}
	prompts := make([]Prompt, len(wanted))
	for i, w := range wanted {
		prompts[i] = byText[w.Text]
	}
	return prompts, nil
}

func (db *DB) addMissingPrompts(ctx context.Context, brand uuid.UUID, wanted []NewPrompt, texts []string) (found []Prompt, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if err := exec(ctx, tx, "lock_prompts", brand); err != nil {
			return err
		}
		there, err := queryAll[Prompt](ctx, tx, "prompts_by_text", brand, texts)
		if err != nil {
			return err
		}
		set, err := queryOne[uuid.UUID](ctx, tx, "ensure_prompt_set", brand, importedSet)
		if err != nil {
			return err
		}
		missing, topics := missingPrompts(wanted, there)
		if err := exec(ctx, tx, "add_topics", brand, topics); err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_prompts", brand, set, missing, topics); err != nil {
			return err
		}
		found, err = queryAll[Prompt](ctx, tx, "prompts_by_text", brand, texts)
		return err
	})
	return found, err
}

// missingPrompts are the texts and topics of those of wanted whose text no existing prompt has, each once.
func missingPrompts(wanted []NewPrompt, there []Prompt) (texts, topics []string) {
	has := make(map[string]bool, len(wanted))
	for _, p := range there {
		has[p.Text] = true
	}
	for _, w := range wanted {
		if !has[w.Text] {
			has[w.Text] = true
			texts, topics = append(texts, w.Text), append(topics, w.Topic)
		}
	}
	return texts, topics
}

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

// PromptToAsk is an active prompt, and how it is asked.
type PromptToAsk struct {
	Prompt
	Platforms []string `db:"platforms"` // empty: the brand's, as models and regions
	Models    []string `db:"models"`
	Regions   []string `db:"regions"`
	Samples   int      `db:"samples"`
}

// PromptsToAsk returns the active prompts of the brand's active sets, one of each text, by text; if ids are given,
// those of them.
func (db *DB) PromptsToAsk(ctx context.Context, brand uuid.UUID, ids []uuid.UUID) ([]PromptToAsk, error) {
	return queryAll[PromptToAsk](ctx, db, "prompts_to_ask", brand, ids)
}
