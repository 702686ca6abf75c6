package share_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/queryapi/auth"
)

// shows has the endpoints that each screen needs.
var shows = map[string]string{
	"overview": "filters visibility-summary visibility-trend entity-trend visibility-changes verdict-checks " +
		"competitor-comparison",
	"competitors": "filters competitor-comparison entity-trend visibility-changes",
	"sources":     "filters citations source-matrix",
	"prompts": "filters prompt-performance prompt-matrix visibility-changes visibility-trend " +
		"competitor-comparison citations",
	"traffic":  "filters ai-traffic ai-crawlers ai-pages",
	"shopping": "filters shopping-summary shopping-cards",
	"answers":  "filters visibility-summary answers answers/{id}",
}

// Each link answers the endpoints of its screens, and no other; about its brand, by GET alone.
func TestEachEndpointOfEachLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for screen, names := range shows {
		shared := w.make(t, "member", fmt.Sprintf(`"screens":[%q]`, screen))
		for _, name := range paths(t) {
			path := "/share/api/v1/" + strings.Replace(name, "{id}", w.answers["openai"], 1)
			want := http.StatusNotFound
			if slices.Contains(strings.Fields(names), name) {
				want = http.StatusOK
			}
			for _, query := range []string{"", "?brand_id=" + w.ours.ID.String()} {
				if name == "verdict-checks" && query != "" {
					continue // it is of no brand
				}
				if status, header, text := w.ask(t, "GET", path+query, "", shared.with); status != want ||
					header.Get("Cache-Control") != "no-store" || header.Get("X-Robots-Tag") == "" {
					t.Errorf("%s: %s%s: %d %v %s, want %d", screen, name, query, status, header, text, want)
				}
			}
			if status, _, text := w.ask(t, "GET",
				path+"?brand_id="+w.others.ID.String(), "", shared.with); status != http.StatusNotFound {
				t.Errorf("%s: %s of another brand: %d %s", screen, name, status, text)
			}
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
				if status, _, text := w.ask(t, method, path, "{}", shared.with); status != http.StatusMethodNotAllowed {
					t.Errorf("%s: %s %s: %d %s", screen, method, name, status, text)
				}
			}
		}
	}
}

// Whatever else one sends to prove who one is opens nothing here, and a link's token opens nothing elsewhere.
func TestNoOtherCredentialOpensALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.make(t, "member", `"screens":["overview"]`)
	wrong := shared.token[:len(shared.token)-1] + "!"
	for _, header := range []string{
		"X-None: x", w.tokens["owner"], "Authorization: Bearer " + w.key, "X-Share: " + w.key,
		"X-Share: " + auth.Mint("shr_").Text,
		"X-Share: " + wrong, "X-Share: " + strings.Replace(shared.token, "shr_", "svc_", 1),
		"Authorization: Bearer " + shared.token,
		"Cookie: X-Share=" + shared.token,
	} {
		for _, path := range []string{
			"/share/link", "/share/api/v1/visibility-summary",
			"/share/api/v1/visibility-summary?brand_id=" + w.ours.ID.String(),
		} {
			if status, _, text := w.ask(t, "GET", path, "", header); status != http.StatusNotFound ||
				!strings.Contains(text, "this link does not work") {
				t.Errorf("%s with %s: %d %s", path, header, status, text)
			}
		}
	}
	for _, path := range []string{
		"/api/v1/whoami", "/api/v1/brands", "/api/health", "/app/api/session", "/app/api/v1/brands",
	} {
		if status, _, text := w.ask(t, "GET", path, "", shared.with, "Authorization: Bearer "+shared.token,
			"Cookie: answerscope="+shared.token); status != http.StatusUnauthorized {
			t.Errorf("%s with a link's token: %d %s", path, status, text)
		}
	}
}

// A fixed filter replaces the query's, so each body is that of /api/v1 with the fixed filter.
func TestAFixedFilterCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().UTC()
	last := func(days int) string {
		return "date_from=" + now.AddDate(0, 0, 1-days).Format(time.DateOnly) + "&date_to=" + now.Format(time.DateOnly)
	}
	brand := "?brand_id=" + w.ours.ID.String()
	screens := []string{"overview", "competitors", "sources", "prompts", "shopping", "answers"}
	shown := ""
	for _, screen := range screens {
		shown += shows[screen] + " "
	}
	for _, c := range []struct{ filters, sent, fixed string }{
		{`{"platform":"openai"}`, "platform=perplexity&" + last(60), "platform=openai&" + last(60)},
		{`{"platform":"openai"}`, "platform=openai,perplexity&%70latform=x&" + last(60), "platform=openai&" + last(60)},
		{`{"last_days":30}`, last(60), last(30)},
		{`{"date_from":"2026-01-01","date_to":"2026-01-31"}`, last(60), "date_from=2026-01-01&date_to=2026-01-31"},
		{`{"model":"m","region":"none","branded":true}`, "model=x&region=de&branded=false&" + last(60),
			"model=m&region=none&branded=true&" + last(60)},
		{`{"topic_id":"01890a5d-ac96-774b-bcce-b302099a8057"}`, last(60),
			"topic_id=01890a5d-ac96-774b-bcce-b302099a8057&" + last(60)},
	} {
		shared := w.make(t, "member", `"screens":["`+strings.Join(screens, `","`)+`"],"filters":`+c.filters)
		for _, name := range paths(t) {
			if name == "verdict-checks" || name == "answers/{id}" || !slices.Contains(strings.Fields(shown), name) {
				continue
			}
			status, _, got := w.ask(t, "GET", "/share/api/v1/"+name+brand+"&"+c.sent, "", shared.with)
			_, _, want := w.ask(t, "GET", "/api/v1/"+name+brand+"&"+c.fixed, "", "Authorization: Bearer "+w.key)
			if status != http.StatusOK || got != want {
				t.Errorf("%s %s: %d\n%s\nwant\n%s", c.filters, name, status, got, want)
			}
		}
	}
	// An id can be computed of what a link shows, so one answer is filtered too.
	for filters, want := range map[string]map[string]int{
		`{"platform":"openai"}`: {"openai": 200, "perplexity": 404},
		`{"last_days":7}`:       {"openai": 200, "perplexity": 200},
		`{"branded":false}`:     {"openai": 404},
		`{"region":"de"}`:       {"openai": 404},
		`{"region":"none"}`:     {"openai": 200},
		`{"date_from":"2026-01-01","date_to":"2026-01-31"}`:   {"openai": 404},
		`{"topic_id":"01890a5d-ac96-774b-bcce-b302099a8057"}`: {"openai": 404},
		`{"model":"x"}`: {"openai": 404},
	} {
		shared := w.make(t, "member", `"screens":["answers"],"filters":`+filters)
		for platform, wanted := range want {
			status, _, text := w.ask(t, "GET", "/share/api/v1/answers/"+w.answers[platform]+brand, "", shared.with)
			if status != wanted {
				t.Errorf("an answer of %s by a link with %s: %d %s", platform, filters, status, text)
			}
			if status == 200 && !strings.Contains(text, `"usage":null,"cost":null,"job_id":null`) {
				t.Errorf("an answer shows its cost or job: %s", text)
			}
		}
	}
}

// A link whose days are fixed has no figures of the days before; its verdicts compare with the usual days. A filter of
// answers is not put on visits, which refuse it.
func TestFixedDaysAreAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fixed := w.make(t, "member",
		`"screens":["overview","prompts","traffic"],"filters":{"last_days":30,"model":"gpt-5"}`)
	free := w.make(t, "member", `"screens":["overview","prompts","traffic"]`)
	for _, question := range []string{
		"visibility-changes?compare_days=90", "prompt-performance?compare=previous", "ai-traffic?%63ompare=previous",
	} {
		name, _, _ := strings.Cut(question, "?")
		status, _, got := w.ask(t, "GET", "/share/api/v1/"+question, "", fixed.with)
		_, _, want := w.ask(t, "GET", "/share/api/v1/"+name, "", fixed.with)
		if status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %s", question, status, got, want)
		}
		if status, _, text := w.ask(t, "GET", "/share/api/v1/"+question, "", free.with); status != http.StatusOK ||
			text == want {
			t.Errorf("%s of free days: %d %s", question, status, text)
		}
	}
	sorted := "/share/api/v1/prompt-performance?sort_by=%63hange"
	if status, _, text := w.ask(t, "GET", sorted, "", fixed.with); status != http.StatusNotFound {
		t.Errorf("sorted by change: %d %s", status, text)
	}
	if status, _, text := w.ask(t, "GET", sorted, "", free.with); status != http.StatusOK {
		t.Errorf("sorted by change, of free days: %d %s", status, text)
	}
}

// Only what shows figures is a use: no page, and nothing before the password.
func TestAUseIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	locked := w.make(t, "member", `"screens":["overview"],"password":"`+password+`"`)
	open := w.make(t, "member", `"screens":["overview"]`)
	uses := func() (count int) {
		t.Helper()
		if err := w.db.QueryRow(t.Context(),
			"SELECT count(*) FROM public.share_links WHERE last_used_at = date_trunc('hour', last_used_at)").
			Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	w.ask(t, "GET", "/share/"+open.token, "")
	w.ask(t, "GET", "/share/link", "", open.with)
	w.ask(t, "GET", "/share/api/v1/citations", "", open.with)
	w.ask(t, "GET", "/share/api/v1/visibility-summary", "", locked.with)
	if count := uses(); count != 0 {
		t.Errorf("%d uses before figures are shown", count)
	}
	w.ask(t, "GET", "/share/api/v1/visibility-summary", "", open.with)
	if count := uses(); count != 1 {
		t.Errorf("%d uses, want 1", count)
	}
}

func TestALinkDescribesItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.make(t, "member", `"title":"For Ann","screens":["sources","answers"],"filters":{"last_days":7,`+
		`"platform":"openai","branded":false}`)
	status, header, text := w.ask(t, "GET", "/share/link", "", shared.with)
	now := time.Now().UTC()
	want := fmt.Sprintf(`{"brand":{"id":%q,"name":"Lumen","slug":"lumen"},"filters":{"branded":"false",`+
		`"date_from":%q,"date_to":%q,"platform":"openai"},"screens":["sources","answers"],"title":"For Ann"}`,
		w.ours.ID, now.AddDate(0, 0, -6).Format(time.DateOnly), now.Format(time.DateOnly))
	if status != http.StatusOK || text != want || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s, want %s", status, header, text, want)
	}
	if _, _, text := w.ask(t, "GET", "/share/link", "",
		w.make(t, "member", `"password":null`).with); !strings.Contains(text,
		`"screens":["overview","competitors","sources"],"title":"Lumen"`) {
		t.Errorf("by default a link shows %s", text)
	}
}

// Revoked, expired or of a deleted brand, a link stops with the next request, and its page is that of any other token
// that does not work.
func TestALinkEndsWithTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(shared link) (status int) {
		status, _, _ = w.ask(t, "GET", "/share/api/v1/visibility-summary", "", shared.with)
		return status
	}
	kept := w.make(t, "member", `"screens":["overview"]`)
	ended := map[string]link{}
	for name, end := range map[string]func(link){
		"revoked": func(shared link) {
			if status, _, text := w.ask(t, "DELETE", "/api/shares/"+shared.ID.String(), "",
				w.tokens["member"]); status != http.StatusNoContent {
				t.Errorf("revoke: %d %s", status, text)
			}
		},
		"expired": func(shared link) {
			w.exec(t, "UPDATE public.share_links SET expires_at = now() WHERE id = $1", shared.ID)
		},
	} {
		ended[name] = w.make(t, "member", `"screens":["overview"]`)
		if status := ask(ended[name]); status != http.StatusOK {
			t.Fatalf("before it is %s: %d", name, status)
		}
		end(ended[name])
		if status := ask(ended[name]); status != http.StatusNotFound {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := ask(kept); status != http.StatusOK {
		t.Errorf("another link ended too: %d", status)
	}
	tokens := map[string]string{
		"revoked": ended["revoked"].token, "expired": ended["expired"].token, "unknown": auth.Mint("shr_").Text,
		"a key":    w.key,
		"mistyped": kept.token[:39] + "!", "short": "shr_x", "another screen": kept.token + "/sources",
		"no screen": kept.token + "/settings",
		"below":     kept.token + "/overview/x", "escaped": "%00",
	}
	w.exec(t, "DELETE FROM public.brands WHERE id = $1", w.ours.ID)
	tokens["of a deleted brand"] = kept.token
	var first string
	for name, token := range tokens {
		status, header, text := w.ask(t, "GET", "/share/"+token, "")
		header.Del("X-Request-Id")
		header.Del("Date")
		page := fmt.Sprint(status, header, text)
		if first == "" {
			first = page
		}
		if status != http.StatusNotFound || page != first ||
			!strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s has a page of its own: %s", name, page)
		}
	}
}

func TestAPageIsNeitherIndexedNorKeptNorFramed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := w.make(t, "member", `"screens":["overview","answers"]`)
	framed := w.make(t, "member",
		`"screens":["overview"],"embed_origins":["https://a.example","https://b.example:8443"]`)
	for path, ancestors := range map[string]string{
		plain.token: "'none'", plain.token + "/overview": "'none'",
		plain.token + "/answers/" + w.answers["openai"] + "?text=received": "'none'",
		framed.token: "https://a.example https://b.example:8443",
	} {
		status, header, text := w.ask(t, "GET", "/share/"+path, "")
		if status != http.StatusOK || !strings.Contains(text, "<script") ||
			!strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors "+ancestors+";") {
			t.Errorf("%s: %d %v", path, status, header)
		}
		for name, want := range map[string]string{
			"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		} {
			if header.Get(name) != want {
				t.Errorf("%s has %s %q", path, name, header.Get(name))
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if status, _, text := w.ask(t, method, "/share/"+plain.token, "{}"); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d %s", method, status, text)
		}
	}
}

// A password opens its link alone, for twelve hours of this browser; ten guesses in five minutes are all that one has.
func TestALinkHasAPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	locked := w.make(t, "member", `"screens":["overview"],"password":"`+password+`"`)
	other := w.make(t, "member", `"screens":["overview"],"password":"`+password+` too"`)
	open := func(shared link, cookie string) int {
		status, _, _ := w.ask(t, "GET", "/share/api/v1/visibility-summary", "", shared.with, "Cookie: "+cookie)
		described, _, text := w.ask(t, "GET", "/share/link", "", shared.with, "Cookie: "+cookie)
		if described != status {
			t.Errorf("it describes itself by %d %s, and shows by %d", described, text, status)
		}
		return status
	}
	enter := func(shared link, guess string) (int, http.Header) {
		status, header, _ := w.ask(t, "POST", "/share/session", `{"password":"`+guess+`"}`, shared.with)
		return status, header
	}
	if status := open(locked, ""); status != http.StatusUnauthorized {
		t.Errorf("without its password: %d", status)
	}
	if status, _, _ := w.ask(t, "GET", "/share/"+locked.token, ""); status != http.StatusOK {
		t.Errorf("its page, which asks for the password: %d", status)
	}
	status, header := enter(locked, password)
	cookie, attributes, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	for _, want := range []string{"max-age=43200", "path=/share", "httponly", "secure", "samesite=strict"} {
		if !strings.Contains(strings.ToLower(attributes), want) {
			t.Errorf("the cookie lacks %s: %s", want, attributes)
		}
	}
	if got := open(locked, cookie); status != http.StatusNoContent || got != http.StatusOK {
		t.Errorf("the password is answered %d, and its link %d", status, got)
	}
	name, value, _ := strings.Cut(cookie, "=")
	for what, forged := range map[string]string{
		"another link's": strings.Replace(name, locked.ID.String(), other.ID.String(), 1) + "=" + value,
		"an access token": strings.Replace(name, locked.ID.String(), other.ID.String(), 1) + "=" +
			strings.TrimPrefix(w.tokens["owner"], "Authorization: Bearer "),
	} {
		if status := open(other, forged); status != http.StatusUnauthorized {
			t.Errorf("with %s: %d", what, status)
		}
	}
	if status, _, _ := w.ask(t, "GET", "/api/health", "",
		"Authorization: Bearer "+value); status != http.StatusUnauthorized {
		t.Errorf("the cookie is an access token: %d", status)
	}
	for n := range 10 {
		if status, _ := enter(locked, "guess"); status != http.StatusForbidden {
			t.Errorf("guess %d: %d", n, status)
		}
	}
	if status, header := enter(locked, password); status != http.StatusTooManyRequests ||
		header.Get("Retry-After") == "" {
		t.Errorf("after ten guesses: %d %v", status, header)
	}
	if status, _ := enter(other, password+" too"); status != http.StatusNoContent {
		t.Errorf("another link's guesses count: %d", status)
	}
	if status, _, text := w.ask(t, "POST", "/share/session", "x", other.with); status != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: %d %s", status, text)
	}
}

// One link has twenty requests a second, all viewers together.
func TestALinkIsLimited(t *testing.T) {
	t.Parallel()
	w := newLimitedWorld(t, 100)
	busy, other := w.make(t, "member", `"screens":["overview"]`), w.make(t, "member", `"screens":["overview"]`)
	refused := 0
	for range 60 {
		status, header, _ := w.ask(t, "GET", "/share/api/v1/verdict-checks", "", busy.with)
		if status == http.StatusTooManyRequests && header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 60 requests at once is refused")
	}
	if status, _, _ := w.ask(t, "GET", "/share/api/v1/verdict-checks", "", other.with); status != http.StatusOK {
		t.Errorf("another link: %d", status)
	}
}

// No token and no password is in the log, in a metric or in the database.
func TestATokenIsWrittenNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.make(t, "member", `"screens":["overview"],"password":"`+password+`"`)
	for _, path := range []string{
		"/share/" + shared.token, "/share/" + shared.token + "/overview",
		"/share/" + shared.token + "/nothing", "/share/link", "/share/api/v1/visibility-summary",
	} {
		w.ask(t, "GET", path, "", shared.with)
	}
	w.ask(t, "POST", "/share/"+shared.token, "", shared.with)
	w.ask(t, "POST", "/share/session", `{"password":"`+password+`"}`, shared.with)
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if log := w.log.String(); strings.Contains(log, shared.token) || strings.Contains(log, password) ||
		!strings.Contains(log, "path=/share/…") {
		t.Errorf("the log has a token, or no requests: %s", log)
	}
	if text := fmt.Sprint(families); strings.Contains(text, shared.token) || !strings.Contains(text, "/share/:token") {
		t.Error("a metric has a token, or there is none of the page")
	}
	var rows string
	if err := w.db.QueryRow(t.Context(), "SELECT (SELECT string_agg(to_jsonb(s)::text, '') FROM public.share_links "+
		"AS s) || (SELECT string_agg(to_jsonb(h)::text, '') FROM private.share_link_hashes AS h)").
		Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(rows, shared.token) || strings.Contains(rows, password) ||
		!strings.Contains(rows, "$argon2id$") {
		t.Errorf("the database has %s", rows)
	}
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}
