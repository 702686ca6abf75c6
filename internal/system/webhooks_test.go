package system

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/webhook"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An endpoint of the command line is posted what happens, and what it missed; its secrets verify it.
func TestWebhooksOfTheCommandLine(t *testing.T) {
	t.Parallel()
	type post struct {
		header http.Header
		body   []byte
	}
	posts := make(chan post, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		posts <- post{r.Header, body}
	}))
	defer receiver.Close()
	mails := mailbox{make(chan string, 10)}
	relay := mails.serve(t)
	h := installed(t, "ANSWERSCOPE_SMTP_URL=smtp://"+relay, "ANSWERSCOPE_MAIL_FROM=answers@answers.example", "ANSWERSCOPE_EGRESS_ALLOW=127.0.0.1/32,10.20.0.0/16", "ANSWERSCOPE_PUBLIC_URL=https://answers.example",
		"ANSWERSCOPE_SECRET_KEYS=k1:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")
	next := func(event string, secrets ...string) {
		t.Helper()
		select {
		case p := <-posts:
			if !strings.Contains(string(p.body), `"type":"`+event+`"`) {
				t.Errorf("posted %s, want %s", p.body, event)
			}
			for _, secret := range secrets {
				verifier, err := standardwebhooks.NewWebhook(secret)
				if err == nil {
					err = verifier.Verify(p.body, p.header)
				}
				if err != nil {
					t.Errorf("%s: %v", event, err)
				}
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %s within a minute", event)
		}
	}

	secret := must(t, h.env, "webhook", "add", receiver.URL+"/hook", "--org", "acme", "--events", "brand.created")
	var e postgres.WebhookEndpoint
	if err := json.Unmarshal([]byte(must(t, h.env, "webhook", "list", "--org", "acme", "--json")), &e); err != nil || e.URL != receiver.URL+"/hook" || !e.IsActive {
		t.Fatalf("%+v, %v", e, err)
	}
	id := e.ID.String()
	if text := must(t, h.env, "webhook", "test", id); !strings.HasPrefix(text, "delivered: status 200 after ") {
		t.Error(text)
	}
	next("webhook.test", secret)
	must(t, h.env, "brand", "add", "Lumen", "--org", "acme")
	next("brand.created", secret)
	rotated := must(t, h.env, "webhook", "rotate", id, "--overlap-hours", "1")
	must(t, h.env, "brand", "add", "Glow", "--org", "acme")
	next("brand.created", secret, rotated)
	if _, err := h.db.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = false"); err != nil {
		t.Fatal(err)
	}
	must(t, h.env, "brand", "add", "Aurora", "--org", "acme")
	if r := run(t, h.env, "", "webhook", "redeliver", id, "--since", "2026-01-01"); r.status != exitUsage || !strings.Contains(r.stderr, "last 90 days") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	if r := run(t, h.env, "", "webhook", "redeliver", id, "--since", since); r.status != exitFailed || !strings.Contains(r.stderr, "switch it on first") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	if _, err := h.db.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = true"); err != nil {
		t.Fatal(err)
	}
	if text := must(t, h.env, "webhook", "redeliver", id, "--since", since, "--json"); text != `{"deliveries":1}` {
		t.Error(text)
	}
	next("brand.created", rotated)
	wait.Until(t, func() string {
		list := must(t, h.env, "webhook", "deliveries", id)
		if strings.Count(list, "delivered") != 4 {
			return list
		}
		return ""
	})
	if text := must(t, h.env, "secrets", "rotate", "--json"); !strings.HasPrefix(text, `{"encrypted":`) {
		t.Error(text)
	}

	var failing webhook.Added
	if err := json.Unmarshal([]byte(must(t, h.env, "webhook", "add", receiver.URL+"/fails", "--org", "acme", "--json")), &failing); err != nil || failing.Secret == "" {
		t.Fatalf("%+v, %v", failing, err)
	}
	if r := run(t, h.env, "", "webhook", "test", failing.ID.String()); r.status != exitFailed || r.stdout != "not delivered: status 418\n" {
		t.Errorf("status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if _, err := h.db.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = false, disabled_at = now(), disabled_reason = 'failing' WHERE id = $1", failing.ID); err != nil {
		t.Fatal(err)
	}
	select { // the pipeline mails its owner
	case mail := <-mails.received:
		if !strings.Contains(mail, "To: <ana@acme.example>") {
			t.Error(mail)
		}
	case <-time.After(time.Minute):
		t.Error("no mail within a minute")
	}
	must(t, h.env, "webhook", "remove", failing.ID.String())
	if r := run(t, h.env, "", "webhook", "add", "https://hooks.slack.com/services/T/B/x", "--org", "acme", "--slack"); r.status != exitDone || r.stdout != "" {
		t.Errorf("status %d, %s", r.status, r.stdout)
	}
	for args, want := range map[string]struct {
		status int
		text   string
	}{
		"add ftp://hooks.example.org --org acme":                            {exitUsage, "url: want an address"},
		"add https://hooks.example.org --org acme --events visibility.lost": {exitUsage, "events: want some of"},
		"add https://hooks.example.org --org acme --brand none":             {exitFailed, `brand "none" not found`},
		"rotate " + id + " --overlap-hours 169":                             {exitUsage, "want 0 to 168"},
		"redeliver " + id:                                                   {exitUsage, "want either"},
		"redeliver " + id + " --since yesterday":                            {exitUsage, "want a day such as"},
		"redeliver " + id + " --delivery x":                                 {exitUsage, "webhook deliveries prints"},
		"test " + failing.ID.String():                                       {exitFailed, "`answerscope webhook list` prints them"},
		"remove x":                                                          {exitUsage, "want the id that webhook list prints"},
	} {
		if r := run(t, h.env, "", append([]string{"webhook"}, strings.Fields(args)...)...); r.status != want.status || !strings.Contains(r.stderr, want.text) {
			t.Errorf("webhook %s: %s", args, fmt.Sprint(r.status, r.stderr))
		}
	}
}

// A mailbox is a mail server that accepts everything.
type mailbox struct{ received chan string }

// serve returns the address at which it accepts mails until the test ends.
func (m mailbox) serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(m)
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String()
}

func (m mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return m, nil }
func (mailbox) Reset()                                        {}
func (mailbox) Logout() error                                 { return nil }
func (mailbox) Mail(string, *smtp.MailOptions) error          { return nil }
func (mailbox) Rcpt(string, *smtp.RcptOptions) error          { return nil }

func (m mailbox) Data(body io.Reader) error {
	text, err := io.ReadAll(body)
	m.received <- string(text)
	return err
}
