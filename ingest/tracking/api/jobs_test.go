package api

import (
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A long poll answers when its job changes, else after its wait; for a finished job it answers at once. Another
// organization's job is not found.
func TestALongPollAnswersWhenItsJobChanges(t *testing.T) {
	t.Parallel()
	s := serve(t)
	job := startJob(t, s.db, s.own.ID)
	poll := func(caller, wait string) (status int, body string, took time.Duration) {
		began := time.Now()
		status, body = s.ask(caller, "GET", "/api/tracking/job/"+job.String()+"?wait="+wait, "")
		return status, body, time.Since(began)
	}
	if status, body, _ := poll("stranger", "30"); status != 404 {
		t.Errorf("another organization's job: %d %s", status, body)
	}
	if status, body, took := poll("viewer", "1"); status != 200 || !strings.Contains(body, `"status":"waiting"`) ||
		took < time.Second {
		t.Errorf("unchanged: %d %s after %s, want waiting after 1 s", status, body, took)
	}
	changing := make(chan error, 1)
	go func() {
		_ = lifecycle.Pause(t.Context(), 100*time.Millisecond) // so that the poll has begun
		changing <- s.db.CancelTracking(t.Context(), s.own.ID, job)
	}()
	if status, body, took := poll("viewer", "60"); status != 200 || !strings.Contains(body, `"status":"cancelled"`) ||
		took > 30*time.Second {
		t.Errorf("changed: %d %s after %s, want cancelled", status, body, took)
	}
	if err := <-changing; err != nil {
		t.Error(err)
	}
	if status, body, took := poll("viewer", "60"); status != 200 || took > 30*time.Second {
		t.Errorf("finished: %d %s after %s, want an answer at once", status, body, took)
	}
}

func startJob(t *testing.T, db *postgres.DB, organization uuid.UUID) uuid.UUID {
	t.Helper()
	brand, _, err := db.AddBrand(t.Context(), organization, postgres.NewBrand{
		Name: "Lumen", Domains: []string{"lumen.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	prompt := uuid.Must(uuid.NewV4())
	run := postgres.NewRun{
		PromptID: prompt, Platform: "alpha", Sample: 1, Slot: time.Now(), AnswerID: uuid.Must(uuid.NewV4()),
	}
	id, err := db.StartTracking(t.Context(), postgres.NewTracking{
		OrganizationID: organization, BrandID: brand.ID, Request: []byte("{}"), CreatedAt: time.Now(),
		Prompts: []postgres.NewRunPrompt{{PromptID: prompt, Prompt: []byte("{}")}}, Runs: []postgres.NewRun{run},
	}, func(postgres.Tx, uuid.UUID) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Once, 1,500 requests of one viewer that waited took the database from everybody.
func TestACallerWaitsForTwentyJobsAtOnce(t *testing.T) {
	t.Parallel()
	w := &New(nil, nil, nil, nil).waits
	ann, bo := uuid.Must(uuid.NewV4()), uuid.Must(uuid.NewV4())
	var end func()
	for range maxWaits {
		var ok bool
		if end, ok = w.TryAcquire(ann); !ok {
			t.Fatal("no wait within the limit")
		}
	}
	if _, ok := w.TryAcquire(ann); ok {
		t.Error("one too many waits")
	}
	if _, ok := w.TryAcquire(bo); !ok {
		t.Error("another caller does not wait")
	}
	end()
	if _, ok := w.TryAcquire(ann); !ok {
		t.Error("no wait after one has ended")
	}
}
