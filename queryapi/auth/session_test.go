package auth

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestASessionIsWhatClientsOfGoTrueKnow(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	before := time.Now().Unix()
	a := w.ask(t, "POST", "/auth/v1/token?grant_type=password",
		`{"email":"ANN@example.com","password":"`+rightPassword+`"}`,
		"Authorization", "Bearer the-anon-key", "apikey", "the-anon-key")
	sessionOf(t, a)
	keys := slices.Sorted(maps.Keys(a.body))
	if want := "access_token expires_at expires_in refresh_token token_type user"; strings.Join(keys, " ") != want ||
		a.body["token_type"] != "bearer" || a.body["expires_in"] != 3600.0 ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", a.text, a.header)
	}
	expires := int64(a.body["expires_at"].(float64))
	if expires < before+3600 || expires > time.Now().Unix()+3600 {
		t.Errorf("expires at %d", expires)
	}
	user := a.body["user"].(map[string]any)
	if user["id"] != w.ann.ID.String() || user["aud"] != "authenticated" || user["role"] != "authenticated" ||
		user["email"] != "ann@example.com" ||
		user["last_sign_in_at"] == nil || user["app_metadata"].(map[string]any)["organization_id"] !=
		w.ann.OrganizationID.String() || user["user_metadata"] == nil {
		t.Errorf("user %v", user)
	}
	claims := jwt.MapClaims{}
	unverified, _, err := jwt.NewParser().ParseUnverified(a.body["access_token"].(string), claims)
	if err != nil || unverified.Header["alg"] != "ES256" {
		t.Fatalf("%v %v", unverified, err)
	}
	if claims["iss"] != "answerscope" || claims["sub"] != w.ann.ID.String() || claims["role"] != "authenticated" ||
		claims["email"] != "ann@example.com" ||
		int64(claims["exp"].(float64)) != expires || claims["iat"] == nil || claims["session_id"] == nil ||
		claims["aud"] != "authenticated" ||
		claims["app_metadata"].(map[string]any)["organization_id"] != w.ann.OrganizationID.String() {
		t.Errorf("claims %v", claims)
	}
	if got := w.with(t, "GET", "/auth/v1/user", a.body["access_token"].(string)); got.status != 200 ||
		got.body["id"] != user["id"] || got.body["last_sign_in_at"] != user["last_sign_in_at"] {
		t.Errorf("user: %d %s, want %v", got.status, got.text, user)
	}
	if got := w.with(t, "GET", "/api/health", a.body["access_token"].(string)); got.status != 200 ||
		got.text != `{"status":"ok","userId":"`+w.ann.ID.String()+`"}` {
		t.Errorf("health: %d %s", got.status, got.text)
	}
	published := w.ask(t, "GET", "/auth/v1/.well-known/jwks.json", "")
	key := published.body["keys"].([]any)[0].(map[string]any)
	if key["kid"] != unverified.Header["kid"] || key["kty"] != "EC" || key["crv"] != "P-256" || key["alg"] != "ES256" ||
		key["d"] != nil {
		t.Errorf("published %s", published.text)
	}
	if !strings.Contains(w.log.String(), `msg="signed in" user=`+w.ann.ID.String()+" client=127.0.0.1/32 by=password") {
		t.Error("the sign-in is not in the log")
	}
	if strings.Contains(w.log.String(), rightPassword) ||
		strings.Contains(w.log.String(), a.body["refresh_token"].(string)) {
		t.Error("a secret is in the log")
	}
}

// A refresh token works once. Shown again, it ends the session: a thief has it, or had it.
func TestARefreshTokenThatIsUsedAgainEndsTheSession(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	first, other := w.signIn(t, "ann@example.com"), w.signIn(t, "ann@example.com")
	second := sessionOf(t, w.refresh(t, first.refresh))
	if second.refresh == first.refresh {
		t.Fatal("the same token again")
	}
	for _, s := range []session{first, second} { // an access token goes on until it expires
		if got := w.with(t, "GET", "/auth/v1/user", s.access); got.status != 200 {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
	w.refresh(t, first.refresh).refused(t, "an old token", 400, "refresh_token_already_used")
	w.refresh(t, second.refresh).refused(t, "the newest of its session", 400, "refresh_token_not_found")
	w.with(t, "GET", "/auth/v1/user", second.access).refused(t, "its access token", 403, "session_not_found")
	if !strings.Contains(w.log.String(), "refresh token used twice") {
		t.Error("nothing in the log")
	}
	sessionOf(t, w.refresh(t, other.refresh))
}

func TestSigningOutEndsWhatItsScopeSays(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.add(t, "bob@example.com")
	bob := w.signIn(t, "bob@example.com")
	for query, want := range map[string][2]bool{
		"": {false, false}, "?scope=global": {false, false}, "?scope=local": {false, true},
		"?scope=others": {true, false},
	} {
		this, that := w.signIn(t, "ann@example.com"), w.signIn(t, "ann@example.com")
		if got := w.with(t, "POST", "/auth/v1/logout"+query, this.access); got.status != 204 || got.text != "" {
			t.Fatalf("logout%s: %d %s", query, got.status, got.text)
		}
		for i, s := range []session{this, that} {
			if got := w.with(t, "GET", "/api/health", s.access); (got.status == 200) != want[i] {
				t.Errorf("logout%s, session %d: %d %s", query, i, got.status, got.text)
			}
			if got := w.refresh(t, s.refresh); (got.status == 200) != want[i] {
				t.Errorf("logout%s, session %d: %d %s", query, i, got.status, got.text)
			}
		}
	}
	this := w.signIn(t, "ann@example.com")
	w.with(t, "POST", "/auth/v1/logout?scope=all", this.access).refused(t, "an unknown scope", 400, "validation_failed")
	w.ask(t, "POST", "/auth/v1/logout", "").refused(t, "without a token", 401, "no_authorization")
	if got := w.with(t, "GET", "/api/health", bob.access); got.status != 200 {
		t.Errorf("bob was signed out: %d %s", got.status, got.text)
	}
}

// A key that another process has made is known at once; one of a process with other secrets verifies as well.
func TestKeysRotateAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	before := w.signIn(t, "ann@example.com")
	w.exec(t, "UPDATE private.signing_keys SET created_at = created_at - INTERVAL '90 days'")
	for _, ring := range []string{"k", "o"} {
		second := &environment{db: w.db}
		second.provider = NewProvider(w.config(), w.db, ringOf(t, ring), w.provider.log)
		second.url = second.serve(t, func(server *httpd.Server) { second.provider.Mount(server) })
		after := second.signIn(t, "ann@example.com")
		if kidOf(t, after.access) == kidOf(t, before.access) {
			t.Fatal("the old key signs")
		}
		for _, s := range []session{before, after} {
			for _, on := range []*environment{w, second} {
				if got := on.with(t, "GET", "/auth/v1/user", s.access); got.status != 200 {
					t.Errorf("ring %s: %d %s", ring, got.status, got.text)
				}
			}
		}
		before = after
	}
	var sealed string
	if err := w.db.QueryRow(t.Context(),
		"SELECT string_agg(private_key, ' ') FROM private.signing_keys").Scan(&sealed); err != nil ||
		len(strings.Fields(sealed)) != 3 {
		t.Errorf("%s, %v", sealed, err)
	}
	if n := strings.Count(w.log.String(), "signing key not decrypted"); n != 2 {
		t.Errorf("%d warnings of keys that are not decrypted", n)
	}
	keys, err := w.db.SigningKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys[0].Private, keys[1].Private = keys[1].Private, keys[0].Private
	if _, err := (&keyStore{ring: ringOf(t, "k")}).private(keys[0]); err == nil {
		t.Error("a private key opens in another row")
	}
}

// Secrets are encrypted anew with a key that is put in front; the old key is of no use then.
func TestSecretsAreEncryptedAnew(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	before := kidOf(t, w.signIn(t, "ann@example.com").access)
	if n, err := w.db.Reseal(t.Context(), ringOf(t, "n").Reseal); err == nil || n != 0 {
		t.Errorf("with a strange key: %d, %v", n, err)
	}
	if n, err := w.db.Reseal(t.Context(), ringOf(t, "nk").Reseal); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	w.provider = NewProvider(w.config(), w.db, ringOf(t, "n"), newLog(w))
	w.url = w.serve(t, w.provider.Mount)
	if after := kidOf(t, w.signIn(t, "ann@example.com").access); after != before {
		t.Errorf("signed with %s, want %s", after, before)
	}
}

func kidOf(t *testing.T, text string) any {
	t.Helper()
	unverified, _, err := jwt.NewParser().ParseUnverified(text, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	return unverified.Header["kid"]
}

func TestPagesOfAllOriginsMaySignIn(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	preflight := func(origin string) http.Header {
		return w.ask(t, "OPTIONS", "/auth/v1/token", "", "Origin", origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,apikey,x-client-info").header
	}
	h := preflight("https://page.example")
	if h.Get("Access-Control-Allow-Origin") != "*" ||
		h.Get("Access-Control-Allow-Headers") != "authorization,apikey,x-client-info" ||
		h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", h)
	}
	bad := w.ask(t, "POST", "/auth/v1/token?grant_type=password", `{}`, "Origin", "https://page.example")
	if bad.status != 400 || bad.header.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(bad.header.Get("Access-Control-Expose-Headers"), "X-Supabase-Api-Version") {
		t.Errorf("%d %v", bad.status, bad.header)
	}
	cfg := w.config()
	cfg.CORSOrigins = []string{"https://page.example"}
	listed := NewProvider(cfg, w.db, ringOf(t, "k"), w.provider.log)
	w.url = w.serve(t, listed.Mount)
	if h := preflight("https://page.example"); h.Get("Access-Control-Allow-Origin") != "https://page.example" ||
		h.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("%v", h)
	}
	if h := preflight("https://other.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", h)
	}
}

// While the database is away, clients are asked to retry.
func TestADatabaseThatIsAwayIs503(t *testing.T) {
	t.Parallel()
	w := &environment{db: awayDB(t)}
	w.provider = NewProvider(w.config(), w.db, ringOf(t, "k"), newLog(w))
	w.url = w.serve(t, func(server *httpd.Server) {
		w.provider.Mount(server)
		w.provider.Tokens().Mount(server)
	})
	for _, a := range []answer{
		w.ask(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"ann@example.com","password":"x"}`),
		w.refresh(t, "x"), w.with(t, "GET", "/auth/v1/user", foreignToken(t)),
	} {
		a.refused(t, "away", 503, "unavailable")
	}
	if a := w.with(t, "GET", "/api/health", foreignToken(t)); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.text)
	}
}

func awayDB(t *testing.T) *postgres.DB {
	t.Helper()
	cfg := postgres.DefaultConfig()
	cfg.DSN = "postgres://nobody@127.0.0.1:1/none"
	db, err := postgres.OpenLater(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
