// Package egress sends requests to addresses that users choose, webhooks and home pages: to public addresses, webhooks
// over TLS alone, and to prefixes that the operator opens. It checks the address that is dialled, not the name, so that
// a name cannot change its address in between.
package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"code.dny.dev/ssrf"

	"github.com/answerscope/answerscope/internal/problem"
)

const (
	maxURL  = 2048    // bytes
	maxBody = 4 << 10 // bytes of a response that are read
)

// A use is what a Client is for. It has the ports of public addresses that may be dialled.
type use struct {
	secure, plain  []uint16 // with TLS and without
	wrongPort      refusal
	isUncompressed bool
}

var (
	webhooks  = use{[]uint16{443, 8443}, nil, "port not 443 or 8443", true}
	homePages = use{[]uint16{443}, []uint16{80}, "port not 443 or 80", false}
)

// A refusal is why an address is not dialled.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	notPublic = refusal("no public address")
	notOpen   = refusal("http to an address outside ANSWERSCOPE_EGRESS_ALLOW")
)

// A Client sends requests. It follows no redirect, keeps no cookie and uses no proxy. It is safe for concurrent use.
type Client struct {
	use
	open   []netip.Prefix
	public *ssrf.Guardian
	http   *http.Client
}

// New returns a Client that also reaches the prefixes of addresses that an operator allows, there at any port and
// without TLS too.
func New(allow []string) (*Client, error) {
	open, err := prefixes(allow)
	return newClient(webhooks, open, net.Dialer{}), err
}

func prefixes(allow []string) (open []netip.Prefix, err error) {
	for _, text := range allow {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix != prefix.Masked() {
			return nil, fmt.Errorf("%.64q: want a prefix of addresses, such as 10.20.0.0/16 or fd12:3456::/32", text)
		}
		open = append(open, prefix)
	}
	return open, nil
}

func newClient(u use, open []netip.Prefix, dialer net.Dialer) *Client {
	c := &Client{use: u, open: open, public: ssrf.New()}
	plain, secure := dialer, dialer
	plain.ControlContext, secure.ControlContext = c.control(false), c.control(true)
	overTLS := tls.Dialer{NetDialer: &secure, Config: &tls.Config{MinVersion: tls.VersionTLS12}}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext: plain.DialContext, DialTLSContext: overTLS.DialContext,
			DisableCompression: u.isUncompressed, MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// control refuses to dial an address that is not open, except the use's ports of public ones.
func (c *Client) control(forTLS bool) func(_ context.Context, _, address string, _ syscall.RawConn) error {
	ports := c.plain
	if forTLS {
		ports = c.secure
	}
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		switch {
		case err != nil:
			return err
		case c.isOpen(target.Addr()):
			return nil
		case c.public.SafeAddr(target.Addr()) != nil:
			return notPublic
		case len(ports) == 0:
			return notOpen
		case !slices.Contains(ports, target.Port()):
			return c.wrongPort
		}
		return nil
	}
}

func (c *Client) isOpen(address netip.Addr) bool {
	return slices.ContainsFunc(c.open, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) })
}

// CheckURL returns a URL with its scheme in lower case, or a problem of kind Invalid, with the form of a right one, if
// no request may be sent to it. It does not resolve names: an attempt shows whether their addresses are public.
func (c *Client) CheckURL(text string) (string, error) {
	address, err := url.Parse(text)
	if want := c.wanted(text, address, err); want != "" {
		return "", problem.New(problem.Invalid, "url: want %s", want)
	}
	return address.String(), nil
}

func (c *Client) wanted(text string, address *url.URL, err error) string {
	isForeign := func(r rune) bool { return r >= utf8.RuneSelf }
	switch {
	case len(text) > maxURL:
		return fmt.Sprintf("at most %d bytes", maxURL)
	case err != nil || address.Hostname() == "" || address.Scheme != "https" && address.Scheme != "http":
		return "an address such as https://example.org/hooks"
	case strings.ContainsFunc(text, isForeign) || strings.ContainsFunc(address.Hostname(), isForeign):
		return "ASCII alone: the name in punycode, such as xn--bcher-kva.example, the rest as %C3%BC"
	case address.User != nil:
		return "no user and no password in it: requests are signed"
	case strings.Contains(text, "#"):
		return "no fragment (#…): it is not sent"
	}
	literal, err := netip.ParseAddr(address.Hostname())
	isLiteral := err == nil
	switch {
	case isLiteral && c.isOpen(literal), !isLiteral && len(c.open) > 0:
		return ""
	case address.Scheme != "https":
		return "https, so that what is sent is encrypted; the operator opens http by ANSWERSCOPE_EGRESS_ALLOW"
	case address.Port() != "" && address.Port() != "443" && address.Port() != "8443":
		return "port 443 or 8443; the operator opens others by ANSWERSCOPE_EGRESS_ALLOW"
	case isLiteral && c.public.SafeAddr(literal) != nil:
		return "a public address; the operator opens others by ANSWERSCOPE_EGRESS_ALLOW"
	}
	return ""
}

// A Response holds the beginning of an HTTP response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // the first 4 KB
	IsOpen bool   // the address is in a prefix that the operator opened
}

// Do sends a request. With an error the response has what came before it.
func (c *Client) Do(request *http.Request) (Response, error) {
	isOpen := false
	trace := httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		target, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String())
		isOpen = err != nil || c.isOpen(target.Addr())
	}}
	answer, err := c.http.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), &trace)))
	if err != nil {
		return Response{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	return Response{answer.StatusCode, answer.Header, body, isOpen}, err
}

// Reason returns in few words why a request failed, without addresses and names, which may be of this network.
func Reason(err error) string {
	if why, ok := errors.AsType[refusal](err); ok {
		return string(why)
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case is[*tls.CertificateVerificationError](err):
		return "certificate"
	case is[*net.DNSError](err):
		return string(notPublic) // it does not disclose which names of this network exist
	case errors.Is(err, http.ErrSchemeMismatch), is[tls.RecordHeaderError](err), is[tls.AlertError](err):
		return "no TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	return "connection failed"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
