package postgres

import (
	"context"
	"encoding/json"

	"github.com/gofrs/uuid/v5"
)

// BriefedSuggestion is what a content brief is written from.
type BriefedSuggestion struct {
	BrandID  uuid.UUID       `db:"brand_id"`
	Kind     string          `db:"kind"`
	Key      string          `db:"key"` // "": a person's
	Text     string          `db:"text"`
	Reason   string          `db:"reason"`
	Evidence json.RawMessage `db:"evidence"` // {}: a person's
	Themes   []string        `db:"themes"`   // of criticism of the brand
}

// BriefedSuggestion returns a suggestion of which the user with these claims may make a brief; ErrNotFound.
func (db *DB) BriefedSuggestion(ctx context.Context, claims json.RawMessage, id uuid.UUID) (BriefedSuggestion, error) {
	return queryOne[BriefedSuggestion](ctx, db, "briefed_suggestion", claims, id)
}

// ContentBrief is a brief for the writers of a page.
type ContentBrief struct {
	Slug string `db:"slug"` // of the title
	Body string `db:"body"` // Markdown
}

// ContentBrief returns a brief of the organization; ErrNotFound.
func (db *DB) ContentBrief(ctx context.Context, organization, id uuid.UUID) (ContentBrief, error) {
	return queryOne[ContentBrief](ctx, db, "content_brief", organization, id)
}
