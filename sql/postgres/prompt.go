package postgres

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// The longest text of a prompt and name of a topic, in bytes. Neither has a zero byte.
const (
	MaxPromptText = 32 << 10
	MaxTopicName  = 512
)

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

type (
	promptTexts struct {
		BrandID uuid.UUID
		Texts   []string
	}
	promptSet struct {
		BrandID uuid.UUID
		Name    string
	}
	topicNames struct {
		BrandID uuid.UUID
		Names   []string
	}
	promptRows struct {
		BrandID, SetID uuid.UUID
		Texts, Topics  []string // of equal length
	}
	id struct {
		ID uuid.UUID `db:"id"`
	}
)

var (
	lockPrompts     = query[brandID, none]("lock_prompts")
	promptsByText   = query[promptTexts, Prompt]("prompts_by_text")
	ensurePromptSet = query[promptSet, id]("ensure_prompt_set")
	addTopics       = query[topicNames, none]("add_topics")
	addPrompts      = query[promptRows, none]("add_prompts")
)

// EnsurePrompts returns the brand's prompt for each of wanted, in their order. A prompt is found by its text, byte for
// byte; of several with one text it is the oldest. Missing ones are added with their topics to the prompt set of imports;
// if wanted has a text twice, the first has its topic. Existing prompts keep their topics. ErrNotFound if there is no such
// brand. Concurrent callers get the same prompts.
func (db *DB) EnsurePrompts(ctx context.Context, brand uuid.UUID, wanted []NewPrompt) ([]Prompt, error) {
	texts := make([]string, 0, len(wanted))
	seen := make(map[string]bool, len(wanted))
	for _, w := range wanted {
		if !seen[w.Text] {
			seen[w.Text] = true
			texts = append(texts, w.Text)
		}
	}
	found, err := promptsByText.all(ctx, db, promptTexts{brand, texts})
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
		if _, err := lockPrompts.run(ctx, tx, brandID{brand}); err != nil {
			return err
		}
		there, err := promptsByText.all(ctx, tx, promptTexts{brand, texts})
		if err != nil {
			return err
		}
		set, err := ensurePromptSet.one(ctx, tx, promptSet{brand, importedSet})
		if err != nil {
			return err
		}
		missing := missingPrompts(wanted, there)
		missing.BrandID, missing.SetID = brand, set.ID
		if _, err := addTopics.run(ctx, tx, topicNames{brand, missing.Topics}); err != nil {
			return err
		}
		if _, err := addPrompts.run(ctx, tx, missing); err != nil {
			return err
		}
		found, err = promptsByText.all(ctx, tx, promptTexts{brand, texts})
		return err
	})
	return found, err
}

// missingPrompts are those of wanted whose text no existing prompt has, each once.
func missingPrompts(wanted []NewPrompt, there []Prompt) promptRows {
	has := make(map[string]bool, len(wanted))
	for _, p := range there {
		has[p.Text] = true
	}
	var missing promptRows
	for _, w := range wanted {
		if !has[w.Text] {
			has[w.Text] = true
			missing.Texts = append(missing.Texts, w.Text)
			missing.Topics = append(missing.Topics, w.Topic)
		}
	}
	return missing
}
