package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Suggestions answers GET /api/v1/suggestions: what a brand might do next, as the last computation found it.
type Suggestions struct {
	ComputedAt   *instant          `json:"computed_at"`   // null before the first computation, as window
	RulesVersion int               `json:"rules_version"` // 0 before it
	Window       *advice.Window    `json:"window"`
	Reasons      []advice.Reason   `json:"reasons"`
	Totals       []SuggestionTotal `json:"totals"`
	Suggestions  []Suggestion      `json:"suggestions"`
	NextCursor   *string           `json:"next_cursor"` // null at the end
}

// SuggestionTotal has the sizes of a kind, and how many of its suggestions are in each state.
type SuggestionTotal struct {
	advice.Total

	New       int `json:"new"`
	Added     int `json:"added"`
	Closed    int `json:"closed"`
	Dismissed int `json:"dismissed"`
}

// Suggestion is one of them.
type Suggestion struct {
	ID           string          `json:"id"`
	Kind         string          `json:"kind"`
	Key          string          `json:"key"` // "": a person's
	Text         string          `json:"text"`
	Reason       string          `json:"reason"`
	Score        *float64        `json:"score"`          // null: a person's
	Status       string          `json:"status"`         // new, added, closed or dismissed
	BrandRatePct *float64        `json:"brand_rate_pct"` // when it last held; null where the kind compares no rates
	RivalRatePct *float64        `json:"rival_rate_pct"`
	Evidence     json.RawMessage `json:"evidence"`
	AnswersURL   *string         `json:"answers_url"` // null: no answers show it
	CreatedAt    instant         `json:"created_at"`
	ExpiresAt    *instant        `json:"expires_at"`
}

func (b Suggestions) next() *string { return b.NextCursor }

// suggestionKinds are the kinds of suggestions, in the order of lists.
var suggestionKinds = []string{"gap", "source", "competitor", "alias", "prompt", "topic", "page", "theme"}

// A suggestionPosition is the place of a suggestion in the order of the list.
type suggestionPosition struct {
	Kind  string    `json:"kind"`
	Score float64   `json:"score"` // negated; 1 stands for none
	Key   string    `json:"key"`
	ID    uuid.UUID `json:"id"`
}

// Suggestions returns the body of GET /api/v1/suggestions.
func (a *API) Suggestions(ctx context.Context, caller identity.Identity, params url.Values) (Suggestions, error) {
	return a.listSuggestions(ctx, caller, parseQuery(params.Encode()))
}

func (a *API) suggestions(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	return a.listSuggestions(ctx, caller, q)
}

func (a *API) listSuggestions(ctx context.Context, caller identity.Identity, q *query) (body Suggestions, err error) {
	filter := postgres.SuggestionFilter{
		OrganizationID: caller.OrganizationID,
		BrandID:        q.requiredID("brand_id", "the id of a brand that GET /api/v1/brands lists, a UUID"),
		Kinds:          q.someOf("kind", suggestionKinds...),
		States:         q.someOf("status", "new", "added", "closed", "dismissed"),
	}
	if len(filter.States) == 0 {
		filter.States = []string{"new"}
	}
	limit := q.number("limit", 50, 1, 200)
	brand := clickhouse.Filter{
		OrganizationID: clickhouse.UUID(filter.OrganizationID), BrandID: clickhouse.UUID(filter.BrandID),
	}
	filters := digest("suggestions", brand, filter.Kinds, filter.States)
	if after := readCursor[suggestionPosition](q, filters); after != nil {
		filter.AfterKind, filter.AfterScore = after.Kind, after.Score
		filter.AfterKey, filter.AfterID = after.Key, after.ID
	}
	if err := q.check(); err != nil {
		return body, err
	}
	now := a.now()
	run, err := a.db.AdviceRun(ctx, filter.OrganizationID, filter.BrandID, now)
	if errors.Is(err, postgres.ErrNotFound) {
		return body, errNoBrand
	}
	if err != nil {
		return body, err
	}
	filter.Limit = limit + 1
	rows, err := a.db.Suggestions(ctx, filter, now)
	if err != nil {
		return body, err
	}
	body.RulesVersion, body.ComputedAt, body.Suggestions = run.RulesVersion, (*instant)(run.ComputedAt), []Suggestion{}
	if run.ComputedAt != nil {
		body.Window = &advice.Window{From: run.From, To: run.To}
	}
	rows, body.NextCursor = firstPage(rows, limit, filters, positionOfSuggestion)
	for _, r := range rows {
		s, err := newSuggestion(r, filter.BrandID)
		if err != nil {
			return body, err
		}
		body.Suggestions = append(body.Suggestions, s)
	}
	return body, errors.Join(json.Unmarshal(run.Reasons, &body.Reasons), json.Unmarshal(run.Totals, &body.Totals))
}

func positionOfSuggestion(s postgres.Suggestion) suggestionPosition {
	position := suggestionPosition{s.Kind, 1, s.Key, s.ID}
	if s.Score != nil {
		position.Score = -*s.Score
	}
	return position
}

// newSuggestion returns a row. Evidence that a person wrote may be any JSON, so it is not read.
func newSuggestion(r postgres.Suggestion, brand uuid.UUID) (s Suggestion, err error) {
	s = Suggestion{
		ID: r.ID.String(), Kind: r.Kind, Key: r.Key, Text: r.Text, Reason: r.Reason, Score: r.Score, Status: r.State,
		Evidence: r.Evidence, CreatedAt: instant(r.CreatedAt), ExpiresAt: (*instant)(r.ExpiresAt),
	}
	if r.Origin != "computed" {
		return s, nil
	}
	var evidence struct {
		Window advice.Window `json:"window"`
		advice.Comparison
	}
	if err := json.Unmarshal(r.Evidence, &evidence); err != nil {
		return s, fmt.Errorf("read evidence of suggestion %s: %w", r.ID, err)
	}
	if evidence.Open != "" {
		days := url.Values{
			"brand_id": {brand.String()}, "date_from": {evidence.Window.From}, "date_to": {evidence.Window.To},
		}
		s.AnswersURL = new(prefix + "/answers?" + days.Encode() + "&" + evidence.Open)
	}
	if evidence.RivalAnswers > 0 { // the kind compares rates
		s.BrandRatePct = new(oneDecimal(100 * float64(evidence.BrandAnswers) / float64(evidence.Answers)))
		s.RivalRatePct = new(oneDecimal(100 * float64(evidence.RivalAnswers) / float64(evidence.Answers)))
	}
	return s, nil
}
