package people

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/queryapi/auth"
)

// surfaces are the prefixes of paths that take the same credentials. The longest that fits counts.
var surfaces = []string{"/api/v1", "/mcp", "/api", "/rest/v1", "/api/tracking", "/cron", "/api/cron"}

// scheduled are the surfaces of who knows CRON_SECRET, which is nobody's credential.
var scheduled = []string{"/cron", "/api/cron"}

// open are the routes without a credential; the script has another one, which ends in its hash. The dashboard is not
// served beside an outside issuer: / says so, and the pages behind links have its style.
var open = regexp.MustCompile(`^GET (/|/assets/.*|/confirm/:token|/unsubscribe/:token|/healthz|/t(\.[0-9a-f]+)?\.js|` +
	`/\.well-known/oauth-protected-resource(/mcp)?|` +
	`/api/v1/openapi\.json|/api/openapi\.json|/api/tracking/openapi\.json)$|^POST /(confirm|unsubscribe)/:token$`)

// brandless are the routes of /api/v1 that are not about one brand. No tenant has an answer, so that one is 404.
var brandless = []string{
	"/api/v1/whoami", "/api/v1/brands", "/api/v1/brands-overview", "/api/v1/verdict-checks", "/api/v1/answers/:id",
}

// A caller is what one sends to prove who one is, and the status that each surface refuses it with; 0: it is let in.
type caller struct {
	name          string
	apikey        string // of the header apikey
	authorization string
	refused       map[string]int
}

// everyCaller is of our tenant, or anonymous.
func (s *tenancy) everyCaller(t *testing.T) []caller {
	t.Helper()
	member, viewer := s.ours.users["member"], s.ours.users["viewer"]
	removed, disabled := addMember(t, s.Installation, s.ours, "removed", "admin"),
		addMember(t, s.Installation, s.ours, "disabled", "admin")
	keyOfRemoved, keyOfDisabled, revoked, expired := keyOf(t, s.Installation, removed),
		keyOf(t, s.Installation, disabled), keyOf(t, s.Installation, member), keyOf(t, s.Installation, member)
	tracking := keyOf(t, s.Installation, member, auth.TrackingWrite)
	s.Edit(t, "DELETE FROM public.members WHERE user_id = $1", removed.ID)
	s.Edit(t, "UPDATE private.users SET is_active = false WHERE id = $1", disabled.ID)
	hash := func(text string) []byte { h, _ := auth.ParseKey(text); return h[:] }
	s.Edit(t, "UPDATE public.api_keys SET revoked_at = now() FROM private.api_key_hashes WHERE id = api_key_id "+
		"AND hash = $1", hash(revoked))
	s.Edit(t, "UPDATE public.api_keys SET expires_at = now() FROM private.api_key_hashes WHERE id = api_key_id "+
		"AND hash = $1", hash(expired))

	nowhere := map[string]int{"/api/v1": 401, "/mcp": 401, "/api": 401, "/rest/v1": 401, "/api/tracking": 401}
	asUser := map[string]int{"/api/v1": 401, "/mcp": 401, "/api": 0, "/rest/v1": 0}
	asKey := map[string]int{"/api/v1": 0, "/api": 401, "/rest/v1": 401, "/api/tracking": 403}
	list := []caller{
		{"nothing", "", "", nowhere},
		{"the anon key", run.Anon, "", nowhere},
		{"the anon key twice", run.Anon, run.Anon, nowhere},
		{"an expired token", run.Anon, run.TokenOf(t, member, func(c *auth.Claims) {
			c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Minute))
		}), nowhere},
		{"another issuer's token", run.Anon, run.TokenOf(t, member, func(c *auth.Claims) {
			c.Issuer = "https://other.example"
		}), nowhere},
		{"a token that another signed", run.Anon,
			run.Signed(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 40)), member, nil), nowhere},
		{"alg: none", run.Anon, run.Signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, member, nil),
			nowhere},
		{"a token whose role is the owner of the tables", run.Anon, run.TokenOf(t, member, func(c *auth.Claims) {
			c.Role = "answerscope_owner"
		}), map[string]int{"/api/v1": 401, "/mcp": 401, "/api": 403, "/rest/v1": 403, "/api/tracking": 403}},
		{"a token whose role is anon", run.Anon, run.TokenOf(t, member, func(c *auth.Claims) {
			c.Role = "anon"
		}), nowhere},
		{"a token of who was removed a second ago", run.Anon, run.TokenOf(t, removed, nil), nowhere},
		{"a key of who was removed a second ago", run.Anon, keyOfRemoved, nowhere},
		{"a disabled user's token", run.Anon, run.TokenOf(t, disabled, nil), nowhere},
		{"a disabled user's key", run.Anon, keyOfDisabled, nowhere},
		{"a revoked key", run.Anon, revoked, nowhere},
		{"an expired key", run.Anon, expired, nowhere},
		{"an unknown key", run.Anon, auth.MintKey().Text, nowhere},
		{"a key in the wrong header", s.ours.keys["owner"], "", nowhere},
		{"a token in the wrong header", run.TokenOf(t, viewer, nil), "", nowhere},
		{"a token without the anon key", "", run.TokenOf(t, viewer, nil),
			map[string]int{"/api/v1": 401, "/mcp": 401, "/api": 0, "/rest/v1": 401}},
		{"a key of the scope tracking:write alone", run.Anon, tracking,
			map[string]int{"/api/v1": 403, "/mcp": 403, "/api": 401, "/rest/v1": 401}},
	}
	for _, role := range roles {
		list = append(list, caller{"the token of a " + role, run.Anon, run.TokenOf(t, s.ours.users[role], nil), asUser},
			caller{"the key of a " + role, run.Anon, s.ours.keys[role], asKey})
	}
	return list
}

// A route is a method and a path, as a server knows it.
type route struct{ method, path string }

func (r route) String() string { return r.method + " " + r.path }

// surface is the longest prefix that has the route; "" for none.
func (r route) surface() (best string) {
	for _, prefix := range surfaces {
		if (r.path == prefix || strings.HasPrefix(r.path, prefix+"/")) && len(prefix) > len(best) {
			best = prefix
		}
	}
	return best
}

// guarded are the routes that want a credential, but for those of /rest/v1, which has them by table. A route that no
// surface has, and that is not open, fails the test: it is new.
func (s *tenancy) guarded(t *testing.T) []route {
	t.Helper()
	var list []route
	for _, known := range s.served.App.GetRoutes(true) {
		r := route{known.Method, known.Path}
		switch {
		case r.method == http.MethodHead || open.MatchString(r.String()):
		case r.surface() == "":
			t.Errorf("%s: what does it take? Give its prefix a place among surfaces, or it one in open", r)
		default:
			list = append(list, r)
		}
	}
	if len(list) < 15 {
		t.Fatalf("only %v", list)
	}
	return list
}

// at is the route's address for something of a tenant.
func (r route) at(n tenant) string {
	path := strings.ReplaceAll(r.path, ":id", n.brand.String())
	isOfBrand := strings.Contains(path, "/v1/") && !slices.Contains(brandless, r.path)
	if isOfBrand || strings.HasSuffix(path, "/tracking/jobs") || strings.HasSuffix(path, "/tracking/spending") {
		path += "?brand_id=" + n.brand.String() // others refuse it
	}
	return path
}

// ask sends a request with a credential.
func (s *tenancy) ask(t *testing.T, c caller, method, address, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.served.URL()+address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "return=representation")
	if c.apikey != "" {
		request.Header.Set("Apikey", c.apikey)
	}
	if c.authorization != "" {
		request.Header.Set("Authorization", "Bearer "+c.authorization)
	}
	status, _, text = run.Exchange(t, request)
	return status, text
}

// judge compares the status of an answer with what a credential must get from a surface.
func (c caller) judge(t *testing.T, surface, request string, status int, body string) {
	t.Helper()
	want := c.refused[surface]
	if slices.Contains(scheduled, surface) {
		want = 401
	}
	if want != 0 && status != want || want == 0 && (status == 401 || status == 403 || status >= 500) {
		t.Errorf("%s at %s: %d %s, want %d", c.name, request, status, body, want)
	}
}

func TestEveryCredentialOnEverySurface(t *testing.T) {
	t.Parallel()
	s := newTenancy(t)
	t.Run("routes", s.everyRoute)
	t.Run("packed bodies", s.packed)
	t.Run("tables", s.everyTable)
	t.Run("roles", s.everyRole)
	t.Run("strangers", s.strangers)
	t.Run("descriptions", s.described)
}

func (s *tenancy) everyRoute(t *testing.T) {
	for _, r := range s.guarded(t) {
		if r.surface() == "/rest/v1" {
			t.Errorf("%s is a route of its own", r)
		}
		for _, c := range s.callers {
			status, body := s.ask(t, c, r.method, r.at(s.ours), "{}")
			isSetting := r.method == "PUT" && r.path == "/api/providers/:platform/limits" // owners alone
			if c.refused["/api"] == 0 &&
				(isSetting || strings.HasPrefix(r.path, "/api/webhooks") || r.path == "/api/subscriptions") {
				if isAdmin := strings.HasSuffix(c.name, "admin") && !isSetting ||
					strings.HasSuffix(c.name, "owner"); (status == 403) == isAdmin || status == 401 || status >= 500 {
					t.Errorf("%s at %s: %d %s", c.name, r, status, body)
				}
				continue
			}
			c.judge(t, r.surface(), r.String(), status, body)
			if r.surface() == "/api/v1" && c.refused["/api/v1"] == 0 && status != 200 &&
				!strings.Contains(r.path, ":id") {
				t.Errorf("%s at %s: %d %s", c.name, r, status, body)
			}
		}
	}
}

// packed bodies are unpacked by no route; TestNoRouteUnpacksABody asks those that an outside issuer leaves out.
func (s *tenancy) packed(t *testing.T) {
	for _, r := range s.served.App.GetRoutes(true) {
		request, err := http.NewRequestWithContext(t.Context(), r.Method, s.served.URL()+r.Path,
			strings.NewReader("packed"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Encoding", "br")
		if status, _, body := run.Exchange(t, request); status != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, status, body)
		}
	}
}

func (s *tenancy) everyTable(t *testing.T) {
	before := s.everything(t, s.ours)
	for _, table := range s.tables {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			for _, c := range s.callers {
				if c.refused["/rest/v1"] == 0 && method != "GET" {
					continue // what a role may write is everyRole's
				}
				address := "/rest/v1/" + table + "?" + ownerColumn(table) + "=eq." + s.ours.organization.String()
				status, body := s.ask(t, c, method, address,
					`{"`+ownerColumn(table)+`":"`+s.ours.organization.String()+`"}`)
				c.judge(t, "/rest/v1", method+" "+table, status, body)
			}
		}
	}
	if !reflect.DeepEqual(s.everything(t, s.ours), before) {
		t.Error("a credential that is refused has changed something")
	}
}

// everything is all rows of a tenant, by table.
func (s *tenancy) everything(t *testing.T, n tenant) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	for _, table := range s.tables {
		all[table] = n.rows(t, s.root, table)
	}
	return all
}

// writers says which role a user needs to change a row of a table; a table that is not listed nobody changes.
var writers = map[string]string{
	"organizations": "admin", "members": "admin", "webhook_endpoints": "admin",
	"brands": "member", "brand_domains": "member", "competitors": "member", "topics": "member", "prompt_sets": "member",
	"prompts":         "member",
	"brand_platforms": "member", "suggestions": "member", "content_briefs": "member", "annotations": "member",
}

// everyRole sees of each table what it may, and changes what it may. A viewer starts and cancels no job.
func (s *tenancy) everyRole(t *testing.T) {
	viewer := caller{authorization: run.TokenOf(t, s.ours.users["viewer"], nil)}
	job := s.ours.rows(t, s.root, "tracking_jobs")[0]["id"].(string)
	for _, r := range []route{{"POST", "/api/tracking/start"}, {"DELETE", "/api/tracking/job/" + job}} {
		if status, body := s.ask(t, viewer, r.method, r.path,
			`{"brandId":"`+s.ours.brand.String()+`","platforms":["simulator"]}`); status != 403 {
			t.Errorf("a viewer at %s: %d %s", r, status, body)
		}
	}
	for _, table := range s.tables {
		rows := s.ours.rows(t, s.root, table)
		for rank, role := range roles {
			c := caller{authorization: run.TokenOf(t, s.ours.users[role], nil), apikey: run.Anon}
			visible := len(rows)
			switch {
			case rank >= slices.Index(roles, "admin"):
			case table == "audit_log", table == "invitations", table == "webhook_endpoints",
				table == "webhook_deliveries", table == "subscriptions":
				visible = 0
			case table == "share_links" && role == "viewer":
				visible = 0
			case table == "events":
				visible = len(slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool {
					return row["admin_only"] == true
				}))
			case table == "api_keys":
				visible = len(slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool {
					return row["user_id"] != s.ours.users[role].ID.String()
				}))
			}
			status, body := s.ask(t, c, "GET", "/rest/v1/"+table, "")
			if got := listed(t, body); status != 200 || len(got) != visible {
				t.Errorf("a %s sees %d rows of %s, want %d: %d", role, len(got), table, visible, status)
			}
			id := s.rowFor(t, table)
			change := `{"id":"` + id + `"}`
			switch table { // the id of these nobody changes
			case "organizations":
				change = `{"name":"acorn"}`
			case "annotations":
				change = `{"text":"a new site"}`
			case "webhook_endpoints":
				change = `{"description":"n8n"}`
			}
			least, writable := writers[table]
			status, body = s.ask(t, c, "PATCH", "/rest/v1/"+table+"?id=eq."+id, change)
			switch may := writable && rank >= slices.Index(roles, least); {
			case !writable && status != 403, writable && (status != 200 || (len(listed(t, body)) == 1) != may):
				t.Errorf("a %s changes %s: %d %s, want %t", role, table, status, body, may)
			}
		}
	}
}

// rowFor is a row of ours that every writer may change: of the members the one with the lowest role.
func (s *tenancy) rowFor(t *testing.T, table string) string {
	t.Helper()
	if table == "members" {
		return column[string](t, s.root, "SELECT id::text FROM public.members WHERE user_id = $1",
			s.ours.users["viewer"].ID)[0]
	}
	return s.ours.rows(t, s.root, table)[0]["id"].(string)
}

// listed are the rows of an answer; none of a refusal.
func listed(t *testing.T, body string) (rows []map[string]any) {
	t.Helper()
	_ = json.Unmarshal([]byte(body), &rows) // a refusal is an object
	return rows
}

// strangers, the owner of another organization and a key of theirs, see nothing of ours and change nothing.
func (s *tenancy) strangers(t *testing.T) {
	before, traces := s.everything(t, s.ours), s.ours.traces(t, s.root, s.tables)
	user := caller{"another owner's token", run.Anon, run.TokenOf(t, s.others.users["owner"], nil), nil}
	key := caller{"another owner's key", run.Anon, s.others.keys["owner"], nil}
	for _, r := range s.guarded(t) {
		for _, c := range []caller{user, key} {
			for _, of := range []tenant{s.ours, s.others} {
				status, body := s.ask(t, c, r.method, r.at(of), "{}")
				if trace := traceIn(body, traces); trace != "" || status >= 500 {
					t.Errorf("%s at %s: %q in %d %s", c.name, r, trace, status, body)
				}
				if about := of.brand == s.ours.brand && !slices.Contains(brandless, r.path); r.surface() == "/api/v1" &&
					c.name == key.name && (status == 404) != (about || strings.Contains(r.path, ":id")) {
					t.Errorf("%s at %s, the brand of %s: %d %s", c.name, r, of.word, status, body)
				}
			}
		}
	}
	for _, row := range s.ours.rows(t, s.root, "api_keys") {
		if status, body := s.ask(t, user, "DELETE", "/api/keys/"+row["id"].(string), ""); status != 404 {
			t.Errorf("revoke our key: %d %s", status, body)
		}
	}
	for _, row := range s.ours.rows(t, s.root, "tracking_jobs") {
		for _, method := range []string{"GET", "DELETE"} {
			if status, body := s.ask(t, user, method, "/api/tracking/job/"+row["id"].(string), ""); status != 404 {
				t.Errorf("%s our job: %d %s", method, status, body)
			}
		}
	}
	for _, path := range []string{"/api/tracking/start", "/api/tracking/estimate"} {
		if status, body := s.ask(t, user, "POST", path,
			`{"brandId":"`+s.ours.brand.String()+`","platforms":["simulator"]}`); status != 404 {
			t.Errorf("%s of our brand: %d %s", path, status, body)
		}
	}
	for _, table := range s.tables {
		address := "/rest/v1/" + table
		if status, body := s.ask(t, user, "GET", address, ""); status != 200 ||
			len(listed(t, body)) != len(s.others.rows(t, s.root, table)) || traceIn(body, traces) != "" {
			t.Errorf("%s: %d %s", address, status, body)
		}
		for _, row := range s.ours.rows(t, s.root, table) {
			one := address + "?id=eq." + row["id"].(string)
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				status, body := s.ask(t, user, method, one,
					`{"`+ownerColumn(table)+`":"`+s.others.organization.String()+`"}`)
				if body != "[]" && status != 403 {
					t.Errorf("%s %s: %d %s", method, one, status, body)
				}
			}
			row["id"] = uuid.Must(uuid.NewV4())
			copied, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := s.ask(t, user, "POST", address, string(copied)); status != 403 {
				t.Errorf("POST %s for us: %d %s", table, status, body)
			}
		}
	}
	functions := column[string](t, s.root, "SELECT proname::text FROM pg_proc WHERE pronamespace = "+
		"'public'::regnamespace AND has_function_privilege('authenticated', oid, 'EXECUTE') AND NOT EXISTS (SELECT "+
		"FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')")
	if slices.Sort(functions); !slices.Equal(functions, []string{"create_content_brief", "get_latest_prompt_results"}) {
		t.Errorf("functions that are exposed: %v; ask each as a stranger", functions)
	}
	status, body := s.ask(t, user, "POST", "/rest/v1/rpc/get_latest_prompt_results",
		`{"p_brand_id":"`+s.ours.brand.String()+`"}`)
	if status != 200 || body != "[]" {
		t.Errorf("get_latest_prompt_results: %d %s", status, body)
	}
	for _, suggestion := range s.ours.rows(t, s.root, "suggestions") {
		status, body = s.ask(t, user, "POST", "/rest/v1/rpc/create_content_brief",
			`{"p_suggestion_id":"`+suggestion["id"].(string)+`"}`)
		if status != 403 || traceIn(body, traces) != "" {
			t.Errorf("create_content_brief: %d %s", status, body)
		}
	}
	if after := s.everything(t, s.ours); !reflect.DeepEqual(after, before) {
		for table := range before {
			if !reflect.DeepEqual(after[table], before[table]) {
				t.Errorf("a stranger has changed %s: %v, before %v", table, after[table], before[table])
			}
		}
	}
}
