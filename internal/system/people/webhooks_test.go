package people

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
	"github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/answerscope/answerscope/internal/system/run"
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
	h := run.Installed(t, "ANSWERSCOPE_SMTP_URL=smtp://"+relay, "ANSWERSCOPE_MAIL_FROM=answers@answers.example",
		"ANSWERSCOPE_EGRESS_ALLOW=127.0.0.1/32,10.20.0.0/16", "ANSWERSCOPE_PUBLIC_URL=https://answers.example",
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

	secret := run.Must(t, h.Env, "webhook", "add", receiver.URL+"/hook", "--org", "acme", "--events", "brand.created")
	var e postgres.WebhookEndpoint
	if err := json.Unmarshal([]byte(run.Must(t, h.Env, "webhook", "list", "--org", "acme", "--json")),
		&e); err != nil || e.URL != receiver.URL+"/hook" || !e.IsActive {
		t.Fatalf("%+v, %v", e, err)
	}
	id := e.ID.String()
	if text := run.Must(t, h.Env, "webhook", "test", id); !strings.HasPrefix(text, "delivered: status 200 after ") {
		t.Error(text)
	}
	next("webhook.test", secret)
	run.Must(t, h.Env, "brand", "add", "Lumen", "--org", "acme")
	next("brand.created", secret)
	rotated := run.Must(t, h.Env, "webhook", "rotate", id, "--overlap-hours", "1")
	run.Must(t, h.Env, "brand", "add", "Glow", "--org", "acme")
	next("brand.created", secret, rotated)
	if _, err := h.DB.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = false"); err != nil {
		t.Fatal(err)
	}
	run.Must(t, h.Env, "brand", "add", "Aurora", "--org", "acme")
	if r := run.ToEnd(t, h.Env, "", "webhook", "redeliver", id, "--since", "2026-01-01"); r.Status != run.ExitUsage ||
		!strings.Contains(r.Stderr, "last 90 days") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	if r := run.ToEnd(t, h.Env, "", "webhook", "redeliver", id, "--since", since); r.Status != run.ExitFailed ||
		!strings.Contains(r.Stderr, "switch it on first") {
		t.Errorf("status %d, %s", r.Status, r.Stderr)
	}
	if _, err := h.DB.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = true"); err != nil {
		t.Fatal(err)
	}
	if text := run.Must(t, h.Env, "webhook", "redeliver", id, "--since", since, "--json"); text != `{"deliveries":1}` {
		t.Error(text)
	}
	next("brand.created", rotated)
	wait.Until(t, func() string {
		list := run.Must(t, h.Env, "webhook", "deliveries", id)
		if strings.Count(list, "delivered") != 4 {
			return list
		}
		return ""
	})
	if text := run.Must(t, h.Env, "secrets", "rotate", "--json"); !strings.HasPrefix(text, `{"encrypted":`) {
		t.Error(text)
	}

	var failing webhook.Added
	if err := json.Unmarshal(
		[]byte(run.Must(t, h.Env, "webhook", "add", receiver.URL+"/fails", "--org", "acme", "--json")),
		&failing); err != nil || failing.Secret == "" {
		t.Fatalf("%+v, %v", failing, err)
	}
	if r := run.ToEnd(t, h.Env, "", "webhook", "test", failing.ID.String()); r.Status != run.ExitFailed ||
		r.Stdout != "not delivered: status 418\n" {
		t.Errorf("status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if _, err := h.DB.Exec(t.Context(), "UPDATE public.webhook_endpoints SET is_active = false, "+
		"disabled_at = now(), disabled_reason = 'failing' WHERE id = $1", failing.ID); err != nil {
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
	run.Must(t, h.Env, "webhook", "remove", failing.ID.String())
	if r := run.ToEnd(t, h.Env, "", "webhook", "add",
		"https://hooks.slack.com/services/T/B/x", "--org", "acme", "--slack"); r.Status != run.ExitDone ||
		r.Stdout != "" {
		t.Errorf("status %d, %s", r.Status, r.Stdout)
	}
	for args, want := range map[string]struct {
		status int
		text   string
	}{
		"add ftp://hooks.example.org --org acme":                            {run.ExitUsage, "url: want an address"},
		"add https://hooks.example.org --org acme --events visibility.lost": {run.ExitUsage, "events: want some of"},
		"add https://hooks.example.org --org acme --brand none":             {run.ExitFailed, `brand "none" not found`},
		"rotate " + id + " --overlap-hours 169":                             {run.ExitUsage, "want 0 to 168"},
		"redeliver " + id:                                                   {run.ExitUsage, "want either"},
		"redeliver " + id + " --since yesterday":                            {run.ExitUsage, "want a day such as"},
		"redeliver " + id + " --delivery x": {run.ExitUsage,
			"webhook deliveries prints"},
		"test " + failing.ID.String(): {run.ExitFailed, "`answerscope webhook list` prints them"},
		"remove x":                    {run.ExitUsage, "want the id that webhook list prints"},
	} {
		if r := run.ToEnd(t, h.Env, "",
			append([]string{"webhook"}, strings.Fields(args)...)...); r.Status != want.status ||
			!strings.Contains(r.Stderr, want.text) {
			t.Errorf("webhook %s: %s", args, fmt.Sprint(r.Status, r.Stderr))
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

func (mailbox) Reset() {}

func (mailbox) Logout() error { return nil }

func (mailbox) Mail(string, *smtp.MailOptions) error { return nil }

func (mailbox) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (m mailbox) Data(body io.Reader) error {
	text, err := io.ReadAll(body)
	m.received <- string(text)
	return err
}
