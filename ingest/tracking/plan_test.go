package tracking

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A request that comes to millions of runs took gigabytes before it was refused.
func TestAPlanIsBounded(t *testing.T) {
	plan := newPlan()
	at := place{Platform: Platform{Description: platform.Description{Slug: "alpha", TakesRegion: true}}, slot: time.Now()}
	var regions []string
	for first := 'a'; first <= 'z'; first++ {
		for second := 'a'; second <= 'z'; second++ {
			regions = append(regions, string([]rune{first, second}))
		}
	}
	for range 20 {
		prompt := postgres.PromptToAsk{Prompt: postgres.Prompt{ID: uuid.Must(uuid.NewV4()), Text: "which lamp?"}}
		plan.add(postgres.Brand{}, Request{Regions: regions, Samples: MaxSamples}, at, prompt, false)
	}
	if n := len(plan.Runs); n != maxRuns+1 {
		t.Errorf("%d runs of %d, want one more than the most, %d", n, 20*26*26*MaxSamples, maxRuns)
	}
}
