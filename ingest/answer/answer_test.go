package answer

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

func testRun() Run {
	due := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	return Run{
		Snapshot: Snapshot{
			OrganizationID: uuid.UUID{9}, Brand: event.Brand{
				Entity: event.Entity{ID: uuid.UUID{1}, Name: "Fernwood"}, Revision: 3,
			},
		},
		Prompt:   event.Prompt{ID: uuid.UUID{2}, SetID: uuid.UUID{3}, Text: "best tent?"},
		Platform: platform.Simulator, Model: "sim-atlas", Region: "us", Language: "en", Sample: 2, Due: due,
		JobID: &uuid.UUID{4}, EndedAt: due.Add(90 * time.Second), Latency: 1500 * time.Millisecond, Attempts: 2,
	}
}

// Both ends of a run have the same id, circumstances and snapshot, and pass Check.
func TestARunIsAnsweredOrGivenUp(t *testing.T) {
	run := testRun()
	reply := platform.Reply{ServedModel: "sim-atlas-1", Surface: event.SurfaceAPI, Finish: event.FinishComplete,
		Text:      "Fernwood.",
		Citations: []platform.Citation{{Citation: event.Citation{URL: "https://a.example/", Cited: true}}}}
	answered, gaveUp := run.Answered(reply),
		run.GaveUp(&platform.Error{Class: platform.Timeout, Cause: errors.New("120 s are over")})
	if answered.ID != run.ID() || answered.Text != "Fernwood." || len(answered.Citations) != 1 || !answered.Simulated ||
		answered.LatencyMS != 1500 {
		t.Errorf("Answered() = %+v", answered)
	}
	if gaveUp.GivenUp == nil || *gaveUp.GivenUp != (event.GivenUp{Class: "timeout", Error: "120 s are over"}) ||
		gaveUp.Text != "" {
		t.Errorf("GaveUp() = %+v", gaveUp)
	}
	if q := run.Question(); q.Text != "best tent?" || q.Model != "sim-atlas" || q.Sample != 2 || !q.Due.Equal(run.Due) {
		t.Errorf("Question() = %+v", q)
	}
	gaveUp.GivenUp, answered.ServedModel, answered.Surface, answered.Finish, answered.Text, answered.Citations = nil,
		"", "", "", "", nil
	if !reflect.DeepEqual(answered, gaveUp) {
		t.Errorf("without what the platform returned:\n%+v\n%+v", answered, gaveUp)
	}
	later := run
	later.EndedAt, later.Attempts, later.Snapshot.Brand.Revision = run.EndedAt.Add(time.Minute), 3, 4
	if later.ID() != run.ID() {
		t.Error("a run that ends later has another id")
	}
	later.Sample++
	if later.ID() == run.ID() {
		t.Error("another sample has the same id")
	}
}

func TestRecordChecksAndEncodes(t *testing.T) {
	run := testRun()
	a := run.Answered(platform.Reply{Text: "Fernwood."})
	record, err := Record(&a, run.EndedAt)
	var back event.Answer
	if err != nil || string(record.Key) != a.Brand.ID.String() || event.DecodeAnswer(record.Value, &back) != nil ||
		back.ID != a.ID {
		t.Errorf("Record() = %s %s, %v", record.Key, record.Value, err)
	}
	if _, err := Record(&a, run.EndedAt.AddDate(0, 0, -2)); !errors.Is(err, event.ErrMalformed) {
		t.Errorf("Record() of an answer of the future = %v", err)
	}
	a.Text = strings.Repeat("x", event.MaxText)
	for range 135 {
		a.Citations = append(a.Citations, event.Citation{
			URL: "https://x.example/" + strings.Repeat("y", 30_000), Title: strings.Repeat("z", 1000),
		})
	}
	if _, err := Record(&a, run.EndedAt); err == nil || !strings.HasPrefix(err.Error(), "record of ") {
		t.Errorf("Record() of too large an answer = %v", err)
	}
}
