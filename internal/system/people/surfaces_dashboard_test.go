package people

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/postgres"
)

var secretKeys = "ANSWERSCOPE_SECRET_KEYS=k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))

// Each route of the dashboard wants the cookie of a session, and for a write the header that no other page can send;
// and no organization sees or changes another's rows through it.
func TestEveryRouteOfTheDashboardWantsItsCookie(t *testing.T) {
	t.Parallel()
	i := run.Install(t, nil)
	s := &tenancy{Installation: i, served: serveHere(t, i, secretKeys)}
	s.settle(t)
	removed, disabled := addMember(t, s.Installation, s.ours, "removed", "admin"),
		addMember(t, s.Installation, s.ours, "disabled", "admin")
	cookies := map[string]string{
		"nobody's": "", "unknown": rand.Text(), "of who was removed": cookie(t, s.Installation, removed),
		"of who is disabled": cookie(t, s.Installation, disabled),
	}
	s.Edit(t, "DELETE FROM public.members WHERE user_id = $1", removed.ID)
	s.Edit(t, "UPDATE private.users SET is_active = false WHERE id = $1", disabled.ID)
	owner, stranger := cookie(t, s.Installation, s.ours.users["owner"]),
		cookie(t, s.Installation, s.others.users["owner"])
	before, traces := s.everything(t, s.ours), s.ours.traces(t, s.root, s.tables)
	for _, r := range s.ofDashboard(t) {
		for whose, cookie := range cookies {
			if status, body := s.visit(t, r.method, r.at(s.ours), cookie, "1", s.ours.keys["owner"]); status != 401 {
				t.Errorf("a cookie %s at %s: %d %s", whose, r, status, body)
			}
		}
		if status, body := s.visit(t, r.method, r.at(s.ours), owner, "",
			""); (status == 403) != (r.method != http.MethodGet) || status == 401 {
			t.Errorf("without the header at %s: %d %s", r, status, body)
		}
		if status, body := s.visit(t, r.method, r.at(s.ours), stranger, "1", ""); status == 401 ||
			status >= 500 || traceIn(body, traces) != "" {
			t.Errorf("a stranger at %s: %d %s", r, status, body)
		}
	}
	for _, row := range s.ours.rows(t, s.root, "api_keys") {
		if status, body := s.visit(t, "DELETE", "/app/api/keys/"+row["id"].(string), stranger, "1", ""); status != 404 {
			t.Errorf("a stranger revokes our key: %d %s", status, body)
		}
	}
	after := s.everything(t, s.ours)
	for table := range before {
		if len(after[table]) != len(before[table]) {
			t.Errorf("%s has %d rows, had %d", table, len(after[table]), len(before[table]))
		}
	}
}

// ofDashboard are the routes of the dashboard, but for those of who is signed out and descriptions, and a read and a
// write of each table.
func (s *tenancy) ofDashboard(t *testing.T) (list []route) {
	t.Helper()
	for _, known := range s.served.App.GetRoutes(true) {
		if strings.HasPrefix(known.Path, "/app/api/") && !strings.HasSuffix(known.Path, "/openapi.json") &&
			known.Path != "/app/api/session" && known.Path != "/app/api/reset" && known.Method != http.MethodHead {
			list = append(list, route{known.Method, known.Path})
		}
	}
	if len(list) < 15 {
		t.Fatalf("only %v", list)
	}
	for _, table := range s.tables {
		list = append(list, route{"GET", "/app/api/rest/v1/" + table}, route{"POST", "/app/api/rest/v1/" + table})
	}
	return list
}

// cookie is that of a new session.
func cookie(t *testing.T, i *run.Installation, user postgres.User) string {
	t.Helper()
	cookie := rand.Text()
	if err := i.DB.OpenDashboardSession(t.Context(), user.ID, sha256.Sum256([]byte(cookie)), 0); err != nil {
		t.Fatal(err)
	}
	return cookie
}

// visit sends what the dashboard's page sends: write is its header of writes, key another credential beside the cookie.
func (s *tenancy) visit(t *testing.T, method, address, cookie, write, key string) (status int, text string) {
	t.Helper()
	if strings.HasPrefix(address, "/app/api/rest/v1/") {
		address, _, _ = strings.Cut(address, "?") // of a brand
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.served.URL()+address, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if write != "" {
		request.Header.Set("X-Answerscope", write)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if cookie != "" {
		request.AddCookie(&http.Cookie{Name: "answerscope", Value: cookie})
	}
	status, _, text = run.Exchange(t, request)
	return status, text
}
