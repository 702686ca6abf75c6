package notify_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	deliveries = "public.webhook_deliveries"
	mails      = "private.mails"
)

// A receiver that hangs takes one delivery at a time, and the one beside it is served.
func TestASlowReceiverDelaysNoOther(t *testing.T) {
	e := newEnvironment(t)
	released := make(chan struct{})
	e.receiver.answer = func(_ http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/slow" {
			<-released
		}
	}
	e.endpoint(t, "/slow")
	e.endpoint(t, "/quick")
	for range 20 {
		e.emit(t)
	}
	e.run(t, e.db, quickly())
	wait.For(t, "the quick receiver", func() bool { n, _ := e.receiver.count("/quick"); return n == 20 })
	if n, requests := e.receiver.count("/slow"); n != 1 || requests != 1 {
		t.Errorf("the slow receiver has %d requests of %d deliveries at once, want 1", requests, n)
	}
	close(released)
	wait.For(t, "the slow receiver", func() bool { return e.statuses(t, deliveries) == "40 delivered" })
	if n, requests := e.receiver.count(""); n != 40 || requests != 40 {
		t.Errorf("%d requests for %d deliveries", requests, n)
	}
}

// A delivery that fails is due again at the times of the schedule, ten times. After days of failures the endpoint is
// disabled, what is pending for it is cancelled, and other endpoints, admins and the audit log are told.
func TestAFailingEndpointIsDisabled(t *testing.T) {
	e := newEnvironment(t)
	e.receiver.answer = func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/failing" {
			http.Error(w, "no \x00 luck", http.StatusInternalServerError)
		}
	}
	failing := e.endpoint(t, "/failing")
	e.run(t, e.db, quickly())
	fail := func(event uuid.UUID) {
		t.Helper()
		for n := 1; n <= 10; n++ {
			attempt := func() (seconds float64) {
				return one[float64](t, e, `SELECT coalesce(max(extract(epoch FROM next_attempt_at - now())), -1)
					FROM public.webhook_deliveries WHERE event_id = $1 AND attempts = $2 AND holder IS NULL`, event, n)
			}
			wait.For(t, "an attempt", func() bool { return attempt() > -1 })
			want := []float64{5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400, 0}[n-1]
			if got := attempt(); got < want*0.9-3 || got > want*1.1 {
				t.Fatalf("attempt %d: the next one is due in %v s, want %v", n, got, want)
			}
			e.exec(t, "UPDATE public.webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending' AND "+
				"event_id = $1", event)
		}
	}
	fail(e.emit(t))
	fail(e.emit(t))
	if got := one[string](t, e, "SELECT status || response_status || error || response_excerpt FROM "+
		"public.webhook_deliveries LIMIT 1"); got != "failed500status 500no  luck\n" {
		t.Errorf("stored is %q", got)
	}
	if !one[bool](t, e, "SELECT is_active AND failing_since IS NOT NULL FROM public.webhook_endpoints") {
		t.Error("the endpoint was disabled within five days")
	}
	e.exec(t, "UPDATE public.webhook_endpoints SET failing_since = failing_since - INTERVAL '5 days'")
	e.endpoint(t, "/other")
	e.exec(t, "UPDATE public.webhook_deliveries SET next_attempt_at = next_attempt_at - INTERVAL '1 day'")
	last := e.emit(t)
	wait.For(t, "a first attempt", func() bool {
		return e.statuses(t,
			deliveries) == "1 delivered, 2 failed, 1 pending"
	})
	waiting := e.emit(t)
	e.exec(t, "UPDATE public.webhook_deliveries SET attempts = 9, next_attempt_at = now() WHERE event_id = $1 AND "+
		"endpoint_id = $2", last, failing)
	wait.For(t, "the end of the endpoint", func() bool {
		return !one[bool](t, e, "SELECT is_active FROM public.webhook_endpoints WHERE id = $1", failing)
	})
	wait.For(t, "the event", func() bool { return e.statuses(t, deliveries) == "1 cancelled, 3 delivered, 3 failed" })
	if got := one[string](t, e, "SELECT status FROM public.webhook_deliveries WHERE event_id = $1 AND endpoint_id = "+
		"$2", waiting, failing); got != "cancelled" {
		t.Errorf("what was pending is %s", got)
	}
	host := strings.TrimPrefix(e.receiver.url, "http://")
	want := `{"endpoint": {"id": "` + failing.String() + `", "host": "` + host + `", "reason": "failing"}}`
	if got := one[string](t, e, "SELECT data::text FROM public.events WHERE type = "+
		"'webhook_endpoint.disabled'"); got != want {
		t.Errorf("the event has %s, want %s", got, want)
	}
	if got := one[string](t, e, "SELECT recipient::text FROM private.mails"); got != "ana@lumen.example" {
		t.Errorf("mailed to %s", got)
	}
	if got := one[string](t, e, "SELECT subject FROM public.audit_log WHERE action = 'webhook disabled'"); got != host {
		t.Errorf("the audit log names %s", got)
	}
}

// 410 disables at once. What is pending for an endpoint that is switched off by hand waits.
func TestAnEndpointThatIsGoneOrOff(t *testing.T) {
	e := newEnvironment(t)
	e.receiver.answer = func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
	}
	gone, off := e.endpoint(t, "/gone"), e.endpoint(t, "/off")
	e.emit(t)
	e.emit(t)
	e.exec(t, "UPDATE public.webhook_endpoints SET is_active = false WHERE id = $1", off)
	e.run(t, e.db, quickly())
	const done = "2 cancelled, 1 failed, 2 pending"
	wait.For(t, "410", func() bool { return e.statuses(t, deliveries) == done })
	if got := one[string](t, e, "SELECT disabled_reason FROM public.webhook_endpoints WHERE id = $1",
		gone); got != "gone" {
		t.Errorf("disabled for %s", got)
	}
	e.exec(t, "UPDATE public.webhook_endpoints SET is_active = true WHERE id = $1", off)
	wait.For(t, "what waited", func() bool { return e.statuses(t, deliveries) == "2 cancelled, 2 delivered, 1 failed" })
	if !one[bool](t, e, "SELECT last_delivered_at > now() - INTERVAL '1 hour' AND failing_since IS NULL FROM "+
		"public.webhook_endpoints WHERE id = $1", off) {
		t.Error("the endpoint has no last delivery")
	}
}

// An answer that comes while PostgreSQL is away is stored later, and not asked for again.
func TestPostgresIsAway(t *testing.T) {
	e := newEnvironment(t)
	proxy := testkit.NewProxy(t, e.cfg.DSN)
	cfg := e.cfg
	cfg.DSN = proxy.DSN
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	arrived, released := make(chan struct{}, 10), make(chan struct{})
	e.receiver.answer = func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-released }
	e.endpoint(t, "/")
	e.emit(t)
	log := e.run(t, db, quickly())
	<-arrived
	proxy.Refuse()
	close(released)
	e.emit(t)
	wait.For(t, "a failure", func() bool { return strings.Contains(log.String(), "deliveries wait") })
	if got := e.statuses(t, deliveries); got != "2 pending" {
		t.Errorf("through no connection: %s", got)
	}
	proxy.Accept()
	wait.For(t, "both", func() bool { return e.statuses(t, deliveries) == "2 delivered" })
	if n, requests := e.receiver.count(""); n != 2 || requests != 2 {
		t.Errorf("%d requests for %d deliveries", requests, n)
	}
}

// A mail server that refuses a mail for good ends it at once; three in a row stop the subscription. What a mail has
// sealed is cleared when it ends.
func TestRefusedMails(t *testing.T) {
	e := newEnvironment(t)
	subscription := one[uuid.UUID](t, e, `INSERT INTO public.subscriptions (organization_id, address, confirmed_at)
		VALUES ($1, 'client@receiver.example', now()) RETURNING id`, e.organization.ID)
	cfg := quickly()
	outcomes := make(chan postgres.Outcome, 10)
	cfg.Mail = func(_ context.Context, m postgres.Mail) postgres.Outcome {
		if m.Recipient != "client@receiver.example" || m.Template != "report.weekly" || string(m.Data) != "{}" {
			t.Errorf("mail %+v", m)
		}
		return <-outcomes
	}
	e.run(t, e.db, cfg)
	refused := postgres.Outcome{Code: 550, Error: "no such user", Final: true}
	ended := 0
	mail := func(o postgres.Outcome) (stopped *string) {
		t.Helper()
		outcomes <- o
		if _, err := e.db.Exec(t.Context(), "SELECT private.emit($1, NULL, 'report.weekly', '{}')",
			e.organization.ID); err != nil {
			t.Fatal(err)
		}
		ended++
		wait.For(t, "a mail", func() bool {
			return one[int](t, e, "SELECT count(*) FROM private.mails WHERE status <> 'pending'") == ended
		})
		return one[*string](t, e, "SELECT stopped_reason FROM public.subscriptions WHERE id = $1", subscription)
	}
	for i, o := range []postgres.Outcome{refused, refused, {Code: 250}, refused, refused} {
		if stopped := mail(o); stopped != nil {
			t.Fatalf("stopped after mail %d", i)
		}
	}
	if stopped := mail(refused); stopped == nil || *stopped != "refused" {
		t.Errorf("after three refusals in a row: %v", stopped)
	}
	if got := e.statuses(t, mails); got != "1 delivered, 5 failed" {
		t.Errorf("mails: %s", got)
	}
	e.emit(t)
	if n := one[int](t, e, "SELECT count(*) FROM private.mails"); n != ended {
		t.Error("a stopped subscription is mailed")
	}
	e.exec(t, "UPDATE public.subscriptions SET stopped_at = NULL") // refusals of before do not count
	for i := range 2 {
		if stopped := mail(refused); stopped != nil {
			t.Fatalf("stopped after refusal %d since it is on again", i)
		}
	}
	if stopped := mail(refused); stopped == nil || *stopped != "refused" {
		t.Errorf("after three refusals since it is on again: %v", stopped)
	}
}

// Without a mail server a mail ends with the reason, and its link is forgotten.
func TestNoMailServer(t *testing.T) {
	e := newEnvironment(t)
	e.exec(t, "INSERT INTO private.mails (organization_id, template, recipient, sealed) VALUES ($1, 'invitation', "+
		"'x@y.example', 'link')", e.organization.ID)
	e.run(t, e.db, quickly())
	wait.For(t, "the mail", func() bool { return e.statuses(t, mails) == "1 failed" })
	if got := one[string](t, e, "SELECT error FROM private.mails WHERE sealed IS NULL"); !strings.Contains(got,
		"ANSWERSCOPE_SMTP_URL") {
		t.Errorf("the reason is %q", got)
	}
}

// An organization is deleted while a delivery is under way: its end is nothing, and others go on.
func TestAnOrganizationIsDeletedMeanwhile(t *testing.T) {
	e := newEnvironment(t)
	arrived, released := make(chan struct{}, 10), make(chan struct{})
	e.receiver.answer = func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-released }
	e.endpoint(t, "/deleted")
	e.emit(t)
	e.run(t, e.db, quickly())
	<-arrived
	e.exec(t, "DELETE FROM public.organizations")
	close(released)
	var err error
	if e.organization, err = e.db.AddOrganization(t.Context(), "Next", ""); err != nil {
		t.Fatal(err)
	}
	e.endpoint(t, "/next")
	e.emit(t)
	wait.For(t, "the next", func() bool { return e.statuses(t, deliveries) == "1 delivered" })
}
