package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	w.run(t, "INSERT INTO private.webhook_secrets (organization_id, endpoint_id, sealed, expires_at, "+
		"created_at) SELECT organization_id, id, s.sealed, now() + s.life, now() + s.made FROM "+
		"public.webhook_endpoints, (VALUES ('old', INTERVAL '1 h', INTERVAL '-2 h'), ('expired', '-1 h', '-3 h'), "+
		"('new', NULL, '-1 h')) AS s (sealed, life, made)")
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
	end := func(q *postgres.DeliveryQueue, d uuid.UUID, status string, want bool) {
		t.Helper()
		if stored, err := q.EndDelivery(t.Context(), d, postgres.Attempt{Status: status}); err != nil ||
			stored != want {
			t.Fatalf("%s stored: %t, %v", status, stored, err)
		}
	}
	dead, next := queue(0), queue(time.Minute)
	first := lease(dead, 1)
	second := lease(next, 1)
	if first.ID != second.ID || second.Attempts != 1 || second.EndpointID != endpoint ||
		string(second.Data) != `{"a": 1}` {
		t.Errorf("leased %+v, then %+v", first, second)
	}
	if len(second.Secrets) != 2 || second.Secrets[0] != "new" || second.Secrets[1] != "old" {
		t.Errorf("secrets %v", second.Secrets)
	}
	test, err := w.db.TestWebhook(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	lease(queue(time.Minute), 0) // while one delivery of the endpoint is under way, not even a test
	end(dead, first.ID, "failed", false)
	lease(queue(time.Minute), 0)
	end(next, second.ID, "delivered", true)
	end(next, second.ID, "failed", false)
	if got := one[string](t, w.root, "SELECT status FROM public.webhook_deliveries WHERE id = $1",
		first.ID); got != "delivered" {
		t.Errorf("it is %s", got)
	}
	third := lease(next, 1)
	if third.ID != test || third.Attempts != 1 {
		t.Errorf("then leased %+v, want the test", third)
	}
	end(next, third.ID, "delivered", true)
	if fourth := lease(next, 1); fourth.ID == first.ID || fourth.Type != "brand.created" {
		t.Errorf("then leased %+v", fourth)
	}
	if n := one[int](t, w.root,
		"SELECT count(*) FROM public.audit_log WHERE action LIKE 'webhook %' AND detail ->> 'id' = $1",
		endpoint.String()); n != 1 {
		t.Errorf("the audit log has %d entries of an endpoint that was added and had deliveries", n)
	}
	w.run(t, "SET session_replication_role = replica; DELETE FROM public.organizations; "+
		"SET session_replication_role = origin")
	if _, err := w.db.TestWebhook(t.Context(), endpoint); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("a test in a deleted organization: %v", err)
	}
}

// While a lease lasts no other process gets the row. What a process stores after its lease expired is ignored, while
// another one has the row and after that one stored its end. That holds of deliveries and of mails.
func TestAnExpiredLeaseStoresNothing(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events", "DELETE FROM public.webhook_endpoints", "DELETE FROM private.mails",
		"DELETE FROM public.subscriptions",
		"INSERT INTO private.mails (organization_id, template, recipient, sealed) VALUES ('"+
			w.own.organization.ID.String()+"', 'reset', 'ana@receiver.example', 'link')")
	w.endpoint(t, w.own, "kind", "'webhook'")
	w.run(t, "SELECT private.emit('"+w.own.organization.ID.String()+"', NULL, 'brand.created', '{}')")
	expired, err := w.db.NewDeliveryQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	next, err := w.db.NewDeliveryQueue(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for table, c := range map[string]struct {
		lease func(*postgres.DeliveryQueue) (int, error)
		end   func(*postgres.DeliveryQueue, context.Context, uuid.UUID, postgres.Attempt) (bool, error)
	}{
		"public.webhook_deliveries": {func(q *postgres.DeliveryQueue) (int, error) {
			rows, err := q.Deliveries(t.Context(), 1)
			return len(rows), err
		}, (*postgres.DeliveryQueue).EndDelivery},
		"private.mails": {func(q *postgres.DeliveryQueue) (int, error) {
			rows, err := q.Mails(t.Context(), 1)
			return len(rows), err
		}, (*postgres.DeliveryQueue).EndMail},
	} {
		for _, step := range []struct {
			by     *postgres.DeliveryQueue
			leased int
		}{{expired, 1}, {next, 1}, {expired, 0}} {
			if n, err := c.lease(step.by); err != nil || n != step.leased {
				t.Fatalf("%s: leased %d, %v, want %d", table, n, err, step.leased)
			}
		}
		id := one[uuid.UUID](t, w.root, "SELECT id FROM "+table)
		for _, step := range []struct {
			by     *postgres.DeliveryQueue
			status string
			stored bool
		}{{expired, "failed", false}, {next, "delivered", true}, {expired, "failed", false}} {
			if stored, err := c.end(step.by, t.Context(), id, postgres.Attempt{Status: step.status}); err != nil ||
				stored != step.stored {
				t.Errorf("%s: %s stored: %t, %v", table, step.status, stored, err)
			}
		}
		if got := one[string](t, w.root, "SELECT status FROM "+table); got != "delivered" {
			t.Errorf("%s: the row is %s", table, got)
		}
	}
}

// What an endpoint lets wait is late: neither behind a delivery that is under way, nor between two of one that takes
// them.
func TestDeliveriesAreLateWhereNothingLeaves(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events", "DELETE FROM public.webhook_endpoints")
	w.endpoint(t, w.own, "kind", "'slack'")
	w.run(t, "SELECT private.emit('"+w.own.organization.ID.String()+
		"', NULL, 'brand.created', '{}') FROM generate_series(1, 3)",
		"UPDATE public.webhook_deliveries SET next_attempt_at = now() - INTERVAL '1 hour'")
	for _, c := range []struct {
		change string
		late   bool
	}{
		{"UPDATE public.webhook_endpoints SET last_delivered_at = NULL", true},
		{"UPDATE public.webhook_endpoints SET last_delivered_at = now() - INTERVAL '50 seconds'", false},
		{"UPDATE public.webhook_endpoints SET last_delivered_at = now() - INTERVAL '70 seconds'", true},
		{"UPDATE public.webhook_endpoints SET is_active = false", false},
		{"UPDATE public.webhook_endpoints SET is_active = true", true},
		{"UPDATE public.webhook_deliveries SET leased_until = now() + INTERVAL '1 minute' WHERE id = (SELECT id " +
			"FROM public.webhook_deliveries LIMIT 1)", false},
	} {
		w.run(t, c.change)
		backlog, err := w.db.DeliveryBacklog(t.Context())
		i := slices.IndexFunc(backlog, func(b postgres.DeliveryBacklog) bool { return b.Kind == "slack" })
		if err != nil || i < 0 || backlog[i].Pending != 3 || backlog[i].Seconds >= 3600 != c.late {
			t.Errorf("%s: %+v, %v, want late: %t", c.change, backlog, err, c.late)
		}
	}
}

// Links leave first. A mail about an event is cancelled if its subscription was stopped, or its user is no active
// member any more.
func TestMailsThatNobodyWantsAreCancelled(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	own := "'" + w.own.organization.ID.String() + "'"
	w.run(t, "DELETE FROM private.mails", "DELETE FROM public.subscriptions",
		"INSERT INTO public.subscriptions (organization_id, user_id) SELECT organization_id, "+
			"user_id FROM public.members WHERE organization_id = "+own,
		"INSERT INTO public.subscriptions (organization_id, address, confirmed_at) SELECT "+own+
			", a || '@receiver.example', now() FROM unnest('{client,left}'::text[]) AS a",
		"SELECT private.emit("+own+
			", NULL, e, '{}') FROM unnest('{report.weekly,webhook_endpoint.disabled}'::text[]) AS e",
		"INSERT INTO private.mails (organization_id, template, recipient, sealed) VALUES ("+own+
			", 'reset', 'last@receiver.example', 'link')",
		"UPDATE public.subscriptions SET stopped_at = now() WHERE address = 'left@receiver.example' OR user_id = '"+
			w.own.users["viewer"].ID.String()+"'",
		"UPDATE private.users SET is_active = false WHERE email = 'member@Own.example'",
		"DELETE FROM public.members WHERE user_id = '"+w.own.users["admin"].ID.String()+"'")
	queue, err := w.db.NewDeliveryQueue(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	first, err := queue.Mails(t.Context(), 1)
	if err != nil || len(first) != 1 || first[0].Recipient != "last@receiver.example" {
		t.Errorf("the first mail is %+v, %v", first, err)
	}
	mails, err := queue.Mails(t.Context(), 100)
	var got []string
	for _, m := range mails {
		got = append(got, m.Recipient+" "+m.Template)
	}
	slices.Sort(got)
	if want := "client@receiver.example report.weekly, owner@Own.example report.weekly, owner@Own.example " +
		"webhook_endpoint.disabled"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("leased %q, %v; want %s", got, err, want)
	}
	if n := one[int](t, w.root, "SELECT count(*) FROM private.mails WHERE status = 'cancelled'"); n != 5 {
		t.Errorf("%d mails are cancelled, want 5", n)
	}
}

func TestOldEventsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events", "DELETE FROM private.mails",
		"INSERT INTO public.brands (organization_id, name) SELECT id, 'New' FROM public.organizations WHERE name IN "+
			"('Own', 'Other')",
		"UPDATE public.events SET at = now() - INTERVAL '91 days' WHERE organization_id = '"+
			w.own.organization.ID.String()+"'",
		`INSERT INTO private.mails (organization_id, template, recipient, created_at)
		 SELECT organization_id, 'reset', 'x@y.example', at FROM public.events`,
		`INSERT INTO private.judged_days (organization_id, brand_id, day, verdicts)
		 SELECT b.organization_id, b.id, now()::date - CASE b.organization_id WHEN '`+w.own.organization.ID.String()+
			`' THEN 91 ELSE 89 END, '{}'
		 FROM public.brands AS b JOIN public.organizations AS o ON o.id = b.organization_id WHERE b.name = 'New'
		     AND o.name IN ('Own', 'Other')`,
		"DELETE FROM public.subscriptions",
		`INSERT INTO public.subscriptions (organization_id, address, confirmed_at, stopped_at, created_at)
		 SELECT o.id, o.slug || a.address, a.confirmed_at, a.stopped_at, now() - a.age FROM public.organizations AS o
		 CROSS JOIN (VALUES ('-late@x.example', NULL, NULL, INTERVAL '8 days'), ('-new@x.example', NULL,
		     NULL, '6 days'),
		     ('-confirmed@x.example', now(), NULL, '8 days'), ('-stopped@x.example', NULL, now(), '8 days'))
		         AS a (address, confirmed_at, stopped_at, age)
		 WHERE o.name = 'Own'`)
	w.endpoint(t, w.own, "kind", "'webhook'")
	w.run(t, "INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, "+
		"event) SELECT v.organization_id, e.id, v.id, v.type FROM public.events AS v CROSS JOIN (SELECT id FROM "+
		"public.webhook_endpoints LIMIT 1) AS e")
	if err := w.db.PruneEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{
		"public.events", "public.webhook_deliveries", "private.mails", "private.judged_days",
	} {
		if got := list[uuid.UUID](t, w.root, "SELECT organization_id FROM "+table); len(got) != 1 ||
			got[0] != w.other.organization.ID {
			t.Errorf("%s has rows of %v", table, got)
		}
	}
	addresses := list[string](t, w.root,
		"SELECT substring(address::text FROM '-(.*)@') FROM public.subscriptions ORDER BY 1")
	if got := strings.Join(addresses, " "); got != "confirmed new stopped" {
		t.Errorf("addresses that stay: %s", got)
	}
}
