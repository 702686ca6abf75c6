package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/queryapi/onboard"
)

// adviseCmd is the command advise.
type adviseCmd struct {
	Brand string   `arg:"" help:"Slug of the brand."`
	Org   string   `placeholder:"SLUG" help:"Whose brand (default: the only one's that has it)."`
	Kind  []string `default:"${advise_kinds}" enum:"${advise_kinds}" placeholder:"K" help:"{advise_kind}"`
	JSON  bool     `name:"json" help:"One JSON document, the body of /api/v1/suggestions."`

	HomePage bool `help:"Fetch the home page of the brand's primary domain first, for names, its address and prompts."`
}

func (c *adviseCmd) Run(ctx context.Context, p *process, on databases) error {
	brand, err := findAnyBrand(ctx, on.DB, c.Org, c.Brand)
	if err != nil {
		return err
	}
	if c.HomePage {
		pages, err := egress.NewPages(on.Settings.EgressAllow)
		if err != nil {
			return err
		}
		reader := onboard.Reader{DB: on.DB, Home: pages.Home, Now: time.Now}
		if _, err := reader.Read(ctx, brand.OrganizationID, brand.ID); err != nil {
			return err
		}
	}
	params := url.Values{"brand_id": {brand.ID.String()}, "kind": {strings.Join(c.Kind, ",")}, "limit": {"200"}}
	if err := advice.New(on.DB, on.Warehouse, time.Now, p.Log).Advise(ctx, brand.ID); err != nil {
		return err
	}
	api := metrics.New(metrics.Config{}, on.DB, on.Warehouse, time.Now)
	caller := identity.Identity{OrganizationID: brand.OrganizationID}
	body, err := api.Suggestions(ctx, caller, params)
	for page := body; err == nil && page.NextCursor != nil; {
		params.Set("cursor", *page.NextCursor)
		page, err = api.Suggestions(ctx, caller, params)
		body.Suggestions, body.NextCursor = append(body.Suggestions, page.Suggestions...), page.NextCursor
	}
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, body, adviceText(body, c.Kind))
}

// adviceText writes suggestions a line each under their kinds, and why a kind has none.
func adviceText(body metrics.Suggestions, kinds []string) string {
	lines := []string{fmt.Sprintf("answers of %s to %s", body.Window.From, body.Window.To)}
	for _, t := range body.Totals {
		if !slices.Contains(kinds, t.Kind) {
			continue
		}
		line := fmt.Sprintf("%s: %d, of %d tried", t.Kind, t.Found, t.Judged)
		if t.ByChance > 0 {
			line += fmt.Sprintf(", %.1f expected by chance", t.ByChance)
		}
		lines = append(lines, line)
		for _, r := range body.Reasons {
			if r.Kind == t.Kind {
				reason := strings.ReplaceAll(r.Reason, "_", " ")
				lines = append(lines, fmt.Sprintf("      %s: %d, need %d", reason, r.Have, r.Need))
			}
		}
		for _, s := range body.Suggestions {
			score := "    –"
			if s.Score != nil {
				score = fmt.Sprintf("%5.1f", *s.Score)
			}
			if s.Kind == t.Kind {
				lines = append(lines, "  "+score+" "+strings.Join(strings.Fields(s.Text), " "))
			}
		}
	}
	return strings.Join(lines, "\n")
}
