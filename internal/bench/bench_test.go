package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// In `make test` the smallest bench stands for all.
func TestEveryBenchRunsAndSaysWhereItRan(t *testing.T) {
	defer func(n int) { answersCount = n }(answersCount)
	answersCount = 200 // the test asks whether it runs, not how fast
	invented := advising
	defer func() { advising = invented }()
	advising.answers = 100
	whole, stream, flow := asking, streaming, flowing
	defer func() { asking, streaming, flowing = whole, stream, flow }()
	streaming.visits, streaming.rounds = 20_000, 1
	flowing.rate, flowing.time = 500, 3*time.Second
	sending := collecting
	defer func() { collecting = sending }()
	collecting.connections, collecting.rounds, collecting.warm, collecting.time = 32, 1, 0, 300*time.Millisecond
	tables := tabling
	defer func() { tabling = tables }()
	tabling.brands, tabling.first, tabling.rounds, tabling.time = 2*brandsOfOne, 5, 1, 50*time.Millisecond
	asking.data = data{brands: 11, days: 21, visits: 3, samples: 10}
	asking.window, asking.questions, asking.rounds, asking.time = 20, 1, 1, time.Millisecond
	looking := paging
	defer func() { paging = looking }()
	paging.window, paging.looks, paging.questions, paging.again = 20, 1, 1, 1
	paging.throttle = 1 // Chromium slows itself down by work
	job := tracked
	defer func() { tracked = job }()
	tracked.inFlight, tracked.takes, tracked.prompts, tracked.samples = 10, 50*time.Millisecond, 100, 10
	tracked.warm, tracked.time = 2*time.Second, 3*time.Second
	posting := delivering
	defer func() { delivering = posting }()
	delivering.answering, delivering.hanging, delivering.pending, delivering.hang = 10, 10, 20, time.Second
	delivering.rounds, delivering.changes, delivering.pace = 1, 3, time.Millisecond
	names := unprivileged()
	if !testkit.All {
		names = []string{"advice"} // it starts nothing
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { runBench(t, name) })
	}
}

// runBench runs a bench, and wants figures of it, and that it says where it ran.
func runBench(t *testing.T, name string) {
	t.Helper()
	r, err := Run(t.Context(), name, Options{Progress: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil || bytes.ContainsRune(text, '\n') {
		t.Errorf("as JSON: %s, %v, want one line", text, err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil || back["bench"] != name {
		t.Errorf("bench %v, %v, want %s", back["bench"], err, name)
	}
	for _, part := range []string{"figures", "ceilings", "ratios", "machine"} {
		if m, ok := back[part].(map[string]any); !ok || len(m) == 0 {
			t.Errorf("%s is %v, want an object with something in it", part, back[part])
		}
	}
	for _, values := range []map[string]float64{r.Figures, r.Ceilings, r.Ratios} {
		for key, v := range values {
			if v <= 0 {
				t.Errorf("%s is %v, want more than 0", key, v)
			}
		}
	}
	if name == "query" {
		everyEndpointIsMeasured(t, r)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil || !strings.HasPrefix(out.String(), name+" on ") {
		t.Errorf("printed %s, %v", &out, err)
	}
	t.Log("\n" + out.String())
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	if _, err := Run(t.Context(), "speed", Options{}); err == nil ||
		!strings.Contains(err.Error(), `bench "speed": want one of advice`) {
		t.Errorf("Run() = %v", err)
	}
}

// Endpoints are found, not listed: only this test would miss one that stopped asking the warehouse.
func everyEndpointIsMeasured(t *testing.T, r Result) {
	t.Helper()
	for _, name := range []string{
		"ai-crawlers", "ai-traffic", "ai-traffic?granularity=day", "brands-overview", "citations",
		"competitor-comparison", "fanout", "prompt-performance", "sentiment", "shopping-cards", "visibility-changes",
		"visibility-summary",
		"visibility-trend",
	} {
		_, alone := r.Figures[name+"_p99_ms"]
		_, beside := r.Ratios[name+"_driver_p50"]
		_, grown := r.Ratios[name+"_growth"]
		if !alone || !beside || !grown {
			t.Errorf("%s is not measured", name)
		}
	}
	for _, name := range []string{"suggestions_p95_ms", "verdicts-6_p95_ms", "verdicts-20_repeated_p95_ms"} {
		if r.Figures[name] == 0 {
			t.Errorf("%s is not measured", name)
		}
	}
}
