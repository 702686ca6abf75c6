package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	netmail "net/mail"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/gofrs/uuid/v5"
	"github.com/wneessen/go-mail"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/postgres"
)

const password = "p4ss/w0rd" // of the user answerscope

// A relay is a real SMTP server, which does what the recipient's name asks for.
type relay struct {
	address string // of the listener
	ca      *testkit.CA
	server  *smtp.Server

	lock  sync.Mutex
	mails [][]byte
}

func (r *relay) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{relay: r, conn: conn}, nil
}

type session struct {
	*relay
	conn      *smtp.Conn
	user, to  string
	delivered bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, secret string) error {
		if user != "answerscope" || secret != password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "who are you"}
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.user == "" {
		return smtp.ErrAuthRequired // 502
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to, _, _ = strings.Cut(to, "@")
	switch s.to {
	case "busy":
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted, come back"}
	case "nobody":
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case "silent":
		_, _ = s.conn.Conn().Read(make([]byte, 1)) // until the client gives up
	}
	return nil
}

func (s *session) Data(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if s.to == "spam" {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "looks like spam"}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.mails, s.delivered = append(s.mails, text), true
	return nil
}

// Reset runs after the answer to a mail.
func (s *session) Reset() {
	if s.delivered && s.to == "killed" {
		_ = s.conn.Conn().Close()
	}
}

func (s *session) Logout() error { return nil }

func (r *relay) received() [][]byte {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.mails
}

// newRelay starts a relay. It offers TLS under the name relay.example and the address 127.0.0.1; secure speaks it from
// the first byte.
func newRelay(t *testing.T, ca *testkit.CA, secure bool) *relay {
	t.Helper()
	r := &relay{ca: ca}
	server := smtp.NewServer(r)
	r.server = server
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "relay.example", true, log.New(io.Discard, "", 0)
	if ca != nil {
		files := ca.Issue(t, "relay", "relay.example", "127.0.0.1")
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		server.TLSConfig, server.AllowInsecureAuth = &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		}, false
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	if secure {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return r
}

// sender returns one for the relay that the address names: PORT stands for its port, and relay.example for its host.
func (r *relay) sender(t *testing.T, address string, ring secret.Ring) *Sender {
	t.Helper()
	host, port, _ := net.SplitHostPort(r.address)
	address = strings.NewReplacer("PORT", port, "PASSWORD", strings.ReplaceAll(password, "/", "%2F")).Replace(address)
	sender, err := New(config.Mail{URL: config.NewDSN(address), From: "Acmé alerts <alerts@answers.example>"},
		publicURL, ring)
	if err != nil {
		t.Fatal(err)
	}
	sender.options = append(sender.options, mail.WithTimeout(2*time.Second))
	if strings.Contains(address, "relay.example") {
		sender.options = append(sender.options,
			mail.WithDialContextFunc(func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(host, port))
			}))
	}
	return sender
}

func (r *relay) send(t *testing.T, address string, l postgres.Mail) (Reply, error) {
	t.Helper()
	return r.sender(t, address, secret.Ring{}).Hand(t.Context(), l)
}

// local is a relay on this machine.
const local = "smtp://answerscope:PASSWORD@127.0.0.1:PORT"

// A link leaves in the mail of its recipient alone, and not once it has expired.
func TestALinkIsOpenedForItsRecipient(t *testing.T) {
	ring, err := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, nil, false)
	sender := r.sender(t, local, ring)
	invitation := feed.Link{
		Organization: "Acme", Role: "viewer", By: "ann@acme.example", Token: "3ZQ7KX2M4V6T5J8RWNBYHDLCPA",
	}
	for _, c := range []struct {
		recipient string
		life      time.Duration
		want      postgres.Outcome
	}{
		{"bob@acme.example", time.Hour, postgres.Outcome{Code: 250}},
		{"eve@evil.example", time.Hour, postgres.Outcome{Error: "open its link: "}},
		{"bob@acme.example", -time.Second, postgres.Outcome{Error: "the link has expired", Final: true}},
		{"nobody@acme.example", time.Hour, postgres.Outcome{Code: 550, Error: "send mail ", Final: true}},
		{"busy@acme.example", time.Hour, postgres.Outcome{Code: 451, Error: "send mail "}},
	} {
		invitation.Expires = time.Now().Add(c.life)
		sealedFor := strings.Replace(c.recipient, "eve@evil", "bob@acme", 1)
		sealed := invitation.Seal(ring, sealedFor)
		if strings.Contains(sealed, invitation.Token) {
			t.Fatal(sealed)
		}
		got := sender.Send(t.Context(), postgres.Mail{
			ID: mailID, Recipient: c.recipient, Template: feed.Invite, Sealed: &sealed,
		})
		if got.Code != c.want.Code || got.Final != c.want.Final || !strings.HasPrefix(got.Error, c.want.Error) ||
			(got.Error == "") != (c.want.Error == "") || strings.Contains(got.Error, invitation.Token) {
			t.Errorf("%s: %+v, want %+v", c.recipient, got, c.want)
		}
	}
	stranger := r.sender(t, "smtp://answerscope:wrong@127.0.0.1:PORT", ring).Send(t.Context(),
		postgres.Mail{Recipient: "ann@acme.example", Template: feed.TestMail, Data: []byte("{}")})
	if stranger.Code != 0 || stranger.Final || !strings.Contains(stranger.Error, "who are you") {
		t.Errorf("with a wrong password: %+v", stranger)
	}
	if mails := r.received(); len(mails) != 1 || !strings.Contains(joined(mails[0]), "/invite/"+invitation.Token) {
		t.Errorf("%d mails arrived", len(mails))
	}
	got := sender.Send(t.Context(),
		postgres.Mail{ID: mailID, Recipient: "ann@acme.example", Template: feed.ReportWeekly,
			SubscriptionID: uuid.NullUUID{UUID: subscription, Valid: true}, Data: letters(t)[feed.ReportWeekly].Data})
	if mails := r.received(); got.Error != "" || len(mails) != 2 ||
		!strings.Contains(joined(mails[1]), "List-Unsubscribe: <"+publicURL+"/unsubscribe/"+subscription.String()+">") {
		t.Errorf("%+v, %d mails arrived", got, len(mails))
	}
}

// joined undoes the breaks of long lines.
func joined(raw []byte) string {
	return strings.NewReplacer("=\r\n", "", "\r\n ", " ").Replace(string(raw))
}

func to(recipient string) postgres.Mail {
	return postgres.Mail{ID: mailID, Recipient: recipient, Template: feed.TestMail, Data: []byte("{}")}
}

// trusted returns a CA that this process trusts.
func trusted(t *testing.T) *testkit.CA {
	t.Helper()
	ca := testkit.NewCA(t)
	t.Setenv("SSL_CERT_FILE", ca.File)
	return ca
}

func TestRepliesOfTheRelay(t *testing.T) {
	ca := trusted(t)
	r := newRelay(t, ca, false)
	const address = "smtp://answerscope:PASSWORD@relay.example:PORT"
	for _, c := range []struct {
		recipient string
		code      int
		refused   bool
		text      string
	}{
		{"ann@acme.example", 250, false, ""},
		{"busy@acme.example", 451, false, "greylisted"},
		{"nobody@acme.example", 550, true, "no such user"},
		{"spam@acme.example", 554, true, "looks like spam"},
		{"silent@acme.example", 0, false, "timeout"},
		{"killed@acme.example", 250, false, ""}, // after 250 the mail is the relay's, however the dialogue ends
		{"ann@acme.example, eve@evil.example", 0, true, "read recipient"},
		{"ann@acme.example\r\nRCPT TO:<eve@evil.example>", 0, true, "read recipient"},
	} {
		reply, err := r.send(t, address, to(c.recipient))
		if reply.Code != c.code || errors.Is(err, errRefused) != c.refused || (err == nil) != (c.code == 250) ||
			err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %+v, %v", c.recipient, reply, err)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v shows the password", c.recipient, err)
		}
	}
	if n := len(r.received()); n != 2 {
		t.Errorf("%d mails arrived, want 2", n)
	}
	// A relay that does not know us, or cannot speak TLS, loses no mail.
	for address, text := range map[string]string{
		"smtp://answerscope:wrong@relay.example:PORT": "who are you",
		"smtp://relay.example:PORT":                   "authenticate first",
	} {
		if reply, err := r.send(t, address, to("ann@acme.example")); err == nil || errors.Is(err, errRefused) ||
			reply.Code < 500 || !strings.Contains(strings.ToLower(err.Error()), text) {
			t.Errorf("%s: %+v, %v", address, reply, err)
		}
	}
	plain := newRelay(t, nil, false)
	if reply, err := plain.send(t, address, to("ann@acme.example")); err == nil || errors.Is(err, errRefused) ||
		!strings.Contains(err.Error(), "STARTTLS") || len(plain.received()) > 0 {
		t.Errorf("without STARTTLS: %+v, %v", reply, err)
	}
	for address, other := range map[string]*relay{
		"smtps://answerscope:PASSWORD@127.0.0.1:PORT": newRelay(t, ca, true),
		local: plain,
	} {
		if reply, err := other.send(t, address, to("ann@acme.example")); err != nil || len(other.received()) != 1 {
			t.Errorf("%s: %+v, %v", address, reply, err)
		}
	}
	stranger := newRelay(t, testkit.NewCA(t), false)
	if _, err := stranger.send(t, address, to("ann@acme.example")); err == nil ||
		!strings.Contains(err.Error(), "certificate") || len(stranger.received()) > 0 {
		t.Errorf("with a certificate of a stranger: %v", err)
	}
}

// A domain is sent in punycode; an address whose other part is not ASCII only to a relay that takes it (RFC 6531).
func TestAddressesOfEveryScript(t *testing.T) {
	r := newRelay(t, nil, false)
	reply, err := r.send(t, local, to("ann@müller-bräu.example"))
	if err != nil || !strings.Contains(string(r.received()[0]), "<ann@xn--mller-bru-22a0x.example>") {
		t.Errorf("%+v, %v: %s", reply, err, r.received())
	}
	reply, err = r.send(t, local, to("jürgen@acme.example"))
	if reply.Code != 0 || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "SMTPUTF8") {
		t.Errorf("%+v, %v", reply, err)
	}
	open := newRelay(t, nil, false)
	open.server.EnableSMTPUTF8 = true
	if reply, err := open.send(t, local, to("jürgen@müller-bräu.example")); err != nil || len(open.received()) != 1 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// mailparser, which many receivers run, reads what arrives as it was written.
func TestReceiversReadTheLetters(t *testing.T) {
	if _, err := os.Stat("../../../queryapi/auth/testdata/node_modules/mailparser"); err != nil {
		t.Fatalf("the receiver is not here: run `make clients`: %v", err)
	}
	r := newRelay(t, nil, false)
	var sent []postgres.Mail
	encoded := letters(t)["tracking.skipped"]
	encoded.Data = bytes.ReplaceAll(encoded.Data, []byte(`"Lumen"`), []byte(`"=?utf-8?q?Evil?="`))
	for _, l := range append(slices.Collect(maps.Values(letters(t))), encoded) {
		if reply, err := r.send(t, local, l); err != nil {
			t.Fatal(reply, err)
		}
		sent = append(sent, l)
	}
	command := exec.CommandContext(t.Context(), "node", "../../../queryapi/auth/testdata/mail.mjs")
	raws := r.received()
	input, err := json.Marshal(raws) // base64
	if err != nil {
		t.Fatal(err)
	}
	command.Stdin = bytes.NewReader(input)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read []struct {
		Subject, From, To, ID, Text, HTML string
		Attachments                       int
		Headers                           map[string]string
	}
	if err := json.Unmarshal(out, &read); err != nil || len(read) != len(sent) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, l := range sent {
		got, want := read[i], write(t, l)
		subject := strings.ReplaceAll(got.Subject, "\u2060", "") // has a name not decoded
		if subject != want.Subject || got.Text != want.Text || got.HTML != want.HTML {
			t.Errorf("%s was read as %+v", l.Template, got)
		}
		if got.From != `"Acmé alerts" <alerts@answers.example>` || got.To != l.Recipient ||
			got.ID != "<"+l.ID.String()+"@answers.example>" || got.Attachments > 0 {
			t.Errorf("%s: from %s to %s, id %s", l.Template, got.From, got.To, got.ID)
		}
		stop, oneClick := "", ""
		if l.Template == feed.ReportWeekly {
			stop, oneClick = "<"+publicURL+"/unsubscribe/"+subscription.String()+">", "List-Unsubscribe=One-Click"
		}
		if l.Template == feed.ReportWeekly || l.SubscriptionID.UUID.IsNil() {
			if got.Headers["list-unsubscribe"] != stop || got.Headers["list-unsubscribe-post"] != oneClick {
				t.Errorf("%s: %v", l.Template, got.Headers)
			}
		}
		if got.Headers["auto-submitted"] != "auto-generated" ||
			got.Headers["content-type"] != "multipart/alternative" || got.Headers["date"] == "" {
			t.Errorf("%s: %v", l.Template, got.Headers)
		}
		if message, err := netmail.ReadMessage(bytes.NewReader(raws[i])); err != nil || len(raws[i]) > maxBytes ||
			strings.Contains(message.Header.Get("Bcc"), "eve") {
			t.Errorf("%s has %d bytes: %v", l.Template, len(raws[i]), err)
		}
	}
}
