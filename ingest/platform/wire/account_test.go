package wire

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
)

const secretKey = "user:pass/word+0123456789"

// Each way to send a key reaches the server as it is meant, beside the parameters of the request.
func TestKeyIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		authorize Authorization
		want      string
	}{
		"bearer": {Bearer, "Bearer user:pass/word+0123456789"},
		"basic":  {Basic, "Basic dXNlcjpwYXNzL3dvcmQrMDEyMzQ1Njc4OQ=="},
		"query":  {InQuery("api_key"), "key user:pass/word+0123456789"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if key := r.URL.Query().Get("api_key"); key != c.want[4:] && r.Header.Get("Authorization") != c.want ||
				name == "basic" && user+":"+password != secretKey || r.URL.Query().Get("q") != "a b" ||
				r.Method != http.MethodGet {
				t.Errorf("%s: %s %s, %s", name, r.Method, r.URL, r.Header)
			}
			_, _ = w.Write([]byte("{}"))
		}))
		t.Cleanup(server.Close)
		account, err := NewAccount(secretKey, server.URL+"/", "", c.authorize)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := account.Get(t.Context(), "/search?q=a+b"); err != nil || string(answer) != "{}" {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
	}
}

// A server may repeat a key in each form in which it was sent, and the client's own errors have the whole address.
func TestErrorsShowNoKey(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, password, _ := r.BasicAuth()
		_, _ = w.Write([]byte(r.URL.String() + " " + r.URL.Query().Get("api_key") + " " +
			r.Header.Get("Authorization") + " " + password))
	}))
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	t.Cleanup(server.Close)
	for _, authorize := range []Authorization{Bearer, Basic, InQuery("api_key")} {
		for address, class := range map[string]platform.Class{
			server.URL: platform.Auth, away.URL: platform.Unavailable,
		} {
			account, err := NewAccount(secretKey, address, "", authorize)
			if err != nil {
				t.Fatal(err)
			}
			_, err = account.Get(t.Context(), "/search")
			e, ok := errors.AsType[*platform.Error](err)
			if !ok || e.Class != class || strings.Contains(err.Error(), "0123456789") ||
				strings.Contains(err.Error(), "dXNlc") {
				t.Errorf("%v", err)
			}
		}
	}
}

// A quoted answer is cut after the key is taken out of it, so that no part of a key is left at its end.
func TestQuotedAnswersShowNoSecret(t *testing.T) {
	account := Account{Key: secretKey}
	token := strings.Repeat("4f", 32)
	for before := 480; before < 510; before++ {
		quote := strings.Repeat("x", before) + secretKey + token + strings.Repeat("y", 1<<20)
		for _, e := range []*platform.Error{
			account.Unavailable("it says %s", quote), account.Failed([]byte(`{"error":"` + quote + `"}`)),
		} {
			if text := e.Error(); e.Class != platform.Unavailable || strings.Contains(text, "user") ||
				strings.Contains(text, "4f4f") || len(text) > maxText+50 {
				t.Errorf("after %d bytes: %s", before, text)
			}
		}
	}
	if text := (Account{}).Unavailable("%s\n of %q", token, "a").Error(); text != `unavailable: **** of "a"` {
		t.Error(text)
	}
}

// A GET that is accepted has no answer yet, a POST has.
func TestAcceptedIsNoAnswerYet(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"status":"pending"}`))
	}))
	t.Cleanup(server.Close)
	account, err := NewAccount(secretKey, server.URL, "", Bearer)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := account.Get(t.Context(), "/job"); err != nil || len(answer) != 0 {
		t.Errorf("GET: %s, %v", answer, err)
	}
	if answer, err := account.Post(t.Context(), "/job", nil); err != nil || len(answer) == 0 {
		t.Errorf("POST: %s, %v", answer, err)
	}
}
