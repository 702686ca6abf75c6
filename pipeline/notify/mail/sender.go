package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

// errRefused means that the relay refuses this recipient or mail with 5xx: another attempt would change nothing. A 5xx
// before that, to our login or sender, is the operator's to mend, so such a mail is tried again.
var errRefused = errors.New("refused")

// A Sender hands mails to a relay.
type Sender struct {
	relay     config.Relay
	from      *netmail.Address
	publicURL string
	ring      secret.Ring
	options   []mail.Option
}

// New returns the sender of the settings. The ring opens the links of mails.
func New(settings config.Mail, publicURL string, ring secret.Ring) (*Sender, error) {
	relay, err := settings.Relay()
	if err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(settings.From)
	if err != nil {
		return nil, fmt.Errorf("read sender %q: %w", settings.From, err)
	}
	from.Address = withASCIIDomain(from.Address)
	options := []mail.Option{mail.WithPort(relay.Port), mail.WithTLSPolicy(mail.TLSMandatory)}
	login := mail.SMTPAuthAutoDiscover
	switch {
	case relay.TLS:
		options = append(options, mail.WithSSL())
	case relay.Plain:
		options, login = append(options, mail.WithTLSPolicy(mail.NoTLS)), mail.SMTPAuthPlain
	}
	if relay.User != "" {
		options = append(options, mail.WithSMTPAuth(login), mail.WithUsername(relay.User),
			mail.WithPassword(relay.Password))
	}
	return &Sender{relay, from, publicURL, ring, options}, nil
}

// Send makes one attempt to send a mail.
func (s *Sender) Send(ctx context.Context, m postgres.Mail) postgres.Outcome {
	if m.Sealed != nil {
		plain, err := s.ring.Open(*m.Sealed, m.Recipient)
		if err != nil {
			return postgres.Outcome{Error: "open its link: " + err.Error()}
		}
		m.Data = plain
	}
	var link struct {
		Expires time.Time `json:"expires_at"`
	}
	_ = json.Unmarshal(m.Data, &link) // a mail without a link has no end; Hand reads the data again
	if !link.Expires.IsZero() && time.Now().After(link.Expires) {
		return postgres.Outcome{Error: "the link has expired", Final: true}
	}
	reply, err := s.Hand(ctx, m)
	if err == nil {
		return postgres.Outcome{Code: reply.Code}
	}
	refused := errors.Is(err, errRefused)
	if !refused && reply.Code >= 500 {
		reply.Code = 0 // it must not count against the recipient, whose subscription would stop
	}
	return postgres.Outcome{Code: reply.Code, Error: err.Error(), Final: refused}
}

// A Reply is the relay's last one: 250 and its text, or the code of an error; 0 without one.
type Reply struct {
	Code int
	Text string
}

// Hand writes a mail and hands it to the relay, within 45 s.
func (s *Sender) Hand(ctx context.Context, m postgres.Mail) (Reply, error) {
	msg, err := s.message(m)
	if err != nil {
		return Reply{}, err
	}
	client, err := mail.NewClient(s.relay.Host, s.options...)
	if err != nil {
		return Reply{}, fmt.Errorf("prepare relay %s: %w", s.relay.Host, err)
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return Reply{Code: codeOf(err)}, fmt.Errorf("connect to relay %s: %w", s.relay.Host, err)
	}
	defer conn.Close()
	if ok, _ := conn.Extension("SMTPUTF8"); !ok && !isASCII(withASCIIDomain(m.Recipient)) {
		return Reply{}, fmt.Errorf("%w: mail %s: the recipient's address needs SMTPUTF8 (RFC 6531), which relay %s "+
			"lacks", errRefused, m.ID, s.relay.Host)
	}
	err = client.SendWithSMTPClient(conn, msg)
	if msg.IsDelivered() { // whatever comes after
		_ = client.CloseWithSMTPClient(conn)
		return Reply{250, msg.ServerResponse()}, nil
	}
	refusal, ok := errors.AsType[*mail.SendError](err)
	if ok && refusal.ErrorCode() >= 500 && refusal.Reason != mail.ErrSMTPMailFrom {
		err = fmt.Errorf("%w: %w", errRefused, err)
	}
	return Reply{Code: codeOf(err)}, fmt.Errorf("send mail %s: %w", m.ID, err)
}

// message returns a mail with its headers.
func (s *Sender) message(m postgres.Mail) (*mail.Msg, error) {
	written, err := Write(m, s.publicURL)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	if err := msg.To(withASCIIDomain(m.Recipient)); err != nil {
		return nil, fmt.Errorf("%w: read recipient of mail %s: %w", errRefused, m.ID, err)
	}
	// A name that looks like an encoded word would be decoded by the reader. One character that is not ASCII, and not
	// seen, has the whole subject encoded.
	msg.Subject(strings.ReplaceAll(written.Subject, "=?", "=\u2060?"))
	msg.SetMessageIDWithValue(m.ID.String() + s.from.Address[strings.LastIndexByte(s.from.Address, '@'):])
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if stop := stopURL(m, s.publicURL); stop != "" { // RFC 8058
		msg.SetGenHeader(mail.HeaderListUnsubscribe, "<"+stop+">")
		msg.SetGenHeader(mail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(mail.TypeTextPlain, written.Text)
	msg.AddAlternativeString(mail.TypeTextHTML, written.HTML)
	return msg, nil
}

// withASCIIDomain returns an address with its domain in punycode, which every relay takes.
func withASCIIDomain(address string) string {
	at := strings.LastIndexByte(address, '@')
	if domain, err := domains.ToASCII(address[at+1:]); at >= 0 && err == nil {
		return address[:at+1] + domain
	}
	return address
}

// domains maps domains as imports and browsers do.
var domains = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func codeOf(err error) int {
	if failure, ok := errors.AsType[*mail.SendError](err); ok {
		return failure.ErrorCode()
	}
	if failure, ok := errors.AsType[*textproto.Error](err); ok {
		return failure.Code
	}
	return 0
}
