package gemini

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// redirectHost is the host of addresses that lead to a source for some days.
const redirectHost = "vertexaisearch.cloud.google.com"

const (
	resolveTimeout = 5 * time.Second
	resolveAtOnce  = 16
)

// isRedirect reports whether an address leads to a source: at Google, or at the host of the base URL.
func (r *reader) isRedirect(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(u.Path, "/grounding-api-redirect/") &&
		(u.Host == redirectHost || u.Hostname() == r.account.Host())
}

// resolve returns the targets of addresses, by one request each that does not follow. An address that cannot be
// resolved is left out.
func resolve(ctx context.Context, addresses []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	targets := map[string]string{}
	var lock sync.Mutex
	var all errgroup.Group
	all.SetLimit(resolveAtOnce)
	for _, address := range addresses {
		all.Go(func() error {
			if target := location(ctx, client, address); target != "" {
				lock.Lock()
				defer lock.Unlock()
				targets[address] = target
			}
			return nil
		})
	}
	_ = all.Wait() // none fails
	return targets
}

// location is where an address redirects to; "" if it does not, or not to a page.
func location(ctx context.Context, client *http.Client, address string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return ""
	}
	response, err := client.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	target, err := response.Location()
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return ""
	}
	return response.Header.Get("Location")
}
