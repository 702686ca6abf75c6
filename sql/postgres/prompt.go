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
