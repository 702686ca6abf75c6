package cli

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/collector/script"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The page's brand has an organization of its own, so that its real visits are not among the simulated ones.
const (
	demoPageName  = "Demo page"
	demoPageSlug  = "demo-page"
	demoPageEmail = "demo-page@answerscope.example"
)

// demoPageAddress is the page's, so that a bookmark stays right; taken, a free port is.
const demoPageAddress = "127.0.0.1:8088"

//go:embed demo_page.html
var demoPageText string

var demoPageTemplate = template.Must(template.New("demo page").Parse(demoPageText))

// A demoPage is a site with the pixel, on an origin of its own, that shows what the API makes of its visits. Beside it
// is a receiver of webhooks.
type demoPage struct {
	listener net.Listener
	shop     atomic.Pointer[demoShop]     // nil until it is ready
	receiver atomic.Pointer[demoReceiver] // nil until it is ready
}

// A demoShop is the brand whose site the page is.
type demoShop struct {
	tag   template.HTML
	brand string
	api   apiClient
}

// open adds the page to a service, to which it opens the page's address for webhooks.
func (d *demoPage) open(ctx context.Context, s *service.Service) (err error) {
	d.listener, err = httpd.Listen(ctx, demoPageAddress)
	if errors.Is(err, syscall.EADDRINUSE) {
		d.listener, err = httpd.Listen(ctx, "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	s.Add(lifecycle.Part{Name: "demo page", Run: d.run})
	host, _, _ := net.SplitHostPort(d.listener.Addr().String()) // it is one
	s.Settings.EgressAllow = append(s.Settings.EgressAllow, host+"/32")
	s.Settings.PublicURL = cmp.Or(s.Settings.PublicURL, s.URL())
	return nil
}

// url names the host by its name: the brand's domain is localhost.
func (d *demoPage) url() string {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String()) // it is one
	return "http://localhost:" + port + "/"
}

// fill creates the brand and gives the page its content.
func (d *demoPage) fill(ctx context.Context, s *demo) error {
	organization, err := addDemoOrganization(ctx, s.DB, demoPageName, demoPageSlug, demoPageEmail)
	if err != nil {
		return err
	}
	brand, _, err := s.DB.AddBrand(ctx, organization.ID,
		postgres.NewBrand{Name: demoPageName, Slug: demoPageSlug, Domains: []string{"localhost"}})
	if err != nil {
		return err
	}
	key, err := renewDemoKey(ctx, s.DB, organization, demoPageEmail)
	if err != nil {
		return err
	}
	tag, err := script.NewTag(s.URL(), brand.ID.String())
	if err != nil {
		return err
	}
	snippet, err := tag.Snippet("html-pinned")
	if err != nil {
		return err
	}
	pixel := template.HTML(snippet.Text) //nolint:gosec // made of an address and an id that were checked
	d.shop.Store(&demoShop{pixel, brand.ID.String(), apiClient{s.URL(), key}})
	return nil
}

func (d *demoPage) run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /figures", ready(&d.shop, (*demoShop).figures))
	mux.HandleFunc("GET /", ready(&d.shop, (*demoShop).page))
	mux.HandleFunc("POST "+demoHook, ready(&d.receiver, (*demoReceiver).receive))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	unhook := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve returns what matters
	defer unhook()
	if err := server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the demo's page on %s: %w", d.listener.Addr(), err)
	}
	return nil
}

// ready answers 503 until what answers is ready.
func ready[T any](part *atomic.Pointer[T], answer func(*T, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if t := part.Load(); t != nil {
			answer(t, w, r)
		} else {
			http.Error(w, "not ready yet", http.StatusServiceUnavailable)
		}
	}
}

func (shop *demoShop) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = demoPageTemplate.Execute(w, map[string]any{"Tag": shop.tag, "Text": string(shop.tag)}) // the client is gone
}

// figures are the API's of today.
func (shop *demoShop) figures(w http.ResponseWriter, r *http.Request) {
	today := time.Now().UTC().Format(time.DateOnly)
	body, err := shop.api.get(r.Context(),
		"/api/v1/ai-traffic?brand_id="+shop.brand+"&date_from="+today+"&date_to="+today)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client is gone
}
