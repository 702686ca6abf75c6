//go:build linux

package main

import (
	"slices"
	"testing"
)

// A set-up is compared with the mean of both runs of the single one: (100 + 300) / 2 visits a second, and (10 + 30) / 2
// ms of CPU.
func TestLegsAreComparedWithTheMeanOfTheSingleOne(t *testing.T) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	visits := func(perSecond float64, cpu map[string]float64) []clusterRate {
		return []clusterRate{{1, "visits", perSecond, cpu}}
	}
	r.compareLegs(map[string][]clusterRate{
		single:      visits(100, map[string]float64{"pipeline": 10}),
		"replicas":  visits(50, map[string]float64{"pipeline": 10, "clickhouse": 50}),
		singleAgain: visits(300, map[string]float64{"pipeline": 30}),
	})
	if r.Ceilings["visits_per_s"] != 200 || r.Ratios["replicas-1_visits"] != 0.25 ||
		r.Ratios["replicas-1_visits_cpu"] != 3 {
		t.Errorf("%+v %+v, want 200 a second, 0.25 of it and 3 times the CPU", r.Ceilings, r.Ratios)
	}
	const line = "replicas-1  visits        50 a second, 0.25; CPU of 1,000   60.0 ms, 3.00: clickhouse 50.0, " +
		"pipeline 10.0"
	if !slices.Contains(r.Lines, line) {
		t.Errorf("lines %q, want %q", r.Lines, line)
	}
}
