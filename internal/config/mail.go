package config

import (
	"cmp"
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
)

// Mail is how mails leave: by an SMTP relay.
type Mail struct {
	URL  DSN    // smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465; none sends no mail
	From string // an address, with or without a name
}

// A Relay is where mails are handed in.
type Relay struct {
	Host           string
	Port           int
	User, Password string
	TLS            bool // from the first byte
	Plain          bool // without TLS: on this machine, or as asked for
}

// IsSet reports whether there is a relay.
func (c Mail) IsSet() bool { return c.URL.IsSet() }

var errRelay = errors.New("smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465, at most with " +
	"?starttls=off after smtp://HOST:25, which sends no password")

// Relay reads the address of the relay.
func (c Mail) Relay() (r Relay, err error) {
	address, err := url.Parse(c.URL.Reveal())
	if err != nil {
		return r, errRelay
	}
	usual := map[string]string{"smtp": "587", "smtps": "465"}[address.Scheme]
	port, err := strconv.ParseUint(cmp.Or(address.Port(), usual), 10, 16)
	off := address.RawQuery == "starttls=off"
	r = Relay{Host: address.Hostname(), Port: int(port), User: address.User.Username(), TLS: address.Scheme == "smtps"}
	r.Password, _ = address.User.Password()
	r.Plain = !r.TLS && (off || IsLoopback(r.Host))
	right := err == nil && usual != "" && port > 0 && r.Host != "" && address.Path == "" && address.Fragment == "" &&
		(address.RawQuery == "" || off && !r.TLS) && (r.User == "") == (r.Password == "") &&
		(r.User == "" || !r.Plain || IsLoopback(r.Host))
	if !right {
		return r, errRelay
	}
	return r, nil
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (c Mail) validate(m *mistakes, publicURL string) {
	if !c.IsSet() {
		m.want(c.From == "", "SMTP_URL", "", "the relay for the mails from "+Prefix+"MAIL_FROM: "+errRelay.Error())
		return
	}
	_, err := c.Relay()
	m.want(err == nil, "SMTP_URL", c.URL.Masked(), errRelay.Error())
	_, err = mail.ParseAddress(c.From)
	m.want(err == nil, "MAIL_FROM", c.From, "the address that mails come from, such as answerscope@answers.example")
	m.want(IsSecure(publicURL), "PUBLIC_URL", NewDSN(publicURL).Masked(), "https://…, or http://… on this machine: "+
		"links in mails begin with it")
}
