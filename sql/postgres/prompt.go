package postgres

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// MaxPromptText is the longest text of a prompt, in bytes. It has no zero byte.
const MaxPromptText = 32 << 10

// importedSet is the prompt set of imported prompts.
const importedSet = "Imported"

// Prompt is a prompt of a brand, as records of answers contain it.
type Prompt struct {
	ID        uuid.UUID  `db:"id"`
	Text      string     `db:"text"`
	SetID     uuid.UUID  `db:"prompt_set_id"`
	TopicID   *uuid.UUID `db:"topic_id"`   // nil: none
	IsBranded *bool      `db:"is_branded"` // nil: whether the text names the brand
}

// NewPrompt is a prompt to be found or added.
type NewPrompt struct {
	Text  string
	Topic string // "": none
}

// EnsurePrompts returns the brand's prompt for each of wanted, in their order: the oldest with the same text, byte for
// byte. Missing prompts are added with their topics to the prompt set of imports; if wanted has a text twice, its first
// topic counts. Existing prompts keep their topics. ErrNotFound if the brand does not exist. Concurrent callers get the
// same prompts.
func (db *DB) EnsurePrompts(ctx context.Context, brand uuid.UUID, wanted []NewPrompt) ([]Prompt, error) {
	texts := make([]string, 0, len(wanted))
	seen := make(map[string]bool, len(wanted))
	for _, w := range wanted {
		if !seen[w.Text] {
			seen[w.Text] = true
			texts = append(texts, w.Text)
		}
	}
	existing, err := queryAll[Prompt](ctx, db, "prompts_by_text", brand, texts)
	if err == nil && len(existing) < len(texts) {
		existing, err = db.addMissingPrompts(ctx, brand, wanted, texts)
	}
	if err != nil {
		return nil, fmt.Errorf("ensure %d prompts of brand %s: %w", len(texts), brand, err)
	}
	byText := make(map[string]Prompt, len(existing))
	for _, p := range existing {
		byText[p.Text] = p
	}
	prompts := make([]Prompt, len(wanted))
	for i, w := range wanted {
		prompts[i] = byText[w.Text]
	}
	return prompts, nil
}

func (db *DB) addMissingPrompts(
	ctx context.Context, brand uuid.UUID, wanted []NewPrompt, texts []string,
) (prompts []Prompt, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := exec(ctx, tx, "lock_prompts", brand); err != nil {
			return err
		}
		existing, err := queryAll[Prompt](ctx, tx, "prompts_by_text", brand, texts)
		if err != nil {
			return err
		}
		set, err := queryOne[uuid.UUID](ctx, tx, "ensure_prompt_set", brand, importedSet)
		if err != nil {
			return err
		}
		missing, topics := missingPrompts(wanted, existing)
		if err := exec(ctx, tx, "add_topics", brand, topics); err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_prompts", brand, set, missing, topics); err != nil {
			return err
		}
		prompts, err = queryAll[Prompt](ctx, tx, "prompts_by_text", brand, texts)
		return err
	})
	return prompts, err
}

// missingPrompts returns the texts, each once, and topics of the wanted prompts that do not exist.
func missingPrompts(wanted []NewPrompt, existing []Prompt) (texts, topics []string) {
	has := make(map[string]bool, len(wanted))
	for _, p := range existing {
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

// TrackedPrompt is a prompt with the way to ask it; an empty list means the brand's.
type TrackedPrompt struct {
	ID        uuid.UUID `db:"id" json:"id"`
	Text      string    `db:"text" json:"text"`
	Set       string    `db:"set" json:"set"`
	Topic     string    `db:"topic" json:"topic"` // "": none
	Platforms []string  `db:"platforms" json:"platforms"`
	Models    []string  `db:"models" json:"models"`
	Regions   []string  `db:"regions" json:"regions"`
	Samples   int       `db:"samples" json:"samples"`
	IsBranded *bool     `db:"is_branded" json:"is_branded"` // nil: whether the text names the brand
	IsActive  bool      `db:"is_active" json:"is_active"`
}

// PromptEdit holds the changes of a prompt; a nil field stays.
type PromptEdit struct {
	Text, Set, Topic           *string   // Topic "": none
	Platforms, Models, Regions *[]string // an empty list means the brand's
	Samples                    *int
	IsBranded, IsActive        *bool
}

// Prompts returns the prompts of a brand, oldest first.
func (db *DB) Prompts(ctx context.Context, brand uuid.UUID) ([]TrackedPrompt, error) {
	return queryAll[TrackedPrompt](ctx, db, "prompts", brand)
}

// Topics returns the names of a brand's active topics, in code-point order.
func (db *DB) Topics(ctx context.Context, brand uuid.UUID) ([]string, error) {
	return queryAll[string](ctx, db, "topics", brand)
}

// AddPrompt adds a prompt to a brand, with its set and topic if they do not exist, and returns its id.
func (db *DB) AddPrompt(ctx context.Context, brand uuid.UUID, p TrackedPrompt) (id uuid.UUID, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		set, err := queryOne[uuid.UUID](ctx, tx, "ensure_prompt_set", brand, p.Set)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_topics", brand, []string{p.Topic}); err != nil {
			return err
		}
		id, err = queryOne[uuid.UUID](ctx, tx, "add_prompt",
			brand, set, p.Topic, p.Text, p.Platforms, p.Models, p.Regions, p.Samples, p.IsBranded)
		return err
	})
	return id, wrap(err, "add prompt to brand %s", brand)
}

// EditPrompt changes a prompt of a brand, and adds its set and topic if they do not exist. ErrNotFound if the brand
// does not have the prompt.
func (db *DB) EditPrompt(ctx context.Context, brand, prompt uuid.UUID, e PromptEdit) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
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
		return execOne(ctx, tx, "edit_prompt", brand, prompt, e.Text, set, e.Topic,
			e.Platforms, e.Models, e.Regions, e.Samples, e.IsBranded, e.IsActive)
	})
	return wrap(err, "edit prompt %s", prompt)
}

// RemovePrompt deletes a prompt of a brand. ErrNotFound if the brand does not have it.
func (db *DB) RemovePrompt(ctx context.Context, brand, prompt uuid.UUID) error {
	return wrap(execOne(ctx, db, "remove_prompt", brand, prompt), "remove prompt %s", prompt)
}

// PromptToAsk is an active prompt with the way to ask it.
type PromptToAsk struct {
	Prompt
	Platforms []string `db:"platforms"` // empty: the brand's, as with models and regions
	Models    []string `db:"models"`
	Regions   []string `db:"regions"`
	Samples   int      `db:"samples"`
}

// PromptsToAsk returns the active prompts of the brand's active sets, one of each text, by text; only those with the
// ids, if there are any.
func (db *DB) PromptsToAsk(ctx context.Context, brand uuid.UUID, ids []uuid.UUID) ([]PromptToAsk, error) {
	return queryAll[PromptToAsk](ctx, db, "prompts_to_ask", brand, ids)
}
