package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/queryapi/webhook"
)

// A test is for one endpoint, whatever it listens to. What failed, was cancelled or was missed is sent again with its
// event; what arrived is not, unless it is named.
func TestWhatDidNotArriveIsSentAgain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, ringOf(t, "k"))
	ours, beside := e.add(t, `{"url":"https://hooks.example.org/","events":["brand.created"]}`),
		e.add(t, `{"url":"https://hooks.example.org/2"}`)
	path := "/" + ours.ID.String()
	var tested struct {
		Delivery uuid.UUID `json:"delivery_id"`
	}
	if status, text := e.post(t, path+"/test", "", &tested); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, text)
	}
	d, err := e.db.WebhookDelivery(t.Context(), ours.ID, tested.Delivery)
	if err != nil || d.Event != "webhook.test" || d.Status != "pending" {
		t.Errorf("%+v, %v", d, err)
	}
	if list, err := e.db.WebhookDeliveries(t.Context(), beside.ID, 10); err != nil || len(list) != 0 {
		t.Errorf("beside it: %+v, %v", list, err)
	}
	emit := func(event string) (id uuid.UUID) {
		t.Helper()
		e.one(t, &id, "SELECT private.emit($1, NULL, $2, '{}')", e.admins[0].OrganizationID, event)
		return id
	}
	set := func(event uuid.UUID, status string) {
		t.Helper()
		if _, err := e.pg.Exec(t.Context(),
			"UPDATE public.webhook_deliveries SET status = $2, attempts = 10 WHERE event_id = $1", event,
			status); err != nil {
			t.Fatal(err)
		}
	}
	failed, cancelled, delivered := emit("brand.created"), emit("brand.created"), emit("brand.created")
	set(d.EventID, "delivered")
	set(failed, "failed")
	set(cancelled, "cancelled")
	set(delivered, "delivered")
	if _, err := e.pg.Exec(t.Context(),
		"UPDATE public.webhook_endpoints SET is_active = false WHERE id = $1", ours.ID); err != nil {
		t.Fatal(err)
	}
	missed := emit("brand.created")
	emit("brand.deleted")
	// A filter that is widened later adds nothing to what was missed.
	if _, err := e.pg.Exec(t.Context(),
		"UPDATE public.webhook_endpoints SET events = '{}' WHERE id = $1", ours.ID); err != nil {
		t.Fatal(err)
	}
	since := `{"since":"` + time.Now().Add(-time.Hour).Format(time.RFC3339) + `"}`
	for _, step := range []string{"/test", "/redeliver"} {
		if status, text := e.post(t, path+step, since, nil); status != http.StatusConflict ||
			!strings.Contains(text, "switch it on first") {
			t.Errorf("switched off: %d %s", status, text)
		}
	}
	if _, err := e.pg.Exec(t.Context(),
		"UPDATE public.webhook_endpoints SET is_active = true WHERE id = $1", ours.ID); err != nil {
		t.Fatal(err)
	}
	var repeated struct{ Deliveries int }
	earlier := fmt.Sprintf(`{"since":%q,"until":%q}`, time.Now().Add(-2*time.Hour).Format(time.RFC3339),
		time.Now().Add(-time.Hour).Format(time.RFC3339))
	if status, text := e.post(t, path+"/redeliver", earlier, &repeated); status != http.StatusAccepted ||
		repeated.Deliveries != 0 {
		t.Errorf("until an hour ago: %d %s", status, text)
	}
	if status, text := e.post(t, path+"/redeliver", since, &repeated); status != http.StatusAccepted ||
		repeated.Deliveries != 3 {
		t.Errorf("%d %s", status, text)
	}
	var pending, attempts int
	e.one(t, &pending, "SELECT count(*) FROM public.webhook_deliveries WHERE endpoint_id = $1 AND status = "+
		"'pending' AND event_id = ANY ($2)", ours.ID, []uuid.UUID{failed, cancelled, missed})
	e.one(t, &attempts,
		"SELECT sum(attempts) FROM public.webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'", ours.ID)
	if pending != 3 || attempts != 0 {
		t.Errorf("%d are pending, after %d attempts", pending, attempts)
	}
	if status, text := e.post(t, path+"/redeliver",
		`{"delivery_id":"`+tested.Delivery.String()+`"}`, &repeated); status != http.StatusAccepted ||
		repeated.Deliveries != 1 {
		t.Errorf("%d %s", status, text)
	}
	if d, err = e.db.WebhookDelivery(t.Context(), ours.ID, tested.Delivery); err != nil || d.Status != "pending" {
		t.Errorf("%+v, %v", d, err)
	}
	// A delivery is named to its own endpoint alone.
	var theirs webhook.Added
	if status, text := e.post(t, "", `{"url":"https://hooks.example.org/"}`, &theirs, "other",
		"1"); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	for endpoint, headers := range map[uuid.UUID][]string{beside.ID: nil, theirs.ID: {"other", "1"}} {
		if status, text := e.post(t, "/"+endpoint.String()+"/redeliver",
			`{"delivery_id":"`+tested.Delivery.String()+`"}`, nil, headers...); status != http.StatusNotFound {
			t.Errorf("a delivery of another endpoint: %d %s", status, text)
		}
	}
	// What happened before an endpoint was added was not missed by it.
	newest := e.add(t, `{"url":"https://hooks.example.org/3"}`)
	if status, text := e.post(t, "/"+newest.ID.String()+"/redeliver", since,
		&repeated); status != http.StatusAccepted || repeated.Deliveries != 0 {
		t.Errorf("%d %s", status, text)
	}
	if err := e.db.RemoveWebhookEndpoint(t.Context(), ours.ID); err != nil {
		t.Error(err)
	}
	if list, err := e.db.WebhookEndpoints(t.Context(), e.admins[0].OrganizationID); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
