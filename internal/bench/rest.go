package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
)

// tabling is how long the rest bench asks.
var tabling = struct {
	brands int
	first  int           // requests of each way that are not counted
	rounds int           // of each way of asking
	time   time.Duration // of one way in a round
}{brands: 200, first: 500, rounds: 15, time: 500 * time.Millisecond}

// tableClients ask at once. They keep every core busy.
const tableClients = 8

// A tableRequest is one that clients of /rest/v1 send. Each time onceMore becomes another word in it, since slugs must
// differ, and the id of the first brand that of the next one, so that clients do not wait for each other's row.
type tableRequest struct{ name, method, path, body string }

const onceMore = "bench-0"

// restTables measures our own /rest/v1 over HTTP with a user's token: the nested select of an organization's brands,
// the insert of one, and a patch; each beside the statements that it sends (the transaction, the caller's role and
// claims, the same SQL with the same parameters), sent by the driver from as many clients in the same minutes, in
// alternation. And what finding the user of an API key and of a token costs.
func restTables(ctx context.Context, _ Options, s *stack, r *Result) error {
	at, err := s.serveTables(ctx, tabling.brands)
	if err != nil {
		return err
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %10s %10s %8s", "requests a second", "/rest/v1", "pgx", "ratio"))
	for _, request := range []tableRequest{
		{"nested-select", "GET", "/rest/v1/brands?select=*,brand_domains(*),competitors(*)", ""},
		{"insert", "POST", "/rest/v1/brands", `{"organization_id":"` + at.elsewhere.String() + `","name":"Lumen","slug":"` + onceMore + `","industry":"lighting","region":"us","language":"en"}`},
		{"patch", "PATCH", "/rest/v1/brands?id=eq." + at.own[0].id.String(), `{"industry":"` + onceMore + `"}`},
	} {
		if err := at.measure(ctx, r, request); err != nil {
			return fmt.Errorf("%s: %w", request.name, err)
		}
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %10s", "ms, one client", "p50"))
	for name, find := range map[string]func(context.Context) error{"key-lookup": at.findKey, "token-verification": at.findToken} {
		took, err := alternate(ctx, 1, tabling.first, tabling.rounds, tabling.time, func(ctx context.Context, _ int) error { return find(ctx) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Figures[name+"_p50_ms"] = percentile(took[0], 50)
		r.Lines = append(r.Lines, fmt.Sprintf("%-24s %10.3f", name, r.Figures[name+"_p50_ms"]))
	}
	return nil
}

// measure adds the rates of one request to r.
func (t *tables) measure(ctx context.Context, r *Result, request tableRequest) error {
	var times atomic.Int64
	next := func() func([]byte) []byte {
		n := times.Add(1)
		return func(text []byte) []byte {
			text = bytes.ReplaceAll(text, []byte(onceMore), strconv.AppendInt([]byte("bench-"), n, 10))
			return bytes.ReplaceAll(text, []byte(t.own[0].id.String()), []byte(t.own[n%int64(len(t.own))].id.String()))
		}
	}
	sent, err := t.learn(request)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, t.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	took, err := alternate(ctx, tableClients, tabling.first, tabling.rounds, tabling.time,
		func(context.Context, int) error {
			change := next()
			return t.ask(request.method, string(change([]byte(request.path))), change([]byte(request.body)))
		},
		func(ctx context.Context, _ int) error { return sent.replay(ctx, pool, next()) })
	if err != nil {
		return err
	}
	rate := func(took []time.Duration) float64 {
		var all time.Duration
		for _, one := range took {
			all += one
		}
		return tableClients * float64(len(took)) / all.Seconds()
	}
	ours, driver := rate(took[0]), rate(took[1])
	r.Figures[request.name], r.Ceilings[request.name+"_pgx"], r.Ratios[request.name+"_pgx"] = ours, driver, ours/driver
	if least, known := r.Ratios["pgx"]; !known || ours/driver < least {
		r.Ratios["pgx"] = ours / driver
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %10.0f %10.0f %8.2f", request.name, ours, driver, ours/driver))
	return nil
}

// ask sends a request with the token of a user, who for an insert is of another organization than for the rest.
func (t *tables) ask(method, path string, body []byte) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(t.url + path)
	request.Header.SetMethod(method)
	request.Header.Set("Apikey", t.anonKey)
	token := t.token
	if method == fasthttp.MethodPost {
		token = t.tokenElsewhere
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if len(body) > 0 {
		request.Header.SetContentType("application/json")
		request.SetBodyRaw(body)
	}
	if err := t.client.Do(request, response); err != nil {
		return err
	}
	if status := response.StatusCode(); status >= 300 {
		return fmt.Errorf("%s %s: status %d, %s", method, path, status, response.Body())
	}
	return nil
}
