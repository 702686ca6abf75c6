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
	Text     string          `db:"text"`
	Reason   string          `db:"reason"`
	Evidence json.RawMessage `db:"evidence"`
	Themes   []string        `db:"themes"` // of criticism of the brand
}

// BriefedSuggestion returns a suggestion of the organization; ErrNotFound.
func (db *DB) BriefedSuggestion(ctx context.Context, organization, id uuid.UUID) (BriefedSuggestion, error) {
	return queryOne[BriefedSuggestion](ctx, db, "briefed_suggestion", organization, id)
}

// ContentBrief is a brief for the writers of a page.
type ContentBrief struct {
	Title string `db:"title"`
	Body  string `db:"body"` // Markdown
}

// ContentBrief returns a brief of the organization; ErrNotFound.
func (db *DB) ContentBrief(ctx context.Context, organization, id uuid.UUID) (ContentBrief, error) {
	return queryOne[ContentBrief](ctx, db, "content_brief", organization, id)
}
