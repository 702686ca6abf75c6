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

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	maxAnswers      = 500 // that are read for a brief, the newest
	downloadTimeout = 5 * time.Second
)

// A Maker writes briefs. PublicURL is the dashboard's address in their links; "": links are relative.
type Maker struct {
	DB        *postgres.DB
	Warehouse *clickhouse.Conn
	PublicURL string
	Now       func() time.Time
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
	in.Window = advice.WindowTo(now.AddDate(0, 0, -1))
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
	if id, err := uuid.FromString(query.Get("prompt_id")); err == nil {
		filter.Prompts = []clickhouse.UUID{clickhouse.UUID(id)}
	}
	filter.Domains, filter.Pages, filter.Names = query["domain"], query["page"], query["name"]
	if query.Has("search") {
		filter.Searches = strings.Split(query.Get("search"), "\n")
	}
	filters := len(filter.Prompts) + len(filter.Domains) + len(filter.Pages) + len(filter.Names) + len(filter.Searches)
	return err == nil && filters > 0
}

// Mount adds GET /{id}.md, which downloads a brief of the caller's organization. The handlers before it find the
// caller.
func Mount(router fiber.Router, db *postgres.DB, before ...fiber.Handler) {
	router.Get("/:file", append(before, httpd.Within(downloadTimeout, func(c *fiber.Ctx) error {
		text, isMarkdown := strings.CutSuffix(c.Params("file"), ".md")
		id, err := uuid.FromString(text)
		if err != nil || !isMarkdown {
			return problem.New(problem.Invalid,
				"want the id of a content brief and .md, such as %s.md", uuid.UUID{15: 1})
		}
		organization := identity.FromContext(c.UserContext()).OrganizationID
		brief, err := db.ContentBrief(c.UserContext(), organization, id)
		if errors.Is(err, postgres.ErrNotFound) {
			return problem.New(problem.Missing, "no such brief")
		}
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, "text/markdown; charset=utf-8")
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+brief.Slug+`.md"`)
		return c.SendString(brief.Body)
	}))...)
}
