package egress

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/jimsmart/grobotstxt"

	"github.com/answerscope/answerscope/internal/problem"
)

const (
	userAgent    = "answerscope" // in robots.txt too
	maxPage      = 512 << 10     // decoded bytes of a page that are read
	maxRedirects = 3
	pageTimeout  = 5 * time.Second
	dialTimeout  = 2 * time.Second // leaves time to try http
)

// A Page is an HTTP response of a site.
type Page struct {
	URL         *url.URL // after redirects
	ContentType string
	Body        []byte // the first 512 KB
	status      int
}

// Pages fetches home pages as robots.txt permits. It keeps no cookie and uses no proxy, and is safe for concurrent use.
type Pages struct{ client *Client }

// NewPages returns Pages that reach public addresses, at port 443 with TLS and at port 80 without, and the prefixes of
// addresses that an operator allows.
func NewPages(allow []string) (*Pages, error) {
	open, err := prefixes(allow)
	return &Pages{newClient(homePages, open, net.Dialer{Timeout: dialTimeout})}, err
}

// Home fetches the home page of a domain by https, or by http if https gets no response. It follows redirects within
// the domain. The error is a problem of kind Unprocessable with the reason.
func (p *Pages) Home(ctx context.Context, domain string) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	var reasons []string
	host := (&url.URL{Host: domain}).Hostname()
	for _, scheme := range []string{"https", "http"} {
		page, err := p.get(ctx, host, scheme+"://"+domain+"/", true)
		if reason, ok := errors.AsType[*problem.Error](err); ok {
			return page, reason
		}
		if err == nil {
			return page, page.check()
		}
		reasons = append(reasons, scheme+": "+Reason(err))
	}
	return Page{}, unusable("%s cannot be fetched (%s)", domain, strings.Join(reasons, ", "))
}

func unusable(format string, args ...any) error {
	return problem.New(problem.Unprocessable, format, args...)
}

func (p *Page) check() error {
	kind, _, _ := mime.ParseMediaType(p.ContentType)
	switch {
	case p.status != http.StatusOK:
		return unusable("%.300s responds with status %d", p.URL, p.status)
	case kind != "text/html":
		return unusable("%.300s is %.100q, want text/html", p.URL, kind)
	}
	return nil
}

// get fetches an address and follows its redirects within a host and below, to where robots.txt permits it if it obeys.
func (p *Pages) get(ctx context.Context, host, address string, obeys bool) (page Page, err error) {
	client := *p.client.http
	client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		name := strings.ToLower(next.URL.Hostname())
		switch {
		case len(before) > maxRedirects:
			return unusable("%.300s redirects more than %d times", address, maxRedirects)
		case len(next.URL.String()) > maxURL:
			return unusable("%.300s redirects to an address of more than %d bytes", address, maxURL)
		case next.URL.User != nil || name != host && !strings.HasSuffix(name, "."+host):
			return unusable("%.300s redirects to %.300s, which is not on %s", address, next.URL.Redacted(), host)
		case obeys:
			return p.obey(ctx, host, next.URL)
		}
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, unusable("%.300q is no address", address)
	}
	if obeys {
		if err := p.obey(ctx, host, request.URL); err != nil {
			return page, err
		}
	}
	request.Header.Set("User-Agent", userAgent)
	response, err := client.Do(request)
	if err != nil {
		return page, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPage))
	return Page{response.Request.URL, response.Header.Get("Content-Type"), body, response.StatusCode}, err
}

// obey fetches the robots.txt of an address, and refuses the address if that forbids it.
func (p *Pages) obey(ctx context.Context, host string, address *url.URL) error {
	robots := address.Scheme + "://" + address.Host + "/robots.txt"
	page, err := p.get(ctx, host, robots, false)
	switch {
	case err != nil || page.status/100 == 4: // the site has none
		return err
	case page.status != http.StatusOK:
		return unusable("%.300s responds with status %d", robots, page.status)
	case !permits(string(page.Body), address.String()):
		return unusable("%.300s forbids %.300s", robots, address)
	}
	return nil
}

var escape = regexp.MustCompile(`%[[:xdigit:]]{2}`)

// permits reports whether a robots.txt lets us fetch an address. Escapes are compared as in RFC 9309 §2.2.2: in any
// case, and unreserved characters as if they were not escaped. grobotstxt 1.0.3 breaks escapes with small digits.
func permits(robots, address string) bool {
	return grobotstxt.AgentAllowed(spelled(robots), userAgent, spelled(address))
}

func spelled(text string) string {
	return escape.ReplaceAllStringFunc(text, func(code string) string {
		raw, _ := url.PathUnescape(code)
		if unreserved.MatchString(raw) {
			return raw
		}
		return strings.ToUpper(code)
	})
}

var unreserved = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
