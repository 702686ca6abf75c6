package job_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/job"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A slot that several processes start at once is asked once; so is what of it another job has asked.
func TestASlotIsAskedOnce(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	slot := time.Now().UTC().Truncate(time.Hour)
	alpha, beta := job.Due{Platform: "alpha", Slot: slot}, job.Due{Platform: "beta", Slot: slot}
	var together sync.WaitGroup
	var started, refused atomic.Int64
	for range 4 {
		jobs, _ := e.jobs(t)
		together.Go(func() {
			_, err := jobs.StartDue(t.Context(), e.brand, []job.Due{alpha})
			switch {
			case err == nil:
				started.Add(1)
			case errors.Is(err, postgres.ErrAsked):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	together.Wait()
	if started.Load() != 1 || refused.Load() != 3 {
		t.Errorf("%d started, %d refused as asked", started.Load(), refused.Load())
	}
	jobs, _ := e.run(t)
	id, err := jobs.StartDue(t.Context(), e.brand, []job.Due{alpha, beta})
	if err != nil {
		t.Fatal(err)
	}
	if j, r := e.finished(t, id); j.Total != 3 || r.Answered != 3 {
		t.Errorf("the rest of the slot: %+v", j)
	}
	next := job.Due{Platform: "alpha", Slot: slot.Add(time.Hour)}
	if _, err := jobs.StartDue(t.Context(), e.brand, []job.Due{next}); err != nil {
		t.Errorf("the next slot: %v", err)
	}
}

// Runs whose slot began over a day ago, because no process was there, are given up unasked. Their records, of which the
// sink takes none that ended later than a day after its slot, are on the log.
func TestAnOldSlotIsGivenUp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, numbered(3)...)
	now := time.Now().UTC().Truncate(time.Millisecond)
	jobs, _ := e.run(t)
	var ids []uuid.UUID
	for _, age := range []time.Duration{24*time.Hour + time.Millisecond, 30 * time.Hour, 40 * 24 * time.Hour} {
		id, err := jobs.StartDue(t.Context(), e.brand, []job.Due{{Platform: "alpha", Slot: now.Add(-age)}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if j, r := e.finished(t, id); j.Status != "failed" || r.GaveUp["unavailable"] != 3 {
			t.Errorf("%s, %+v", j.Status, r)
		}
	}
	answers, _ := e.records(t)
	for _, a := range answers {
		if a.GivenUp == nil || a.Attempts != 0 {
			t.Errorf("%+v", a)
		}
	}
	if len(answers) != 9 || e.service.requests() != 0 {
		t.Errorf("%d records and %d requests, want 9 and none", len(answers), e.service.requests())
	}
}
