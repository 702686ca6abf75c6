package catalog

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// geminiPage is the page of a chunk; its address is "" where the chunk is no page.
type geminiPage struct {
	address, title, domain string
	consulted              bool // even where a support rests on it
}

// pages returns the pages of the chunks in their order.
func (r *geminiReader) pages(chunks []wire.Object) []geminiPage {
	pages := make([]geminiPage, len(chunks))
	var redirects []string
	for i, chunk := range chunks {
		address := chunk.Text("web.uri")
		pages[i] = geminiPage{address, chunk.Text("web.title"), chunk.Text("web.domain"), isGoogleSearch(address)}
		if r.isRedirect(address) {
			redirects = append(redirects, address)
		}
	}
	if len(redirects) == 0 {
		return pages
	}
	targets := r.resolve(redirects)
	for i, page := range pages {
		if r.isRedirect(page.address) {
			pages[i] = page.movedTo(targets[page.address])
		}
	}
	return pages
}

var hostForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// movedTo returns the page at the target of its redirect. Where that is not known, it is the host that its title or
// domain names; else it keeps its address, but not as a citation, since the owner of the page is unknown.
func (p geminiPage) movedTo(target string) geminiPage {
	switch {
	case target != "":
		p.address = target
	case hostForm.MatchString(p.title):
		p.address = "https://" + p.title + "/"
	case hostForm.MatchString(p.domain):
		p.address = "https://" + p.domain + "/"
	default:
		p.consulted = true
	}
	return p
}

// isGoogleSearch reports whether an address is a search at Google, which stands for its own panels of weather or time.
func isGoogleSearch(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == "www.google.com" && u.Path == "/search"
}

// isRedirect reports whether an address leads to a source, which it does for some days: at Google, or at the host of
// the base URL.
func (r *geminiReader) isRedirect(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(u.Path, "/grounding-api-redirect/") &&
		(u.Host == "vertexaisearch.cloud.google.com" || u.Hostname() == r.account.Host())
}

const (
	resolveTimeout = 5 * time.Second
	resolveAtOnce  = 16
)

// resolveRedirects returns the targets of addresses, by one request each that does not follow. An address that cannot
// be resolved is left out.
func resolveRedirects(ctx context.Context, addresses []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	client := &http.Client{CheckRedirect: wire.DoNotFollow}
	targets := map[string]string{}
	var lock sync.Mutex
	var requests errgroup.Group
	requests.SetLimit(resolveAtOnce)
	for _, address := range addresses {
		requests.Go(func() error {
			if target := redirectTarget(ctx, client, address); target != "" {
				lock.Lock()
				defer lock.Unlock()
				targets[address] = target
			}
			return nil
		})
	}
	_ = requests.Wait() // none fails
	return targets
}

// redirectTarget returns the page that an address redirects to; "" if it does not, or not to a page.
func redirectTarget(ctx context.Context, client *http.Client, address string) string {
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
