package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A service is /api/v1 over one warehouse on a port of its own.
type service struct {
	url   string
	paths []string // of GET, below /api/v1
	stop  func() error
}

const api = "/api/v1/"

func serve(ctx context.Context, log *slog.Logger, db *postgres.DB, warehouse *clickhouse.Conn) (*service, error) {
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := httpd.New(httpd.DefaultConfig(), listener, log, prometheus.NewRegistry())
	keys := apikey.New(db, log)
	metrics.New(db, warehouse, time.Now).Mount(server.App, keys)

	s := &service{url: server.URL()}
	for _, route := range server.App.GetRoutes(true) {
		if route.Method == http.MethodGet && strings.HasPrefix(route.Path, api) {
			s.paths = append(s.paths, route.Path)
		}
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- keys.Run(running) }()
	go func() { ended <- server.Run(running) }()
	s.stop = func() error { stop(); return errors.Join(<-ended, <-ended) }
	return s, nil
}

// A question is one brand and one window.
type question struct {
	brand brand
	from  time.Time
	days  int
}

// questions are n of them at random, the same on every run.
func questions(n int, brands []brand, days, window int) []question {
	dice := rand.New(rand.NewPCG(4, 2))
	all := make([]question, n)
	for i := range all {
		all[i] = question{brands[dice.IntN(len(brands))], firstDay.AddDate(0, 0, dice.IntN(days-window+1)), window}
	}
	return all
}

// ask asks an endpoint a question, and copies the answer. The id is the request's.
func (s *service) ask(ctx context.Context, client *http.Client, path string, q question, id string, to io.Writer) error {
	window := url.Values{
		"brand_id":  {q.brand.id.String()},
		"date_from": {q.from.Format(time.DateOnly)},
		"date_to":   {q.from.AddDate(0, 0, q.days-1).Format(time.DateOnly)},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"?"+window.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+q.brand.key)
	if id != "" {
		r.Header.Set("X-Request-Id", id)
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(to, response.Body); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s of brand %s: status %d", path, q.brand.id, response.StatusCode)
	}
	return nil
}

// An endpoint is one that asks the warehouse, with what it asks for each of the questions.
type endpoint struct {
	path  string
	asked [][][]call
}

func (e endpoint) name() string { return strings.TrimPrefix(e.path, api) }

// learn asks every path every question over a recorder, and returns those that asked the warehouse, so that the bench needs
// no list of endpoints and of the views that they run.
func learn(ctx context.Context, log *slog.Logger, db *postgres.DB, warehouse *clickhouse.Conn, all []question) (_ []endpoint, err error) {
	r := &recorder{Server: warehouse.Server, calls: map[string][]call{}}
	s, err := serve(ctx, log, db, &clickhouse.Conn{Server: r})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	client := newClient(1)
	defer client.CloseIdleConnections()
	var found []endpoint
	for _, path := range s.paths {
		e := endpoint{path: path}
		for i, q := range all {
			id := fmt.Sprintf("bench-%d", i)
			if err := s.ask(ctx, client, path, q, id, io.Discard); err != nil {
				return nil, err
			}
			steps := r.take(id)
			if len(steps) == 0 {
				break
			}
			e.asked = append(e.asked, steps)
		}
		if len(e.asked) > 0 {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b endpoint) int { return strings.Compare(a.path, b.path) })
	return found, nil
}

// newClient keeps as many connections as it has users.
func newClient(users int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: users}}
}
