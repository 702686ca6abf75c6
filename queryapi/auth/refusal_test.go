package auth

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/httpd"
)

// foreignToken is signed with a key that no store has.
func foreignToken(t *testing.T) string {
	t.Helper()
	key, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.Sign(NewClaims(issuer, audience, uuid.Nil.String(), time.Now(), time.Now().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// badTokens makes every token that must open nothing, from a good one; what it changes of the user is changed back by
// the returned function.
func (w *environment) badTokens(t *testing.T) map[string]func() (text, code string, restore func()) {
	t.Helper()
	keys, err := (&keyStore{db: w.db, ring: ringOf(t, "k"), log: w.provider.log}).Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := keys[0]
	der, err := x509.MarshalPKIXPublicKey(key.Public)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	ann := w.signIn(t, "ann@example.com").access
	bobs := w.add(t, "bob@example.com")
	changed := func(name string, value any) func() (string, string, func()) {
		return func() (string, string, func()) {
			claims := jwt.MapClaims{}
			if _, _, err := jwt.NewParser().ParseUnverified(ann, claims); err != nil {
				t.Fatal(err)
			}
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
			return signedWith(t, jwt.SigningMethodES256, key.Private, key.ID, claims), "bad_jwt", func() {}
		}
	}
	signed := func(method jwt.SigningMethod, with any, kid string) func() (string, string, func()) {
		return func() (string, string, func()) {
			claims := jwt.MapClaims{}
			if _, _, err := jwt.NewParser().ParseUnverified(ann, claims); err != nil {
				t.Fatal(err)
			}
			return signedWith(t, method, with, kid, claims), "bad_jwt", func() {}
		}
	}
	coded := func(code string, make func() (string, string, func())) func() (string, string, func()) {
		return func() (string, string, func()) {
			text, _, restore := make()
			return text, code, restore
		}
	}
	while := func(code, sql, undo string, args ...any) func() (string, string, func()) {
		return func() (string, string, func()) {
			w.exec(t, sql, args...)
			return ann, code, func() { w.exec(t, undo, args...) }
		}
	}
	tampered := func() (string, string, func()) {
		parts := strings.Split(ann, ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		parts[1] = base64.RawURLEncoding.EncodeToString(
			[]byte(strings.Replace(string(claims), w.ann.ID.String(), bobs.ID.String(), 1)))
		return strings.Join(parts, "."), "bad_jwt", func() {}
	}
	now := time.Now()
	return map[string]func() (string, string, func()){
		"expired":                    changed("exp", now.Add(-time.Minute).Unix()),
		"without exp":                changed("exp", nil),
		"not yet valid":              changed("nbf", now.Add(time.Minute).Unix()),
		"of another issuer":          changed("iss", "https://other.example"),
		"for another audience":       changed("aud", "anon"),
		"of the owner of the tables": changed("role", "answerscope_owner"),
		"of nobody":                  changed("role", "anon"),
		"without role":               changed("role", nil),
		"of a user without uuid":     coded("user_not_found", changed("sub", "ann")),
		"of another's session":       coded("session_not_found", changed("sub", bobs.ID.String())),
		"of an unknown user":         coded("user_not_found", changed("sub", uuid.Must(uuid.NewV4()).String())),
		"of an unknown session": coded("session_not_found",
			changed("session_id", uuid.Must(uuid.NewV4()).String())),
		"without session":           coded("session_not_found", changed("session_id", nil)),
		"unsigned":                  signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, key.ID),
		"HS256 with the public key": signed(jwt.SigningMethodHS256, public, key.ID),
		"of an unknown key":         signed(jwt.SigningMethodES256, key.Private, uuid.Must(uuid.NewV4()).String()),
		"tampered":                  tampered,
		"an API key":                func() (string, string, func()) { return "svc_abc", "bad_jwt", func() {} },
		"no token":                  func() (string, string, func()) { return "x", "bad_jwt", func() {} },
		"of a disabled user": while("user_not_found", "UPDATE private.users SET is_active = false WHERE id = $1",
			"UPDATE private.users SET is_active = true WHERE id = $1", w.ann.ID),
		"of who left the organization": while("user_not_found",
			"DELETE FROM public.members WHERE user_id = $1 AND organization_id = $2",
			"WITH back AS (UPDATE private.sessions SET revoked_at = NULL WHERE user_id = $1) INSERT INTO "+
				"public.members (user_id, organization_id, role) VALUES ($1, $2, 'admin')", w.ann.ID,
			w.ann.OrganizationID),
		"of a revoked session": while("session_not_found",
			"UPDATE private.sessions SET revoked_at = now() WHERE user_id = $1",
			"UPDATE private.sessions SET revoked_at = NULL WHERE user_id = $1", w.ann.ID),
		"": func() (string, string, func()) { return ann, "", func() {} }, // the good one
	}
}

func signedWith(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.Claims) string {
	t.Helper()
	unsigned := jwt.NewWithClaims(method, claims)
	unsigned.Header["kid"] = kid
	text, err := unsigned.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestABadTokenOpensNothing(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.signIn(t, "ann@example.com") // so that there is a signing key
	for name, make := range w.badTokens(t) {
		text, code, restore := make()
		health, user := w.with(t, "GET", "/api/health", text), w.with(t, "GET", "/auth/v1/user", text)
		restore()
		if name == "" {
			if health.status != 200 || user.status != 200 {
				t.Errorf("the good one: %d %s, %d %s", health.status, health.text, user.status, user.text)
			}
			continue
		}
		user.refused(t, name, 403, code)
		want, challenge := 401, "Bearer"
		if name == "of the owner of the tables" || name == "without role" {
			want, challenge = 403, ""
		}
		message, _ := health.body["error"].(string)
		if health.status != want || message == "" || len(health.body) != 1 ||
			health.header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%s at /api: %d %s", name, health.status, health.text)
		}
	}
	if a := w.ask(t, "GET", "/api/health", ""); a.status != 401 || !strings.Contains(a.text, "missing access token") {
		t.Errorf("without a token: %d %s", a.status, a.text)
	}
	if a := w.ask(t, "GET", "/api/health", "", "Authorization", "Basic YTpi"); a.status != 401 {
		t.Errorf("another scheme: %d %s", a.status, a.text)
	}
	if a := w.with(t, "GET", "/api/health", "svc_abc"); !strings.Contains(a.text, "no API key is taken here") {
		t.Errorf("an API key: %s", a.text)
	}
	w.ask(t, "GET", "/auth/v1/user", "").refused(t, "without a token", 401, "no_authorization")
}

// Whatever is wrong with an address or a password, the answer is one, and never a 5xx.
func TestWrongCredentialsAreAllAlike(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	disabled, outside, alone := w.add(t, "disabled@example.com"), w.add(t, "outside@example.com"),
		w.add(t, "alone@example.com")
	if err := w.db.SetUserActive(t.Context(), disabled.Email, false); err != nil {
		t.Fatal(err)
	}
	w.exec(t, "UPDATE private.users SET password_hash = NULL WHERE id = $1", outside.ID)
	w.exec(t, "DELETE FROM public.members WHERE user_id = $1", alone.ID)
	same := ""
	for name, body := range map[string]string{
		"wrong password":        `{"email":"ann@example.com","password":"wrong"}`,
		"empty password":        `{"email":"ann@example.com","password":""}`,
		"no password":           `{"email":"ann@example.com"}`,
		"unknown address":       `{"email":"nobody@example.com","password":"` + rightPassword + `"}`,
		"no address":            `{"password":"` + rightPassword + `"}`,
		"zero byte in address":  `{"email":"ann@example.com\u0000","password":"` + rightPassword + `"}`,
		"zero byte in password": `{"email":"ann@example.com","password":"` + rightPassword + `\u0000"}`,
		"a long address":        `{"email":"` + strings.Repeat("a", 10_000) + `@example.com","password":"x"}`,
		"no UTF-8":              "{\"email\":\"ann\xff@example.com\",\"password\":\"\xff\"}",
		"SQL":                   `{"email":"' OR 1=1 --","password":"x"}`,
		"disabled":              `{"email":"disabled@example.com","password":"` + rightPassword + `"}`,
		"of another provider":   `{"email":"outside@example.com","password":""}`,
		"without organization":  `{"email":"alone@example.com","password":"` + rightPassword + `"}`,
		"by phone":              `{"phone":"+43","password":"x"}`,
		"empty":                 `{}`, "null": `null`,
	} {
		before := strings.Count(w.log.String(), `msg="sign-in refused"`)
		a := w.ask(t, "POST", "/auth/v1/token?grant_type=password", body)
		if strings.Count(w.log.String(), `msg="sign-in refused"`) != before+1 {
			t.Errorf("%s: no line in the log", name)
		}
		a.refused(t, name, 400, "invalid_credentials")
		if same == "" {
			same = a.text
		}
		if a.text != same || a.body["message"] != "Invalid login credentials" {
			t.Errorf("%s: %s, others %s", name, a.text, same)
		}
	}
}

func TestOtherMistakesHaveTheirCodes(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	access := w.signIn(t, "ann@example.com").access
	for _, m := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/auth/v1/token?grant_type=password", "", 400, "bad_json"},
		{"POST", "/auth/v1/token?grant_type=password", "[]", 400, "bad_json"},
		{"POST", "/auth/v1/token?grant_type=password", `{"email":1,"password":"x"}`, 400, "bad_json"},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":null`, 400, "bad_json"},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{}`, 400, "refresh_token_not_found"},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"\u0000"}`, 400,
			"refresh_token_not_found"},
		{"POST", "/auth/v1/token?grant_type=pkce", `{}`, 400, "validation_failed"},
		{"POST", "/auth/v1/token", `{}`, 400, "validation_failed"},
		{"GET", "/auth/v1/token", "", 405, "method_not_allowed"},
		{"PUT", "/auth/v1/user", `{"data":{}}`, 400, "validation_failed"},
		{"PUT", "/auth/v1/user", `{"password":"x"}`, 400, "current_password_required"},
		{"PUT", "/auth/v1/user", `{"password":"x","current_password":"` + rightPassword + `"}`, 422, "weak_password"},
		{"PUT", "/auth/v1/user", `{"password":"` + rightPassword + `2","current_password":"x"}`, 400,
			"invalid_credentials"},
		{"POST", "/auth/v1/signup", `{}`, 404, "not_found"},
		{"GET", "/auth/v1/admin/users", "", 404, "not_found"},
		{"POST", "/auth/v1/admin/users", `{}`, 404, "not_found"},
		{"GET", "/auth/v1", "", 404, "not_found"},
		{"POST", "/auth/v1/token?grant_type=password", strings.Repeat("x", bodyLimit+1), 413,
			"request_entity_too_large"},
	} {
		w.ask(t, m.method, m.path, m.body, "Authorization", "Bearer "+access).refused(t,
			m.method+" "+m.path, m.status, m.code)
	}
}

// Thirty tries in five minutes, of one address: the proxy's client, not the proxy.
func TestSignInsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.provider.hashing.Acquire(t.Context(), maxHashes) // no hash is computed: a try counts before that
	w.provider.wait = 0
	try := func(from string) answer {
		return w.ask(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"ann@example.com","password":"wrong"}`,
			"X-Forwarded-For", from)
	}
	for range maxSignIns {
		if a := try("192.0.2.1"); a.header.Get("Retry-After") != "1" { // of the turn to compute a hash
			t.Fatalf("limited too early: %v", a.header)
		}
	}
	a := try("192.0.2.1")
	a.refused(t, "one too many", 429, "over_request_rate_limit")
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 2 || seconds > 300 {
		t.Errorf("Retry-After %v", a.header)
	}
	if a := try("192.0.2.2"); a.header.Get("Retry-After") != "1" {
		t.Errorf("another address: %d %v", a.status, a.header)
	}
}

// Colleagues behind one address sign in, one after the other.
func TestAnOfficeSignsIn(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for range maxSignIns + 1 {
		w.signIn(t, "ann@example.com")
	}
}

// Four hashes are computed at once. Who waits too long is refused, and an address that is not known waits as well: it
// costs as much.
func TestHashesAreBounded(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	if err := w.provider.hashing.Acquire(t.Context(), maxHashes-1); err != nil {
		t.Fatal(err)
	}
	w.signIn(t, "ann@example.com")
	if err := w.provider.hashing.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.provider.wait = time.Millisecond
	for _, email := range []string{"ann@example.com", "nobody@example.com"} {
		a := w.ask(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"`+email+`","password":"x"}`)
		a.refused(t, email, 429, "over_request_rate_limit")
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %v", email, a.header)
		}
	}
	cost := func(hash string) string { return strings.Join(strings.Split(hash, "$")[:4], "$") }
	if got, want := cost(w.provider.dummyHash()), cost(HashPassword("x")); got != want {
		t.Errorf("the dummy hash costs %s, a hash %s", got, want)
	}
}

// An outside issuer says who a user is; whether they may in is decided here.
func TestAnOutsideIssuersUserIsOurs(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	secret := []byte(strings.Repeat("s", 32))
	tokens := NewTokens(w.db, NewSecretVerifier("https://issuer.example", "authenticated", secret))
	w.url = w.serve(t, func(server *httpd.Server) { tokens.Mount(server) })
	of := func(sub, role string) string {
		claims := NewClaims("https://issuer.example", "authenticated", sub, time.Now(), time.Now().Add(time.Hour))
		claims.Role = role
		return signedWith(t, jwt.SigningMethodHS256, secret, "", claims)
	}
	if a := w.with(t, "GET", "/api/health", of(w.ann.ID.String(), "authenticated")); a.status != 200 ||
		a.body["userId"] != w.ann.ID.String() {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := w.with(t, "GET", "/api/health?brand_id=x", of(w.ann.ID.String(), "authenticated")); a.status != 400 {
		t.Errorf("with a parameter: %d %s", a.status, a.text)
	}
	if err := w.db.SetUserActive(t.Context(), w.ann.Email, false); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		of(w.ann.ID.String(), "authenticated"): 401, of(uuid.Must(uuid.NewV4()).String(), "authenticated"): 401,
		of(w.ann.ID.String(), "answerscope_owner"): 403,
	} {
		if a := w.with(t, "GET", "/api/health", text); a.status != want {
			t.Errorf("%d %s, want %d", a.status, a.text, want)
		}
	}
}
