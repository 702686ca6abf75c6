package cli

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A first attempt that failed ends the wait of a test, and not that of the demo, which waits for the next attempt.
func TestADeliveryIsAwaited(t *testing.T) {
	t.Parallel()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	organization, err := db.AddOrganization(t.Context(), "Acme", "acme")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := uuid.Must(uuid.NewV4())
	err = db.AddWebhookEndpoint(t.Context(), uuid.Nil, postgres.WebhookEndpoint{ID: endpoint,
		OrganizationID: organization.ID, Kind: postgres.KindWebhook, URL: "https://hooks.example.org/"}, "sealed")
	if err != nil {
		t.Fatal(err)
	}
	id, err := db.TestWebhook(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := db.NewDeliveryQueue(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	attempt := func(a postgres.Attempt) {
		t.Helper()
		leased, err := queue.Deliveries(t.Context(), 1)
		if err != nil || len(leased) != 1 {
			t.Fatalf("leased %d, %v", len(leased), err)
		}
		if stored, err := queue.EndDelivery(t.Context(), id, a); err != nil || !stored {
			t.Fatal(stored, err)
		}
	}
	await := func(limit time.Duration, retries bool) postgres.WebhookDelivery {
		t.Helper()
		d, err := awaitDelivery(t.Context(), db, endpoint, id, limit, retries)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	attempt(postgres.Attempt{Status: "pending", Outcome: postgres.Outcome{Error: "status 500"}})
	if d := await(time.Minute, false); d.Error == nil || *d.Error != "status 500" {
		t.Errorf("a test ends with %+v", d)
	}
	began := time.Now()
	if d := await(time.Second, true); d.Error == nil || time.Since(began) < 900*time.Millisecond {
		t.Errorf("the demo ends after %v with %+v", time.Since(began), d)
	}
	attempt(postgres.Attempt{Status: "delivered"})
	if d := await(time.Minute, true); d.Error != nil || d.Status != "delivered" {
		t.Errorf("the demo ends with %+v", d)
	}
}
