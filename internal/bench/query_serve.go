package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A service is /api/v1 over one warehouse on a port of its own.
type service struct {
	url   string
	paths []string // of GET, below /api/v1
}

const api = "/api/v1/"

// serve serves until the bench is over.
func (s *stack) serve(ctx context.Context, db *postgres.DB, warehouse *clickhouse.Conn, c metrics.Config) (*service, error) {
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := httpd.New(httpd.DefaultConfig(), listener, s.log, prometheus.NewRegistry())
	keys := auth.NewKeyResolver(db, s.log)
	metrics.New(c, db, warehouse, time.Now).Mount(server, keys)

	at := &service{url: server.URL()}
	for _, route := range server.App.GetRoutes(true) {
		if route.Method == http.MethodGet && strings.HasPrefix(route.Path, api) && len(route.Params) == 0 {
			at.paths = append(at.paths, route.Path)
		}
	}
	var running errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	running.Go(func() error { return keys.Run(ctx) })
	running.Go(func() error { return server.Run(ctx) })
	s.onClose(func(context.Context) error { stop(); return running.Wait() })
	return at, nil
}

// A question is one brand and one window.
type question struct {
	brand   brand
	from    time.Time
	days    int
	groupBy string // "": without groups
}

// questions are n of them at random, the same on every run.
func questions(n int, brands []brand, days, window int) []question {
	dice := rand.New(rand.NewPCG(4, 2))
	all := make([]question, n)
	for i := range all {
		all[i] = question{brands[dice.IntN(len(brands))], firstDay.AddDate(0, 0, dice.IntN(days-window+1)), window, ""}
	}
	return all
}

// variants are endpoints with parameters by which they answer more.
var variants = []string{
	"ai-crawlers?granularity=day", "ai-traffic?granularity=day", "answers?sort=prompt", "citations?granularity=week",
}

// ask asks an endpoint a question, and copies the answer. The list of brands is about all of the brand's organization,
// suggestions are about the window of their computation.
func (s *service) ask(ctx context.Context, client *http.Client, path string, q question, to io.Writer) error {
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if path != api+"brands-overview" {
		values.Set("brand_id", q.brand.id.String())
	}
	if path != api+"suggestions" {
		values.Set("date_from", q.from.Format(time.DateOnly))
		values.Set("date_to", q.from.AddDate(0, 0, q.days-1).Format(time.DateOnly))
	}
	if q.groupBy != "" {
		values.Set("group_by", q.groupBy)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+q.brand.key)
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(to, response.Body); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusBadRequest:
		return errNoQuestion
	}
	return fmt.Errorf("%s of brand %s: status %d", path, q.brand.id, response.StatusCode)
}

// errNoQuestion says that an endpoint is about no brand.
var errNoQuestion = errors.New("the endpoint takes no brand")

// An endpoint is one that asks the warehouse, with what it asks for each of the questions.
type endpoint struct {
	path  string
	asked [][]call
	bare  [][]call // sums of the same rows
}

func (e endpoint) name() string { return strings.TrimPrefix(e.path, api) }

// learn asks every path every question over a recorder, and returns those that asked the warehouse, so that the bench
// needs no list of endpoints and of the views that they run.
func (s *stack) learn(ctx context.Context, db *postgres.DB, warehouse *clickhouse.Conn, st *stage) ([]endpoint, error) {
	r := &recorder{Server: warehouse.Server}
	at, err := s.serve(ctx, db, &clickhouse.Conn{Server: r}, metrics.Config{})
	if err != nil {
		return nil, err
	}
	client := newClient(1)
	defer client.CloseIdleConnections()
	var found []endpoint
	paths := at.paths
	for _, variant := range variants {
		paths = append(paths, api+variant)
	}
	for _, path := range slices.Sorted(slices.Values(paths)) {
		e := endpoint{path: path}
		for _, q := range st.questions {
			err := at.ask(ctx, client, path, q, io.Discard)
			if errors.Is(err, errNoQuestion) {
				break
			}
			if err != nil {
				return nil, err
			}
			calls := r.take()
			if len(calls) == 0 {
				continue
			}
			bare, err := bareCalls(calls, q, st.brandsOf(path, q))
			if err != nil {
				return nil, err
			}
			e.asked, e.bare = append(e.asked, calls), append(e.bare, bare)
		}
		if len(e.asked) > 0 {
			found = append(found, e)
		}
	}
	return found, nil
}

// brandsOf returns the brands that an endpoint reads for a question.
func (st *stage) brandsOf(path string, q question) (ids []string) {
	for _, b := range st.brands {
		if b == q.brand || path == api+"brands-overview" && b.organization == q.brand.organization {
			ids = append(ids, b.id.String())
		}
	}
	return ids
}

// newClient keeps as many connections as it has users.
func newClient(users int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: users}}
}

// A recorder is a connection to the warehouse that keeps the queries of a request, so that the driver can be asked the
// same without the service.
type recorder struct {
	clickhouse.Server
	mu    sync.Mutex
	calls []call
}

// A call is one query of a request.
type call struct {
	ctx    context.Context // keeps the settings
	text   string
	params []any
}

func (r *recorder) Query(ctx context.Context, text string, params ...any) (driver.Rows, error) {
	r.mu.Lock()
	r.calls = append(r.calls, call{context.WithoutCancel(ctx), text, params})
	r.mu.Unlock()
	return r.Server.Query(ctx, text, params...)
}

// take returns the calls of the last request.
func (r *recorder) take() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// replay asks conn what a request asked, all at once, as every endpoint does.
func replay(conn clickhouse.Server, calls []call) error {
	var all errgroup.Group
	for _, c := range calls {
		all.Go(func() error {
			if err := readAll(conn, c); err != nil {
				return fmt.Errorf("ask by the driver: %w", err)
			}
			return nil
		})
	}
	return all.Wait()
}

// readAll reads every row of the answer to a call.
func readAll(conn clickhouse.Server, c call) (err error) {
	rows, err := conn.Query(c.ctx, c.text, c.params...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row []any
	for _, column := range rows.ColumnTypes() {
		row = append(row, reflect.New(column.ScanType()).Interface())
	}
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return err
		}
	}
	return rows.Err()
}
