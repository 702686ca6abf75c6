// Package brief writes content briefs: Markdown for the writers of a page, from the answers behind a suggestion. It
// counts and quotes; no language model takes part.
package brief

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/extract"
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
	Window struct {
		From string `json:"date_from"`
		To   string `json:"date_to"`
	} `json:"window"`
	Open  string `json:"open"`  // the query of GET /api/v1/answers that lists them
	Name  string `json:"name"`  // untracked
	Query string `json:"query"` // that platforms searched
	Rival struct {
		ID   uuid.UUID `json:"id"`
		Name string    `json:"name"`
	} `json:"rival"`
	Answers       int64            `json:"answers"`
	BrandAnswers  *int64           `json:"brand_answers"`
	RivalAnswers  *int64           `json:"rival_answers"`
	BrandInterval *advice.Interval `json:"brand_interval"`
	RivalInterval *advice.Interval `json:"rival_interval"`
}

// input is what a brief is written from.
type input struct {
	postgres.BriefedSuggestion
	evidence

	brand     postgres.Snapshot
	prompts   []postgres.TrackedPrompt
	crawls    []clickhouse.CrawlCount
	read      []clickhouse.BriefedAnswer // the newest
	Total     int                        // of answers
	publicURL string
	now       time.Time
}

// Prepare is the rest.Preparer of create_content_brief. For a suggestion that the caller may not see it returns "", and
// the function refuses the call.
func (m *Maker) Prepare(ctx context.Context, caller rest.Caller, argument func(string) string) (string, error) {
	id := uuid.FromStringOrNil(argument("p_suggestion_id")) // what is no UUID is the id of none
	suggestion, err := m.DB.BriefedSuggestion(ctx, caller.Organization, id)
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
	written, err := write(in)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(written)
	return string(text), err
}

// gather reads what a suggestion's brief is written from.
func (m *Maker) gather(ctx context.Context, s postgres.BriefedSuggestion) (in input, err error) {
	in = input{BriefedSuggestion: s, publicURL: m.PublicURL, now: m.Now().UTC()}
	_ = json.Unmarshal(s.Evidence, &in.evidence) // people may have written another one, of which nothing is known
	if !isDay(in.Window.From) || !isDay(in.Window.To) {
		in.Window.From = in.now.AddDate(0, 0, -90).Format(time.DateOnly)
		in.Window.To = in.now.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	if in.brand, err = m.DB.Snapshot(ctx, s.BrandID); err != nil {
		return in, err
	}
	if in.prompts, err = m.DB.Prompts(ctx, s.BrandID); err != nil {
		return in, err
	}
	organization, brand := clickhouse.UUID(in.brand.OrganizationID), clickhouse.UUID(s.BrandID)
	from, to := clickhouse.Day(in.Window.From), clickhouse.Day(in.Window.To)
	in.crawls, err = clickhouse.AICrawlers.All(ctx, m.Warehouse, clickhouse.TrafficFilter{
		OrganizationID: organization, BrandID: brand, DateFrom: from, DateTo: to,
	})
	filter := clickhouse.AnswerFilter{
		Filter: clickhouse.Filter{OrganizationID: organization, BrandID: brand, DateFrom: from, DateTo: to},
		Sort:   clickhouse.Newest, Limit: maxAnswers,
	}
	if err != nil || !applyLink(&filter, in.Open) {
		return in, err
	}
	matches, err := clickhouse.AnswersFound.All(ctx, m.Warehouse, filter)
	if err != nil || len(matches) == 0 {
		return in, err
	}
	in.Total = int(matches[0].Total)
	in.read, err = clickhouse.BriefAnswers(ctx, m.Warehouse, organization, brand, matches)
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

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// entities returns the brand, and the rival or the untracked name, as readings know them.
func (in *input) entities() (brand extract.Entity, rivals []extract.Entity) {
	brand = extract.Entity{Name: in.brand.Name, Aliases: in.brand.Aliases, Domains: in.brand.Domains}
	for _, c := range in.brand.Competitors {
		if c.ID == in.Rival.ID {
			rivals = append(rivals, extract.Entity(c))
		}
	}
	if in.Name != "" {
		rivals = append(rivals, extract.Entity{Name: in.Name})
	}
	return brand, rivals
}
