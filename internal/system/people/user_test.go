package people

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

// A user is added, signs in, is listed, gets another password, is disabled and enabled; whatever was open is shut at
// once.
func TestAUserSignsInUntilTheyAreDisabled(t *testing.T) {
	t.Parallel()
	env := run.Stores(t, nil, secretKeys).Env
	api := run.Serve(t, env, "queryapi")
	run.Must(t, env, "org", "add", "Acme")
	const id = "7f1f9c5e-2a53-4d0c-9a3b-0d6f7f0a1b2c"
	if added := run.Must(t, env, "user", "add",
		"ana@example.org", "--org", "acme", "--role", "owner", "--id", id); added != id+" ana@example.org owner" {
		t.Errorf("user add --id: %s", added)
	}
	_, password, _ := strings.Cut(run.Must(t, env, "user", "passwd", "ana@example.org"), "password ")
	key := run.Must(t, env, "key", "create", "--org", "acme", "--user", "ana@example.org", "--name", "test")
	signIn := func(password string) (status int, access string) {
		body := strings.NewReader(`{"email":"ana@example.org","password":"` + password + `"}`)
		response, err := http.Post(api.URL+"/auth/v1/token?grant_type=password", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var session struct {
			Access string `json:"access_token"`
		}
		if err := json.NewDecoder(response.Body).Decode(&session); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, session.Access
	}
	opens := func(what, access string, want int) {
		t.Helper()
		if status, body := run.Fetch(t, api.URL+"/api/health", access); status != want {
			t.Errorf("%s: /api/health %d %s", what, status, body)
		}
		if status, body := run.Fetch(t, api.URL+"/api/v1/whoami", key); status != want {
			t.Errorf("%s: /api/v1/whoami %d %s", what, status, body)
		}
	}
	_, access := signIn(password)
	opens("added", access, 200)
	if list := run.Must(t, env, "user", "list", "--org", "acme"); !strings.HasPrefix(list, id) ||
		!strings.Contains(list, "signed in 20") {
		t.Errorf("user list: %s", list)
	}
	_, changed, _ := strings.Cut(run.Must(t, env, "user", "passwd", "ana@example.org"), "password ")
	if status, _ := signIn(password); status != 400 {
		t.Errorf("the old password: %d", status)
	}
	if status, body := run.Fetch(t, api.URL+"/api/health", access); status != 401 {
		t.Errorf("a session of the old password: %d %s", status, body)
	}
	_, access = signIn(changed)
	opens("another password", access, 200)
	run.Must(t, env, "user", "disable", "ANA@example.org")
	opens("disabled", access, 401)
	if list := run.Must(t, env, "user", "list", "--org", "acme"); !strings.Contains(list, "disabled") {
		t.Errorf("user list: %s", list)
	}
	run.Must(t, env, "user", "enable", "ana@example.org")
	if status, body := run.Fetch(t, api.URL+"/api/health", access); status != 401 {
		t.Errorf("enabled, the old session: %d %s", status, body)
	}
	_, access = signIn(changed)
	opens("enabled", access, 200)
	public := append(env, "ANSWERSCOPE_PUBLIC_URL="+api.URL)
	for _, c := range []struct {
		args       []string
		path, page string
	}{
		{[]string{"reset", "ana@example.org"}, "/reset/", "For ana@example.org."},
		{[]string{"invite", "cy@example.org", "--org", "acme", "--role", "viewer"}, "/invite/", "Join Acme"},
	} {
		link := run.Must(t, public, append([]string{"user"}, c.args...)...)
		if status, page := run.FetchAnonymously(t, link); !strings.HasPrefix(link, api.URL+c.path) || status != 200 ||
			!strings.Contains(page, c.page) {
			t.Errorf("user %s: %s: %d %s", c.args, link, status, page)
		}
		if r := run.ToEnd(t, env, "", append([]string{"user"}, c.args...)...); r.Status != run.ExitFailed ||
			!strings.Contains(r.Stderr, "ANSWERSCOPE_PUBLIC_URL") {
			t.Errorf("user %s without a public URL: %d %s", c.args, r.Status, r.Stderr)
		}
	}
	if r := run.ToEnd(t, public, "", "user", "invite",
		"cy@example.org, eve@example.org", "--org", "acme"); r.Status != run.ExitUsage {
		t.Errorf("two addresses: %d %s", r.Status, r.Stderr)
	}

	for _, args := range [][]string{
		{"disable", "bob@example.org"}, {"enable", "bob@example.org"}, {"passwd", "bob@example.org"},
	} {
		if r := run.ToEnd(t, env, "", append([]string{"user"}, args...)...); r.Status != run.ExitFailed ||
			!strings.Contains(r.Stderr, "not found; `answerscope user list` prints them") {
			t.Errorf("%v: %d %s", args, r.Status, r.Stderr)
		}
	}
	if r := run.ToEnd(t, env, "", "user", "add",
		"bob@example.org", "--org", "acme", "--id", "1"); r.Status != run.ExitUsage {
		t.Errorf("an id that is none: %d %s", r.Status, r.Stderr)
	}
	if r := run.ToEnd(t, env, "", "user", "role", "ana@example.org", "viewer"); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "the last owner of an organization stays") ||
		strings.Contains(r.Stderr, "SQLSTATE") {
		t.Errorf("the last owner as a viewer: %d %s", r.Status, r.Stderr)
	}
	run.Must(t, env, "user", "add", "bob@example.org", "--org", "acme")
	run.Must(t, env, "user", "role", "Bob@example.org", "owner")
	run.Must(t, env, "user", "remove", "ana@example.org")
	opens("removed", access, 401)
	if list := run.Must(t, env, "user", "list", "--org", "acme"); strings.Contains(list, "ana@") ||
		!strings.Contains(list, "owner") {
		t.Errorf("user list: %s", list)
	}
	if out := run.Must(t, env, "secrets", "rotate"); out != "1 secrets encrypted" {
		t.Errorf("secrets rotate: %s", out)
	}
}

// Who decides who signs in: an outside issuer if there is one. TestSupabaseJS has our own.
func TestTheIdentityProviderIsChosen(t *testing.T) {
	t.Parallel()
	outside := run.Serve(t, run.Stores(t, nil, "ANSWERSCOPE_ISSUER=https://issuer.example",
		"ANSWERSCOPE_JWT_SECRET="+strings.Repeat("s", 32)).Env, "queryapi")
	if status, _ := run.Fetch(t, outside.URL+"/auth/v1/.well-known/jwks.json", ""); status != 404 {
		t.Errorf("outside issuer: %d", status)
	}
	if status, body := run.Fetch(t, outside.URL+"/api/health", ""); status != 401 {
		t.Errorf("outside issuer: %d %s", status, body)
	}
	wrong := []string{"ANSWERSCOPE_JWKS_URL=keys", "ANSWERSCOPE_JWT_SECRET=short", "ANSWERSCOPE_SECRET_KEYS=k1:hunter2"}
	r := run.ToEnd(t, wrong, "", "config", "--check")
	want := `answerscope: ANSWERSCOPE_ISSUER is "": want the iss of the issuer whose tokens ANSWERSCOPE_JWKS_URL or ` +
		`ANSWERSCOPE_JWT_SECRET verifies
ANSWERSCOPE_JWKS_URL is "****": want https://…/.well-known/jwks.json
ANSWERSCOPE_JWT_SECRET is "****": want at least 32 bytes
ANSWERSCOPE_SECRET_KEYS is "****": want id:base64[,id:base64…], each key 32 bytes, such as k1: and the output of ` +
		"`openssl rand -base64 32`" + `
`
	if r.Status != run.ExitFailed || r.Stderr != want {
		t.Errorf("status %d, said\n%s\nwant\n%s", r.Status, r.Stderr, want)
	}
}
