package queryapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/config"
)

// A forger is an OpenID provider that says whatever a test wants.
type forger struct {
	url    string
	key    *ecdsa.PrivateKey
	claims jwt.MapClaims // of the next ID token, over the right ones
	info   jwt.MapClaims // of its UserInfo; nil: it has none
	sign   func(jwt.MapClaims) string
	away   bool
	mu     sync.Mutex
	codes  map[string]string // nonce by code
}

func newForger(t *testing.T) *forger {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{key: key, codes: map[string]string{}}
	f.sign = f.signES256
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		if f.away {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		document := map[string]any{"issuer": f.url, "authorization_endpoint": f.url + "/auth",
			"token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"}}
		if f.info != nil {
			document["userinfo_endpoint"] = f.url + "/userinfo"
		}
		_ = json.NewEncoder(w).Encode(document)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(f.info)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		point, _ := f.key.PublicKey.Bytes()
		x, y := base64.RawURLEncoding.EncodeToString(point[1:33]), base64.RawURLEncoding.EncodeToString(point[33:])
		fmt.Fprintf(w, `{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"k","x":%q,"y":%q}]}`, x, y)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		nonce, ok := f.codes[r.FormValue("code")]
		delete(f.codes, r.FormValue("code"))
		w.Header().Set("Content-Type", "application/json")
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		claims := jwt.MapClaims{
			"iss": f.url, "aud": "answerscope", "sub": "sub-1", "exp": time.Now().Add(time.Minute).Unix(),
			"iat": time.Now().Unix(), "nonce": nonce,
		}
		maps.Copy(claims, f.claims)
		fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","expires_in":60,"id_token":%q}`, f.sign(claims))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *forger) signES256(claims jwt.MapClaims) string {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = "k"
	text, err := token.SignedString(f.key)
	if err != nil {
		panic(err)
	}
	return text
}

// of changes the settings so that users sign in there.
func (f *forger) of(s *config.Settings) {
	s.OIDC = config.OIDC{
		Issuer: f.url, ClientID: "answerscope", ClientSecret: config.NewSecret("secret of answerscope"),
		Label: "<Corp>", Domains: "corp.example, Firm.example", Organization: "acme",
	}
}

// begin begins a sign-in and returns the parameters of the callback.
func (c *client) begin(t *testing.T, f *forger, to string) url.Values {
	t.Helper()
	a := c.get(t, "/signin/oidc?to="+url.QueryEscape(to))
	a.is(t, "begin", http.StatusFound)
	address, err := url.Parse(a.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	q := address.Query()
	if q.Get("code_challenge_method") != "S256" ||
		q.Get("response_type") != "code" || q.Get("scope") != "openid email profile" ||
		q.Get("redirect_uri") != c.w.url+"/signin/oidc/callback" {
		t.Errorf("asked with %s", address)
	}
	cookie := strings.ToLower(a.header.Get("Set-Cookie"))
	for _, want := range []string{"httponly", "samesite=lax", "max-age=600"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s: %s", want, cookie)
		}
	}
	code := "code-" + q.Get("state")
	f.mu.Lock()
	f.codes[code] = q.Get("nonce")
	f.mu.Unlock()
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// enter signs in as somebody and returns the last answer.
func (c *client) enter(t *testing.T, f *forger, claims jwt.MapClaims, to string) answer {
	t.Helper()
	f.claims = claims
	return c.get(t, "/signin/oidc/callback?"+c.begin(t, f, to).Encode())
}

func person(sub, email string) jwt.MapClaims {
	return jwt.MapClaims{"sub": sub, "email": email, "email_verified": true}
}
