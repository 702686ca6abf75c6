package advice

import (
	"context"
	"fmt"
	"net/url"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// completePrompts is how many prompts the list of names needs to be complete.
const completePrompts = 10

// nameEvidence is about a name that nobody tracks. It opens the answers that hold the name.
type nameEvidence struct {
	name.Name

	Cards uint64 `json:"cards,omitempty"` // product lists that show its products
	Open  string `json:"open"`
}

// texts reads the texts of a brand's answers once: names that nobody tracks, and criticism of the brand.
func texts(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Found, error) {
	filter := clickhouse.ExportFilter{
		OrganizationID: clickhouse.UUID(brand.OrganizationID), BrandID: clickhouse.UUID(brand.BrandID),
		DateFrom: clickhouse.Day(window.From), DateTo: clickhouse.Day(window.To),
	}
	var ids []clickhouse.UUID
	var competitors []extract.Entity
	for _, c := range brand.Competitors {
		ids = append(ids, clickhouse.UUID(c.ID))
		competitors = append(competitors, extract.Entity{Name: c.Name, Aliases: c.Aliases, Domains: c.Domains})
	}
	all := name.New(extract.Entity{Name: brand.Name, Aliases: brand.Aliases, Domains: brand.Domains}, competitors)
	err := clickhouse.AdvisedTexts(ctx, warehouse, filter, ids, func(row *clickhouse.AdvisedText) error {
		all.Add(name.Answer{
			ID: uuid.UUID(row.ID), PromptID: uuid.UUID(row.PromptID), Prompt: row.PromptText, Platform: row.Platform,
			Language: row.Language, Text: row.Text, Brand: row.NamesBrand, Tracked: row.NamesTracked,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	brands, err := clickhouse.AdvisedCards.All(ctx, warehouse, filter)
	if err != nil {
		return nil, err
	}
	r := all.Result()
	return []Found{foundNames(r, brands), foundThemes(r, brand.Name)}, nil
}

func foundNames(r name.Result, brands []clickhouse.CardBrand) Found {
	cards := map[string]uint64{}
	for _, b := range brands {
		cards[extract.Fold(b.Name)] += b.Lists
	}
	found := Found{Kind: KindCompetitor, Of: len(r.Names), Tried: r.Phrases, Reasons: reasonsOf(KindCompetitor, r)}
	if r.Prompts < completePrompts {
		found.Reasons = append(found.Reasons, Reason{KindCompetitor, "too_few_prompts", r.Prompts, completePrompts})
	}
	for _, n := range r.Names {
		found.Suggestions = append(found.Suggestions, Suggestion{
			Kind: KindCompetitor, Key: n.Key, Score: n.Score,
			Text: fmt.Sprintf("%s is named beside the brands that you track in %d answers to %d prompts.", n.Name, n.Beside, n.Prompts),
			Reason: fmt.Sprintf("It heads a line, a list item, a heading or a cell in %d of the %d answers that name it.",
				n.Leading, n.Answers),
			Evidence: nameEvidence{n, cards[n.Key], url.Values{"name": {n.Name}}.Encode()},
		})
	}
	found.Suggestions = rank(found.Suggestions)
	return found
}

// themeEvidence is about criticism of the brand.
type themeEvidence struct {
	name.Theme

	Open string `json:"open"`
}

func foundThemes(r name.Result, brand string) Found {
	found := Found{Kind: KindTheme, Of: len(r.Themes), Tried: r.Critics, Reasons: reasonsOf(KindTheme, r)}
	for _, t := range r.Themes {
		found.Suggestions = append(found.Suggestions, Suggestion{
			Kind: KindTheme, Key: t.Key, Score: t.Score,
			Text:     fmt.Sprintf("%d answers to %d prompts criticise %s with %q.", t.Answers, t.Prompts, brand, t.Words),
			Reason:   fmt.Sprintf("%s is named in %d answers; these are %.1f %% of them.", brand, t.Naming, t.Score),
			Evidence: themeEvidence{t, ""},
		})
	}
	found.Suggestions = rank(found.Suggestions)
	return found
}

// reasonsOf returns why not all texts were read.
func reasonsOf(kind string, r name.Result) (reasons []Reason) {
	if r.Read < r.Answers {
		reasons = append(reasons, Reason{kind, "not_english", r.Read, r.Answers})
	}
	if r.Forgotten {
		reasons = append(reasons, Reason{kind, "rare_phrases_forgotten", r.Phrases, r.Phrases})
	}
	return reasons
}
