package demo

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

func site(from, until time.Time) Site {
	return Site{OrganizationID: uuid.UUID{9}, Brand: cast().Brand, From: from, Until: until}
}

// Every visit may be appended, says that it is simulated, and is of a page that
// answers may cite or that such a page leads to.
func TestVisitsAreValidAndVaried(t *testing.T) {
	s, _ := open(t, "", today)
	ids, seen := map[uuid.UUID]bool{}, map[string]int{}
	for v := range site(today.AddDate(0, 0, -59), today).Visits(s) {
		if err := v.Check(today); err != nil {
			t.Fatal(err)
		}
		if ids[v.ID] || v.ID.Version() != uuid.V7 || !event.IDTime(v.ID).Equal(v.At.Time) || !v.Simulated ||
			!strings.HasSuffix(v.Host, cast().Brand.Domains[0]) {
			t.Fatalf("%+v", v)
		}
		ids[v.ID] = true
		seen[string(v.Event)]++
		seen["platform "+v.Platform]++
		seen["country "+v.Country]++
		if v.NewSession {
			seen["sessions"]++
		}
		if v.Goal != nil {
			seen["goal "+v.Goal.Name]++
		}
	}
	t.Log(seen)
	for what, least := range map[string]int{
		"view": 2000, "sessions": 1500, "goal": 100, "country ": 100, "country DE": 100, "platform chatgpt": 900,
		"platform grok": 10, "goal purchase": 30, "goal newsletter": 30,
	} {
		if seen[what] < least {
			t.Errorf("%d of %q, want at least %d", seen[what], what, least)
		}
	}
	if seen["sessions"] >= seen["view"] {
		t.Error("no session has a second view")
	}
}

// A longer history repeats a shorter one, so that appending it again adds only what is new.
func TestALongerHistoryOfVisitsRepeatsAShorterOne(t *testing.T) {
	s, _ := open(t, "", today)
	short := slices.Collect(site(today.AddDate(0, 0, -3), today.AddDate(0, 0, -1)).Visits(s))
	long := map[uuid.UUID]event.Visit{}
	for v := range site(today.AddDate(0, 0, -9), today).Visits(s) {
		long[v.ID] = v
	}
	for _, v := range short {
		if !reflect.DeepEqual(v, long[v.ID]) {
			t.Errorf("%+v became %+v", v, long[v.ID])
		}
	}
	if len(short) == 0 || len(short) >= len(long) {
		t.Errorf("%d and %d visits", len(short), len(long))
	}
}
