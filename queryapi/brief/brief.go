// Package brief writes content briefs: Markdown for the writers of a page, from the answers behind a suggestion. It
// counts and quotes; no language model takes part.
package brief

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// maxAnswers is how many answers, the newest, are read for a brief.
const maxAnswers = 500

// A Maker writes briefs. PublicURL is the dashboard's address in their links; "": links are relative.
type Maker struct {
	DB        *postgres.DB
	Warehouse *clickhouse.Conn
	PublicURL string
	Now       func() time.Time
}

// evidence has the counts of suggestions of any kind; each kind lacks some.
type evidence struct {
	advice.Comparison

	Window advice.Window `json:"window"`
	Name   string        `json:"name"` // that nobody tracks; of a search: as a person would ask it
	Quotes []struct {    // of criticism
		AnswerID uuid.UUID `json:"answer_id"`
		Text     string    `json:"text"`
	} `json:"quotes"`
}

// Prepare is the rest.Preparer of create_content_brief. For a suggestion that the caller may make no brief of it
// returns "", and the function refuses the call.
func (m *Maker) Prepare(ctx context.Context, caller rest.Caller, argument func(string) string) (string, error) {
	id := uuid.FromStringOrNil(argument("p_suggestion_id")) // what is no UUID is the id of none
	suggestion, err := m.DB.BriefedSuggestion(ctx, caller.Claims, id)
	if errors.Is(err, postgres.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	in, err := m.gather(ctx, suggestion)
	if err != nil {
		return "", err
	}
	written, err := in.write(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(written)
	return string(text), err
}

// gather reads what a suggestion's brief is written from.
func (m *Maker) gather(ctx context.Context, s postgres.BriefedSuggestion) (in input, err error) {
	now := m.Now().UTC()
	in = input{BriefedSuggestion: s, publicURL: m.PublicURL, Computed: now.Format("2006-01-02 15:04 UTC")}
	in.Window.From = now.AddDate(0, 0, -90).Format(time.DateOnly)
	in.Window.To = now.AddDate(0, 0, -1).Format(time.DateOnly)
	if err := json.Unmarshal(s.Evidence, &in.evidence); err != nil {
		return in, fmt.Errorf("read the evidence of a suggestion of brand %s: %w", s.BrandID, err)
	}
	if in.Brand, err = m.DB.Snapshot(ctx, s.BrandID); err != nil {
		return in, err
	}
	if in.prompts, err = m.DB.Prompts(ctx, s.BrandID); err != nil {
		return in, err
	}
	organization, brand := clickhouse.UUID(in.Brand.OrganizationID), clickhouse.UUID(s.BrandID)
	from, to := clickhouse.Day(in.Window.From), clickhouse.Day(in.Window.To)
	in.crawls, err = clickhouse.AICrawlers.All(ctx, m.Warehouse, clickhouse.TrafficFilter{
		OrganizationID: organization, BrandID: brand, DateFrom: from, DateTo: to,
	})
	filter := clickhouse.AnswerFilter{
		Filter: clickhouse.Filter{OrganizationID: organization, BrandID: brand, DateFrom: from, DateTo: to},
		Shown:  []bool{true}, Sort: clickhouse.Newest, Limit: maxAnswers,
	}
	if err != nil || !applyLink(&filter, in.Open) {
		return in, err
	}
	matches, err := clickhouse.AnswersFound.All(ctx, m.Warehouse, filter)
	if err != nil || len(matches) == 0 {
		return in, err
	}
	in.Total = int(matches[0].Total)
	in.Read, err = clickhouse.BriefAnswers(ctx, m.Warehouse, organization, brand, matches)
	return in, err
}

// applyLink filters answers as the link of a suggestion does, whether they mention the brand or not; false: it has no
// filter.
func applyLink(filter *clickhouse.AnswerFilter, open string) bool {
	query, err := url.ParseQuery(open)
	for _, id := range query["prompt_id"] {
		if id, err := uuid.FromString(id); err == nil {
			filter.Prompts = append(filter.Prompts, clickhouse.UUID(id))
		}
	}
	filter.Domains, filter.Pages, filter.Names = query["domain"], query["page"], query["name"]
	if query.Has("search") {
		filter.Searches = strings.Split(query.Get("search"), "\n")
	}
	filters := len(filter.Prompts) + len(filter.Domains) + len(filter.Pages) + len(filter.Names) + len(filter.Searches)
	return err == nil && filters > 0
}
