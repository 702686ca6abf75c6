package advice

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// completePrompts is how many prompts the list of names needs to be complete.
const completePrompts = 10

// nameEvidence is about a name that has no tracked owner. Its Link lists the answers whose texts have it as written.
type nameEvidence struct {
	name.Name

	Cards uint64 `json:"cards,omitempty"` // product lists that show its products
	Link
}

// texts reads the texts of a brand's answers once: untracked names, and criticism of the brand.
func texts(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Result, error) {
	filter := brand.filter(window)
	var ids []clickhouse.UUID
	var competitors []extract.Entity
	for _, c := range brand.Competitors {
		ids, competitors = append(ids, clickhouse.UUID(c.ID)), append(competitors, extract.Entity(c))
	}
	all := name.New(extract.Entity{Name: brand.Name, Aliases: brand.Aliases, Domains: brand.Domains}, competitors)
	err := clickhouse.AdviceTexts(ctx, warehouse, filter, ids, func(row *clickhouse.AdviceText) error {
		all.Add(name.Answer{
			ID: uuid.UUID(row.ID), PromptID: uuid.UUID(row.PromptID), Prompt: row.PromptText, Platform: row.Platform,
			Language: row.Language, Text: row.Text, Brand: row.NamesBrand, Tracked: row.NamesTracked,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	brands, err := clickhouse.AdviceCards.All(ctx, warehouse, filter)
	if err != nil {
		return nil, err
	}
	r := all.Result()
	names := foundNames(r, brands)
	return []Result{names, foundThemes(r, brand.Name)}, names.linkNames(ctx, warehouse, filter)
}

func foundNames(r name.Result, brands []clickhouse.CardBrand) Result {
	cards := map[string]uint64{}
	for _, b := range brands {
		cards[extract.Fold(b.Name)] += b.Lists
	}
	names := Result{Total: Total{Kind: KindCompetitor, Judged: r.Phrases}, Reasons: reasonsOf(KindCompetitor, r)}
	for _, n := range r.Names {
		names.Suggestions = append(names.Suggestions, Suggestion{
			Kind: KindCompetitor, Key: n.Key, Score: perCent(int64(n.Beside), int64(r.Answers)),
			Text: fmt.Sprintf("%s is named beside the brands that you track in %d answers to %d prompts.",
				n.Name, n.Beside, n.Prompts),
			Reason: fmt.Sprintf("It heads a line, an item, a heading or a cell in %d of the %d answers that name it.",
				n.Leading, n.Answers),
			Evidence: &nameEvidence{Name: n, Cards: cards[n.Key]},
		})
	}
	return names.ranked(Reason{KindCompetitor, "too_few_prompts", r.Prompts, completePrompts})
}

// linkNames adds the links of names, with the number of answers that each lists.
func (r Result) linkNames(ctx context.Context, warehouse *clickhouse.Conn, filter clickhouse.ExportFilter) error {
	if len(r.Suggestions) == 0 {
		return nil
	}
	names := clickhouse.NamesFilter{ExportFilter: filter}
	for _, s := range r.Suggestions {
		names.Names = append(names.Names, s.Evidence.(*nameEvidence).Name.Name)
	}
	counts, err := clickhouse.AdviceNameCounts.All(ctx, warehouse, names)
	for _, c := range counts {
		i := slices.Index(names.Names, c.Name)
		r.Suggestions[i].Evidence.(*nameEvidence).Link = Link{"name=" + url.QueryEscape(c.Name), c.Answers}
	}
	return err
}

func foundThemes(r name.Result, brand string) Result {
	themes := Result{Total: Total{Kind: KindTheme, Judged: r.Critics}, Reasons: reasonsOf(KindTheme, r)}
	for _, t := range r.Themes {
		score := perCent(int64(t.Answers), int64(t.Naming))
		themes.Suggestions = append(themes.Suggestions, Suggestion{
			Kind: KindTheme, Key: t.Key, Score: score,
			Text: fmt.Sprintf("%d answers to %d prompts criticise %s: %q.",
				t.Answers, t.Prompts, brand, quoted(t.Words)),
			Reason:   fmt.Sprintf("%s is named in %d answers; these are %.1f %% of them.", brand, t.Naming, score),
			Evidence: t, // its quotes lead to their answers; no filter lists criticism
		})
	}
	return themes.ranked()
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
