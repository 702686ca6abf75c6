package demo

import (
	"slices"
	"testing"

	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// The names that nobody tracks are the ones that were invented for it, and no word of the texts.
func TestSuggestedNamesAreBrands(t *testing.T) {
	s, history := open(t, "", today)
	texts := name.New(cast().Brand, cast().Competitors)
	for a := range history.Answers(s) {
		reading := extract.Read(&a)
		isNamed := func(e extract.EntityReading) bool { return e.Mentions > 0 }
		if a.GivenUp == nil {
			texts.Add(name.Answer{
				ID: a.ID, PromptID: a.Prompt.ID, Prompt: a.Prompt.Text, Platform: a.Platform,
				Language: a.Language, Text: a.Text,
				Brand: isNamed(reading.Brand), Tracked: isNamed(reading.Brand) ||
					slices.ContainsFunc(reading.Competitors, isNamed),
			})
		}
	}
	r := texts.Result()
	var names []string
	for _, n := range r.Names {
		names = append(names, n.Name)
		t.Logf("%s leads in %d of %d answers to %d prompts", n.Name, n.Leading, n.Answers, n.Prompts)
	}
	for _, theme := range r.Themes {
		t.Logf("%s: %d of %d answers, %q", theme.Words, theme.Answers, theme.Naming, theme.Quotes[0].Text)
	}
	slices.Sort(names)
	if want := []string{"Exempla", "Fictiva", "Imagino"}; !slices.Equal(names, want) {
		t.Errorf("suggested %q, want %q", names, want)
	}
}
