package postgres_test

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Of two processes one leases a delivery. A lease that expired goes to the other one, in the same attempt, and what the
// first one stores then is ignored.
func TestADeliveryIsEndedByItsLeaseholder(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events", "DELETE FROM public.webhook_endpoints")
	endpoint := w.endpoint(t, w.own, "kind", "'webhook'")
	w.run(t, "INSERT INTO private.webhook_secrets (organization_id, endpoint_id, sealed, expires_at, created_at) SELECT organization_id, id, s.sealed, now() + s.life, now() + s.made FROM public.webhook_endpoints, (VALUES ('old', INTERVAL '1 h', INTERVAL '-2 h'), ('expired', '-1 h', '-3 h'), ('new', NULL, '-1 h')) AS s (sealed, life, made)")
	for range 2 {
		w.run(t, "SELECT private.emit('"+w.own.organization.ID.String()+"', NULL, 'brand.created', '{\"a\": 1}')")
	}
	queue := func(lease time.Duration) *postgres.DeliveryQueue {
		q, err := w.db.NewDeliveryQueue(lease)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	lease := func(q *postgres.DeliveryQueue, want int) (d postgres.Delivery) {
		t.Helper()
		leased, err := q.Deliveries(t.Context(), 10)
		if err != nil || len(leased) != want {
			t.Fatalf("leased %d, %v, want %d", len(leased), err, want)
		}
		if want > 0 {
			d = leased[0]
		}
		return d
	}
	end := func(q *postgres.DeliveryQueue, d uuid.UUID, status string) {
		t.Helper()
		if err := q.EndDelivery(t.Context(), d, postgres.Attempt{Status: status}); err != nil {
			t.Fatal(err)
		}
	}
	dead, next := queue(0), queue(time.Minute)
	first := lease(dead, 1)
	second := lease(next, 1)
	if first.ID != second.ID || second.Attempts != 1 || second.EndpointID != endpoint || string(second.Data) != `{"a": 1}` {
		t.Errorf("leased %+v, then %+v", first, second)
	}
	if len(second.Secrets) != 2 || second.Secrets[0] != "new" || second.Secrets[1] != "old" {
		t.Errorf("secrets %v", second.Secrets)
	}
	lease(queue(time.Minute), 0) // while one delivery of the endpoint is under way
	end(dead, first.ID, "failed")
	lease(queue(time.Minute), 0)
	end(next, second.ID, "delivered")
	end(next, second.ID, "failed")
	if got := one[string](t, w.root, "SELECT status FROM public.webhook_deliveries WHERE id = $1", first.ID); got != "delivered" {
		t.Errorf("it is %s", got)
	}
	if third := lease(next, 1); third.ID == first.ID || third.Attempts != 1 {
		t.Errorf("then leased %+v", third)
	}
}

func TestOldEventsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events", "DELETE FROM private.mails",
		"INSERT INTO public.brands (organization_id, name) SELECT id, 'New' FROM public.organizations WHERE name IN ('Own', 'Other')",
		"UPDATE public.events SET at = now() - INTERVAL '91 days' WHERE organization_id = '"+w.own.organization.ID.String()+"'",
		`INSERT INTO private.mails (organization_id, template, recipient, created_at)
		 SELECT organization_id, 'reset', 'x@y.example', at FROM public.events`)
	w.endpoint(t, w.own, "kind", "'webhook'")
	w.run(t, "INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, event) SELECT v.organization_id, e.id, v.id, v.type FROM public.events AS v CROSS JOIN (SELECT id FROM public.webhook_endpoints LIMIT 1) AS e")
	if err := w.db.PruneEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"public.events", "public.webhook_deliveries", "private.mails"} {
		if got := list[uuid.UUID](t, w.root, "SELECT organization_id FROM "+table); len(got) != 1 || got[0] != w.other.organization.ID {
			t.Errorf("%s has rows of %v", table, got)
		}
	}
}
