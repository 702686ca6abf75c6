package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// told empties the events, does something and returns the types of the events that it made, in their order.
func (w *environment) told(t *testing.T, texts ...string) []string {
	t.Helper()
	w.run(t, append([]string{"DELETE FROM public.events"}, texts...)...)
	return list[string](t, w.root, "SELECT type FROM public.events ORDER BY at, type")
}

func (w *environment) run(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := w.root.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// endpoint adds an endpoint with columns beside its organization and address.
func (w *environment) endpoint(t *testing.T, v fixture, columns, values string) uuid.UUID {
	t.Helper()
	return one[uuid.UUID](t, w.root, `INSERT INTO public.webhook_endpoints (organization_id, url, `+columns+`)
		VALUES ($1, 'https://receiver.example/x', `+values+`) RETURNING id`, v.organization.ID)
}

func TestChangesAreEvents(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	own := w.own.organization.ID.String()
	brand, member := w.own.brand.ID.String(), w.own.users["member"].ID.String()
	for _, c := range []struct {
		change string
		want   []string
	}{
		{"UPDATE public.tracking_jobs SET phase = 'asking', status = 'active' WHERE brand_id = '" + brand + "'", nil},
		{"UPDATE public.tracking_jobs SET phase = 'done', status = 'failed' WHERE brand_id = '" + brand + "'",
			[]string{"tracking.failed"}},
		{"UPDATE public.tracking_jobs SET phase = 'done' WHERE brand_id = '" + brand + "'", nil},
		{"INSERT INTO public.content_briefs (brand_id, title) VALUES ('" + brand + "', 'x')",
			[]string{"content_brief.created"}},
		{"UPDATE public.content_briefs SET status = 'sent' WHERE brand_id = '" + brand + "' AND title = 'x'",
			[]string{"content_brief.sent"}},
		{"UPDATE public.content_briefs SET status = 'done' WHERE brand_id = '" + brand + "' AND status = 'sent'", nil},
		{"INSERT INTO public.suggestions (brand_id, kind, text) SELECT '" + brand +
			"', 'gap', n::text FROM generate_series(1, 1000) AS n", []string{"suggestions.created"}},
		{"INSERT INTO public.suggestions (brand_id, kind, text) SELECT id, 'gap', 'x' FROM public.brands WHERE " +
			"slug = 'acme'", []string{"suggestions.created", "suggestions.created"}},
		{"UPDATE public.members SET role = 'viewer' WHERE user_id = '" + member + "'", []string{"member.changed"}},
		{"UPDATE public.members SET role = 'viewer' WHERE user_id = '" + member + "'", nil},
		{"UPDATE public.api_keys SET revoked_at = now() WHERE organization_id = '" + own + "'",
			[]string{"key.revoked"}},
		{"DELETE FROM private.users WHERE id = '" + member + "'", []string{"member.removed"}},
		{"INSERT INTO public.brands (organization_id, name) VALUES ('" + own + "', 'New')", []string{"brand.created"}},
		{"DELETE FROM public.brands WHERE name = 'New'", []string{"brand.deleted"}},
		{"UPDATE public.brands SET name = 'Other name' WHERE id = '" + brand + "'", nil},
		{"DELETE FROM public.organizations WHERE id = '" + own + "'", nil}, // with its brands and members
	} {
		if got := w.told(t, c.change); !slices.Equal(got, c.want) {
			t.Errorf("%s told %v, want %v", c.change, got, c.want)
		}
	}
}

// An admin adds a brand and removes a member: events name who and what, and only admins see the members'.
func TestEventsNameWhatHappened(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.events")
	admin := w.own.users["admin"]
	w.run(t, "SELECT set_config('request.jwt.claims', '"+claimsOf(admin)+"', false)",
		"INSERT INTO public.brands (organization_id, name) VALUES ('"+w.own.organization.ID.String()+"', 'New')",
		"DELETE FROM public.members WHERE user_id = '"+w.own.users["viewer"].ID.String()+"'")
	by := fmt.Sprintf(`{"email": "admin@Own.example", "user_id": "%s"}`, admin.ID)
	got := list[string](t, w.root, "SELECT data::text FROM public.events ORDER BY type")
	want := []string{
		fmt.Sprintf(`{"by": %s, "brand": {"id": "%s", "name": "New", "slug": "new"}}`, by,
			one[uuid.UUID](t, w.root, "SELECT id FROM public.brands WHERE name = 'New'")),
		fmt.Sprintf(`{"by": %s, "role": "viewer", "email": "viewer@Own.example", "user_id": "%s"}`, by,
			w.own.users["viewer"].ID),
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := w.user(t, w.own.users["member"], "SELECT FROM public.events"); got.rows != 1 {
		t.Errorf("a member sees %+v, want the brand alone", got)
	}
}

// A brief's events name the brand, the brief with its text, and the suggestion that led to it.
func TestEventsOfBriefs(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	brand, body := w.own.brand, strings.Repeat("x", 12001)
	suggestion := one[uuid.UUID](t, w.root, "INSERT INTO public.suggestions (brand_id, kind, text, reason) VALUES "+
		"($1, 'gap', 'a gap', 'counted') RETURNING id", brand.ID)
	brief := one[uuid.UUID](t, w.root, "INSERT INTO public.content_briefs (brand_id, suggestion_id, title, "+
		"body) VALUES ($1, $2, 'A page', $3) RETURNING id", brand.ID, suggestion, body)
	w.run(t, "UPDATE public.content_briefs SET status = 'sent' WHERE id = '"+brief.String()+"'")
	for status, event := range map[string]string{"draft": "content_brief.created", "sent": "content_brief.sent"} {
		want := fmt.Sprintf(`{"brand": {"id": "%s", "name": "%s", "slug": "%s"}, "brief": {"id": "%s", "body": `+
			`"%s", "title": "A page", "status": "%s", "suggestion_id": "%s", "body_truncated": true}, "suggestion": `+
			`{"id": "%[7]s", "kind": "gap", "text": "a gap", "reason": "counted"}}`,
			brand.ID, brand.Name, brand.Slug, brief, body[:12000], status, suggestion)
		if got := list[string](t, w.root,
			"SELECT data::text FROM public.events WHERE type = $1 AND data -> 'brief' ->> 'id' = $2", event,
			brief.String()); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %.600q\nwant %.600q", event, got, want)
		}
	}
}

// A member takes a brief from draft to sent to done, one step at a time and not back; a viewer takes none.
func TestStatusOfBriefs(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	statuses := []string{"draft", "sent", "done"}
	for i, from := range statuses {
		for j, to := range statuses {
			brief := one[uuid.UUID](t, w.root, "INSERT INTO public.content_briefs (brand_id, title, status) VALUES "+
				"($1, 'A page', $2) RETURNING id", w.own.brand.ID, from)
			want := ""
			if j != i && j != i+1 {
				want = "23514"
			}
			const change = "UPDATE public.content_briefs SET status = $1 WHERE id = $2"
			if got := w.user(t, w.own.users["viewer"], change, to, brief); got.rows != 0 {
				t.Errorf("a viewer, %s to %s: %+v", from, to, got)
			}
			if got := w.user(t, w.own.users["member"], change, to, brief); got.code != want ||
				want == "" && got.rows != 1 {
				t.Errorf("%s to %s: %+v, want %q", from, to, got, want)
			}
		}
	}
}

func TestARolledBackChangeIsNoEvent(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.endpoint(t, w.own, "kind", "'webhook'")
	w.run(t, "DELETE FROM public.events")
	undone := errors.New("undone")
	err := pgx.BeginFunc(t.Context(), w.root, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO public.brands (organization_id, name) VALUES ($1, 'New')",
			w.own.organization.ID)
		return errors.Join(err, undone)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if n := one[int](t, w.root,
		"SELECT (SELECT count(*) FROM public.events) + (SELECT count(*) FROM public.webhook_deliveries)"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// Lists, texts and the whole are bounded, and nothing raises: not a key that comes twice, nor a deleted organization.
func TestEmitBoundsAnEvent(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	emit := func(data any, key string) *string {
		return one[*string](t, w.root, "SELECT private.emit($1, $2, 'report.weekly', $3, nullif($4, ''))::text",
			w.own.organization.ID, w.own.brand.ID, data, key)
	}
	stored := func(id *string) (data map[string]any) {
		text := one[string](t, w.root, "SELECT data::text FROM public.events WHERE id::text = $1", *id)
		if len(text) > 20_000 {
			t.Errorf("an event has %d bytes", len(text))
		}
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := stored(emit(map[string]any{"list": make([]int, 23),
		"inner": map[string]any{"text": strings.Repeat("é", 7000)}}, ""))
	if text := data["inner"].(map[string]any)["text"]; len(data["list"].([]any)) != 20 || data["more"] != 3.0 ||
		text != strings.Repeat("é", 6000) {
		t.Errorf("bounded to %v", data)
	}
	if data = stored(emit(map[string]any{"list": make([]int, 23), "more": 2}, "")); data["more"] != 2.0 {
		t.Errorf("more is %v, want what it was", data["more"])
	}
	names := slices.Repeat([]string{strings.Repeat("日", 500)}, 20)
	data = stored(emit(map[string]any{"list": names, "count": 20, "text": strings.Repeat("日", 500), "nothing": nil},
		""))
	if len(data["list"].([]any)) != 0 || data["more"] != 20.0 || data["truncated"] != true || data["count"] != 20.0 ||
		data["text"] != strings.Repeat("日", 333) {
		t.Errorf("cut to %v", data)
	}
	first, second := emit(map[string]any{}, "report.weekly/2026-W46"), emit(map[string]any{}, "report.weekly/2026-W46")
	if first == nil || second != nil {
		t.Errorf("one key made events %v and %v", first, second)
	}
	w.run(t, "DELETE FROM public.organizations WHERE id = '"+w.own.organization.ID.String()+"'")
	if id := emit(map[string]any{}, ""); id != nil {
		t.Errorf("a deleted organization has event %s", *id)
	}
	for _, role := range []string{"anon", "authenticated"} {
		if got := w.as(t, role, claimsOf(w.other.users["owner"]),
			"SELECT private.emit(NULL, NULL, 'brand.created', '{}')"); got.code != "42501" {
			t.Errorf("%s emits: %+v", role, got)
		}
	}
}

// An event goes to endpoints of its organization that listen to it, of its brand or of all brands.
func TestEventsGoToWhoListens(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.webhook_endpoints")
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second"})
	names := map[uuid.UUID]string{
		w.endpoint(t, w.own, "kind",
			"'webhook'"): "all",
		w.endpoint(t, w.own, "events",
			"'{brand.created,report.weekly}'"): "some",
		w.endpoint(t, w.own, "brand_id",
			"'"+w.own.brand.ID.String()+"'"): "first brand",
		w.endpoint(t, w.own, "brand_id",
			"'"+second.ID.String()+"'"): "second brand",
		w.endpoint(t, w.own, "is_active", "false"):  "off",
		w.endpoint(t, w.other, "kind", "'webhook'"): "another organization",
		w.endpoint(t, w.own, "brand_id, events",
			"'"+w.own.brand.ID.String()+"', '{platform.degraded,tracking.failed}'"): "degraded",
	}
	for _, c := range []struct{ brand, event, want string }{
		{"'" + w.own.brand.ID.String() + "'", "report.weekly", "all, first brand, some"},
		{"'" + second.ID.String() + "'", "tracking.failed", "all, second brand"},
		{"NULL", "member.added", "all"},
		{"NULL", "platform.degraded", "all, degraded, first brand, second brand"},
		{"NULL", "webhook.test", ""},
	} {
		id := one[uuid.UUID](t, w.root, "SELECT private.emit($1, "+c.brand+", $2, '{}')",
			w.own.organization.ID, c.event)
		var got []string
		for _, endpoint := range list[uuid.UUID](t, w.root,
			"SELECT endpoint_id FROM public.webhook_deliveries WHERE event_id = $1 AND status = 'pending'", id) {
			got = append(got, names[endpoint])
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s of %s went to %q, want %q", c.event, c.brand, got, c.want)
		}
	}
	w.run(t, "DELETE FROM public.brands WHERE id = '"+second.ID.String()+"'")
	if n := one[int](t, w.root,
		"SELECT count(*) FROM public.webhook_deliveries WHERE event = 'brand.deleted' AND status = 'pending'"); n != 1 {
		t.Errorf("%d endpoints hear that the brand is deleted, want the one of all brands", n)
	}
}

// A subscription has mails of its brand, or of all, if its user is an active member, or its address is confirmed. Of
// those that want drops only, what only rose is left out. Figures wait from 20:00 to 08:00 of the organization, in
// mails and in Slack.
func TestMailsGoToSubscribers(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "DELETE FROM public.subscriptions", "DELETE FROM public.webhook_endpoints",
		"UPDATE public.organizations SET time_zone = '"+zoneAt(2)+"'")
	subscribe := func(columns, values string) {
		w.run(t, "INSERT INTO public.subscriptions (organization_id, "+columns+") VALUES ('"+
			w.own.organization.ID.String()+"', "+values+")")
	}
	user := func(role string) string { return "'" + w.own.users[role].ID.String() + "'" }
	subscribe("user_id", user("viewer"))
	subscribe("user_id, drops_only", user("member")+", false")
	subscribe("user_id, events", user("admin")+", '{report.weekly}'")
	subscribe("user_id, stopped_at", user("owner")+", now()")
	second := added(t, w.db, w.own.organization.ID, postgres.NewBrand{Name: "Second"})
	subscribe("address, confirmed_at, brand_id", "'Client@receiver.example', now(), '"+w.own.brand.ID.String()+"'")
	subscribe("address, confirmed_at, brand_id", "'second@receiver.example', now(), '"+second.ID.String()+"'")
	subscribe("address", "'unconfirmed@receiver.example'")
	subscribe("user_id", "'"+w.other.users["owner"].ID.String()+"'") // who is no member
	w.endpoint(t, w.own, "kind", "'slack'")
	mailed := func(event, data string) string {
		id := one[uuid.UUID](t, w.root, "SELECT private.emit($1, $2, $3, $4)", w.own.organization.ID,
			w.own.brand.ID, event, data)
		return strings.Join(list[string](t, w.root, "SELECT recipient::text FROM private.mails AS m WHERE event_id "+
			"= $1 AND template = $2 ORDER BY m.recipient", id, event), ", ")
	}
	for _, c := range []struct{ event, data, want string }{
		{"report.weekly", `{}`, "admin@Own.example, Client@receiver.example, member@Own.example, viewer@Own.example"},
		{"visibility.moved", `{"moves": [{"verdict": "moved_up"}]}`, "member@Own.example"},
		{"visibility.moved", `{"moves": [{"verdict": "moved_up"}, {"verdict": "moved_down"}]}`,
			"Client@receiver.example, member@Own.example, viewer@Own.example"},
		{"brand.created", `{}`, ""},
		{"webhook_endpoint.disabled", `{}`, "admin@Own.example, owner@Own.example"},
	} {
		if got := mailed(c.event, c.data); got != c.want {
			t.Errorf("%s %s is mailed to %q, want %q", c.event, c.data, got, c.want)
		}
	}
	w.run(t, "UPDATE private.users SET is_active = false WHERE email = 'member@Own.example'")
	if got := mailed("visibility.moved", `{"moves": [{"verdict": "moved_up"}]}`); got != "" {
		t.Errorf("a disabled user is mailed: %s", got)
	}
	for _, table := range []string{
		"private.mails AS m JOIN public.events AS v ON v.id = m.event_id",
		"public.webhook_deliveries AS m JOIN public.events AS v ON v.id = m.event_id",
	} {
		for _, m := range list[[]time.Time](t, w.root,
			"SELECT ARRAY[m.next_attempt_at, m.created_at] FROM "+table+" WHERE v.type = 'visibility.moved'") {
			due, from := m[0].UTC(), m[1]
			// 08:00
			if wait := due.Sub(from); due.Truncate(time.Hour) != due || wait < 4*time.Hour || wait > 6*time.Hour {
				t.Errorf("%s: due at %v, made at %v", table, due, from)
			}
		}
	}
	if n := one[int](t, w.root, "SELECT count(*) FROM private.mails AS m JOIN public.events AS v ON v.id = "+
		"m.event_id WHERE v.type <> 'visibility.moved' AND m.next_attempt_at > now()"); n > 0 {
		t.Errorf("%d other mails wait", n)
	}
	w.run(t, "UPDATE private.users SET email = repeat('é', 160) || '@x.example' WHERE email = 'viewer@Own.example'",
		"UPDATE public.organizations SET time_zone = '"+zoneAt(14)+"'", "DELETE FROM private.mails")
	if got := mailed("visibility.moved", `{"moves": [{"verdict": "moved_down"}]}`); got != "Client@receiver.example" {
		t.Errorf("mailed to %s", got)
	}
	if n := one[int](t, w.root, "SELECT count(*) FROM private.mails WHERE next_attempt_at > now()"); n > 0 {
		t.Errorf("%d mails wait by day", n)
	}
}

// zoneAt returns a time zone in which it is that hour.
func zoneAt(hour int) string {
	ahead := (hour-time.Now().UTC().Hour()+36)%24 - 12
	return fmt.Sprintf("Etc/GMT%+d", -ahead)
}

// What clients write of endpoints and subscriptions.
func TestClientsChangeWhatTheyAreSent(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	admin, viewer := w.own.users["admin"], w.own.users["viewer"]
	w.run(t, "UPDATE public.webhook_endpoints SET is_active = false, disabled_at = now(), disabled_reason = 'gone', "+
		"failing_since = now()")
	const on = "UPDATE public.webhook_endpoints SET is_active = true RETURNING 1 / (disabled_at IS NULL AND " +
		"disabled_reason IS NULL AND failing_since IS NULL)::int"
	if got := w.user(t, admin, on); got != (outcome{rows: 1}) {
		t.Errorf("switched on: %+v", got)
	}
	for _, text := range []string{
		"UPDATE public.webhook_endpoints SET events = '{brand.made}'",
		"INSERT INTO public.subscriptions (brand_id, events) SELECT id, '{key.created}' FROM public.brands",
	} {
		if got := w.user(t, admin, text); got.code != "23514" || !strings.Contains(got.message, "visibility.moved") {
			t.Errorf("%s: %+v, want the known events", text, got)
		}
	}
	w.run(t, "DELETE FROM public.subscriptions")
	const add = "INSERT INTO public.subscriptions (brand_id) VALUES ($1) RETURNING 1 / (user_id = $2)::int"
	if got := w.user(t, viewer, add, w.own.brand.ID, viewer.ID); got != (outcome{rows: 1}) {
		t.Errorf("a viewer subscribes: %+v", got)
	}
	const all = "INSERT INTO public.subscriptions (brand_id, events) VALUES ($1, '{}') RETURNING 1 / " +
		"(cardinality(events) = 5)::int"
	if got := w.user(t, viewer, all, w.own.brand.ID); got != (outcome{rows: 1}) {
		t.Errorf("no events, which are all: %+v", got)
	}
	if got := w.user(t, viewer, add, w.other.brand.ID, viewer.ID); got.code != "42501" {
		t.Errorf("to another organization's brand: %+v", got)
	}
	if got := w.user(t, viewer,
		"INSERT INTO public.subscriptions (address) VALUES ('x@y.example')"); got.code != "42501" {
		t.Errorf("a viewer subscribes an address: %+v", got)
	}
}

// Of a computed suggestion a member changes what became of it, and nothing that it says. A person's is theirs to write.
func TestComputedSuggestionsStayTrue(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.run(t, "INSERT INTO public.suggestions (brand_id, kind, key, text, reason, origin, score, evidence) SELECT "+
		"id, 'gap', 'k', 'a gap', 'counted', 'computed', 2, '{}' FROM public.brands WHERE id = '"+
		w.own.brand.ID.String()+"'")
	member := w.own.users["member"]
	for set, want := range map[string]outcome{
		"kind = 'source'": {code: "42501"}, "key = 'other'": {code: "42501"}, "text = 'x'": {code: "42501"},
		"reason = NULL": {code: "42501"},
		"score = 9":     {code: "42501"}, "evidence = '[]'": {code: "42501"},
		"key = '', origin = 'person'":  {code: "42501"},
		"status = 'added', text = 'x'": {code: "42501"}, "status = 'added'": {rows: 1},
		"status = 'dismissed'": {rows: 1}, "text = text": {rows: 1},
		"status = 'added', added_prompt_id = (SELECT id FROM public.prompts LIMIT 1)": {rows: 1},
	} {
		if got := w.user(t, member, "UPDATE public.suggestions SET "+set+" WHERE key = 'k'"); got.rows != want.rows ||
			got.code != want.code {
			t.Errorf("%s: %+v, want %+v", set, got, want)
		}
	}
	if got := w.user(t, member,
		"UPDATE public.suggestions SET text = 'x', score = 1, evidence = '[]' WHERE origin = 'person'"); got.rows != 1 {
		t.Errorf("a person's suggestion: %+v", got)
	}
	for _, text := range []string{
		"INSERT INTO public.suggestions (brand_id, kind, text, key, origin) VALUES ($1, 'gap', 'x', 'x', 'computed')",
		"WITH new AS (INSERT INTO public.suggestions (brand_id, kind, text, key, origin) VALUES ($1, 'gap', 'x', " +
			"'k', 'computed') ON CONFLICT (brand_id, kind, key) WHERE key <> '' DO UPDATE SET text = 'x' RETURNING " +
			"id) SELECT FROM new",
	} {
		if got := w.user(t, member, text, w.own.brand.ID); got.code != "42501" {
			t.Errorf("%s: %+v, want 42501", text, got)
		}
	}
	if got := w.user(t, member,
		"UPDATE public.suggestions SET key = 'x', origin = 'computed' WHERE origin = 'person'"); got.code != "42501" {
		t.Errorf("a person's becomes computed: %+v, want 42501", got)
	}
	for range 2 { // as the REST API writes with on_conflict
		got := w.user(t, member, "INSERT INTO public.suggestions (brand_id, kind, text) VALUES ($1, 'gap', "+
			"'twice') ON CONFLICT (brand_id, kind, text, key) DO UPDATE SET kind = excluded.kind", w.own.brand.ID)
		if got.rows != 1 || got.code != "" {
			t.Errorf("a person's is written again: %+v", got)
		}
	}
}
