package naive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// AnswerFilter is what the parameters of /api/v1/answers say; nil lets everything through.
type AnswerFilter struct {
	Filter
	Prompt, Competitor *uuid.UUID
	Mentioned, Cited   *bool
	Domain, URL, Page  *string
	Category           *string                  // source type
	Sample             int64                    // 0: all
	Sentiment          string                   // "": all
	Shown              string                   // "": true; false, all
	ByPrompt           bool                     // those of a day are sorted by prompt
	Listed             func(host string) string // as of Citations
}

// Answers are the rows of /api/v1/answers that pass, newest first, without their excerpts. competitors are those that
// live.
func Answers(readings []Reading, f AnswerFilter, competitors []Live) []Body {
	rows := []Body{}
	for _, r := range f.runs(readings) {
		if !r.givenUp() && f.lists(r, competitors) {
			rows = append(rows, r.row())
		}
	}
	slices.SortFunc(rows, func(a, b Body) int {
		text := func(row Body, name string) string { return row[name].(string) }
		order := cmp.Or(cmp.Compare(text(b, "answered_at"), text(a, "answered_at")), cmp.Compare(text(a, "id"), text(b, "id")))
		if f.ByPrompt {
			days := cmp.Compare(text(b, "answered_at")[:10], text(a, "answered_at")[:10])
			return cmp.Or(days, cmp.Compare(fmt.Sprint(a["prompt_id"]), fmt.Sprint(b["prompt_id"])), order)
		}
		return order
	})
	return rows
}

func (f AnswerFilter) lists(r Reading, competitors []Live) bool {
	hosts := cited(r.Answer.Citations)
	switch {
	case f.Shown != "all" && r.notShown() != (f.Shown == "false"):
	case f.Prompt != nil && r.Answer.Prompt.ID != *f.Prompt:
	case f.Sample != 0 && r.Answer.Sample != f.Sample:
	case f.Sentiment != "" && r.Brand.Sentiment != f.Sentiment:
	case f.Mentioned != nil && *f.Mentioned != (r.Brand.Mentions > 0):
	case f.Cited != nil && *f.Cited != (r.Brand.Citations > 0):
	case f.Competitor != nil && !(rival(*f.Competitor)(r).Mentions > 0 && lives(*f.Competitor, competitors)):
	case f.URL != nil && hosts[*f.URL] == "":
	case f.Domain != nil && !citesDomain(hosts, *f.Domain):
	case f.Page != nil && !citesPage(hosts, *f.Page):
	case f.Category != nil && !slices.ContainsFunc(r.citations(f.Listed), func(c citation) bool { return c.kind == *f.Category }):
	default:
		return true
	}
	return false
}

func lives(id uuid.UUID, competitors []Live) bool {
	return slices.ContainsFunc(competitors, func(c Live) bool { return c.ID == id })
}

func citesDomain(hosts map[string]string, domain string) bool {
	for _, host := range hosts {
		if registrable(host) == domain {
			return true
		}
	}
	return false
}

func citesPage(hosts map[string]string, page string) bool {
	for url := range hosts {
		if pageOf(url) == page {
			return true
		}
	}
	return false
}

func (r Reading) row() Body {
	a := r.Answer
	row := Body{
		"id": a.ID.String(), "prompt_id": a.Prompt.ID, "prompt_text": a.Prompt.Text, "platform": a.Platform, "model": a.Model,
		"served_model": a.ServedModel, "provider": a.Provider, "shown": !r.notShown(), "region": a.Region, "sample": a.Sample, "answered_at": a.AnsweredAt.UTC().Format("2006-01-02T15:04:05.000Z"),
		"mentioned": r.Brand.Mentions > 0, "position": nil, "cited": r.Brand.Citations > 0, "sentiment": r.Brand.Sentiment, "citations_count": len(cited(a.Citations)),
	}
	if r.Brand.Mentions > 0 {
		row["position"] = r.Brand.Position
	}
	return row
}
