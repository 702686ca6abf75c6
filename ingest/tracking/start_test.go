package tracking

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A request that comes to millions of runs took gigabytes before it was refused.
func TestADraftIsBounded(t *testing.T) {
	var regions []string
	for first := 'a'; first <= 'z'; first++ {
		for second := 'a'; second <= 'z'; second++ {
			regions = append(regions, string([]rune{first, second}))
		}
	}
	draft := newDraft(postgres.Brand{}, Request{Regions: regions, Samples: MaxSamples}, time.Now())
	alpha := Platform{Description: platform.Description{Slug: "alpha", TakesRegion: true}}
	for range 20 {
		prompt := postgres.PromptToAsk{Prompt: postgres.Prompt{ID: uuid.Must(uuid.NewV4()), Text: "which lamp?"}}
		draft.addPrompt(Target{Platform: "alpha", Slot: time.Now()}, alpha, prompt, false)
	}
	if n := len(draft.Runs); n != maxRuns+1 {
		t.Errorf("%d runs of %d, want one more than the most, %d", n, 20*26*26*MaxSamples, maxRuns)
	}
}
