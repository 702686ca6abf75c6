package api

import (
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Two hundred polls that wait for twenty jobs ask PostgreSQL as often as one does.
func TestPollsLookTogether(t *testing.T) {
	t.Parallel()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	jobs := startJobs(t, db, 20)
	const looks = 4
	w := newWatch(db)
	before := db.Stat().AcquireCount()
	var polls sync.WaitGroup
	for i := range 200 {
		job := jobs[i%len(jobs)]
		polls.Go(func() {
			defer w.join(job)()
			for range looks {
				j, seen, err := w.next(t.Context(), job.ID)
				if err != nil || seen && (j.ID != job.ID || j.Status != "waiting") {
					t.Errorf("%+v, %v", j, err)
				}
			}
		})
	}
	polls.Wait()
	if queries := db.Stat().AcquireCount() - before; queries < looks || queries > 5*looks {
		t.Errorf("%d queries of 200 polls that wait for %d looks", queries, looks)
	}
	stranger := postgres.JobKey{OrganizationID: uuid.Must(uuid.NewV4()), ID: jobs[0].ID}
	if found, err := db.TrackingJobsByKey(t.Context(), []postgres.JobKey{stranger, jobs[1]}); err != nil || len(found) != 1 || found[0].ID != jobs[1].ID {
		t.Errorf("with another organization's id: %+v, %v", found, err)
	}
}

func startJobs(t *testing.T, db *postgres.DB, n int) (jobs []postgres.JobKey) {
	t.Helper()
	organization, err := db.AddOrganization(t.Context(), "Lumen", "")
	if err != nil {
		t.Fatal(err)
	}
	brand, _, err := db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{Name: "Lumen", Domains: []string{"lumen.example"}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := uuid.Must(uuid.NewV4())
	for range n {
		run := postgres.NewRun{PromptID: prompt, Platform: "alpha", Sample: 1, Slot: time.Now(), AnswerID: uuid.Must(uuid.NewV4())}
		id, err := db.StartTracking(t.Context(), postgres.NewTracking{
			OrganizationID: organization.ID, BrandID: brand.ID, Request: []byte("{}"), CreatedAt: time.Now(),
			Prompts: []postgres.NewRunPrompt{{PromptID: prompt, Prompt: []byte("{}")}}, Runs: []postgres.NewRun{run},
		}, func(postgres.Tx, uuid.UUID) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, postgres.JobKey{OrganizationID: organization.ID, ID: id})
	}
	return jobs
}
