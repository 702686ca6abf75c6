package pipeline

import (
	"maps"
	"testing"

	"github.com/answerscope/answerscope/internal/config"
)

func TestEachRetentionSettingReachesItsTopic(t *testing.T) {
	cfg := Deps{
		Prefix: "p-", Retention: config.Retention{Answers: 13, Visits: 3, Crawls: 5, Deadletters: 1},
	}.retentionConfig()
	want := map[string]int{"answers": 13, "visits": 3, "crawls": 5}
	if !maps.Equal(cfg.Months, want) || cfg.DeadLetters != 1 {
		t.Errorf("%v, and dead letters %d months, want %v and 1", cfg.Months, cfg.DeadLetters, want)
	}
	if len(cfg.Sinks) != 3 {
		t.Errorf("%d sinks are stopped for it, want 3", len(cfg.Sinks))
	}
}
