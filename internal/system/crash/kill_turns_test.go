package crash

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/system/run"
)

// A turnCount is how often a scenario had its turn, and how often the process died by itself at the scenario's point.
type turnCount struct{ turns, own int }

// armedAt is where a process is to die by itself in a scenario; "": nowhere.
func (b scenario) armedAt() fault.Point {
	if b.importer != "" {
		return b.importer
	}
	return b.all
}

// note counts a turn of a scenario, before anything is killed from outside, and says whether the process died by
// itself.
func (k *killing) note(b scenario, s *run.Server) (own bool) {
	switch {
	case b.importer != "":
		own = k.imports.shot()
	case b.all != "":
		own = s.Shot()
	}
	of := k.turns[b.name]
	of.turns++
	if own {
		of.own++
	}
	k.turns[b.name] = of
	return own
}

// shot says whether one of them has died by itself.
func (i *importers) shot() bool {
	select {
	case <-i.over:
		return i.died
	default:
		return false
	}
}

// manyTurns of every scenario make a run a long one, in which each point and what else is left to chance must have been
// met.
const manyTurns = 3

// met says what the rounds have met, and fails a long run that has missed something.
func (k *killing) met(t *testing.T, rounds int) {
	t.Helper()
	long := run.LongRun() && rounds >= manyTurns*len(k.scenarios)
	var shots []string
	for _, b := range slices.SortedFunc(slices.Values(k.scenarios), func(a, b scenario) int {
		return strings.Compare(a.name, b.name)
	}) {
		of := k.turns[b.name]
		if b.armedAt() == "" || of.turns == 0 {
			continue
		}
		shots = append(shots, fmt.Sprintf("%s %d of %d", b.name, of.own, of.turns))
		if long && of.own == 0 {
			t.Errorf("%s: nothing died there by itself in %d rounds", b.name, of.turns)
		}
	}
	t.Logf("died by themselves: %s; %d killed when a part of a round had landed; %d times a second pipeline died, "+
		"and %d times its partitions were inherited",
		strings.Join(shots, ", "), k.partial, k.rebalances, k.inherited)
	if long && (k.partial == 0 || k.inherited == 0) {
		t.Error("no round was killed when a part of it had landed, or no partitions were inherited")
	}
}
