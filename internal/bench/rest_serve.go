package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/rest"
)

// tables are /auth/v1 and /rest/v1 over our own schema, on a port of their own, with users of two organizations.
type tables struct {
	url, dsn, anonKey     string
	token, tokenElsewhere string
	own                   []brand   // of the first user's organization
	elsewhere             uuid.UUID // the second user's organization
	client                *fasthttp.Client
	sent                  *recording
	findKey, findToken    func(context.Context) error
}

// serveTables serves until the bench is over.
func (s *stack) serveTables(ctx context.Context, brands int) (*tables, error) {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return nil, err
	}
	all, err := addBrands(ctx, db, brands)
	if err != nil {
		return nil, err
	}
	t := &tables{dsn: s.gateway, own: all[:brandsOfOne], elsewhere: all[len(all)-1].organization, client: &fasthttp.Client{MaxConnsPerHost: tableClients}, sent: &recording{}}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	ring, err := secret.ParseRing("bench:" + base64.StdEncoding.EncodeToString(random))
	if err != nil {
		return nil, err
	}
	provider := auth.NewProvider(auth.Config{}, db, ring, s.log)
	anonKeys, err := provider.AnonKeys(ctx)
	if err != nil {
		return nil, err
	}
	t.anonKey = anonKeys[0]
	api, err := s.restAPI(ctx, provider.Tokens().Callers(provider.AnonKeys, httpd.NewCallerLimit(0, time.Now)), t.sent)
	if err != nil {
		return nil, err
	}
	listener, err := httpd.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := httpd.New(httpd.DefaultConfig(), listener, s.log, prometheus.NewRegistry())
	provider.Mount(server)
	api.Mount(server)
	t.url = server.URL()
	var running errgroup.Group
	serving, stop := context.WithCancel(ctx)
	running.Go(func() error { return api.Run(serving) })
	running.Go(func() error { return server.Run(serving) })
	s.onClose(func(context.Context) error { t.client.CloseIdleConnections(); stop(); return running.Wait() })
	if err := poll(ctx, 5*time.Millisecond, func() (bool, error) { return api.Ready(ctx) == nil && server.Ready(ctx) == nil, nil }); err != nil {
		return nil, err
	}
	const chosen = "three lamps at noon"
	for _, user := range []struct {
		email string
		token *string
	}{{"ann@organization-0.example", &t.token}, {fmt.Sprintf("ann@organization-%d.example", (brands-1)/brandsOfOne), &t.tokenElsewhere}} {
		if err := db.SetPassword(ctx, user.email, auth.HashPassword(chosen)); err != nil {
			return nil, err
		}
		if *user.token, err = t.signIn(user.email, chosen); err != nil {
			return nil, err
		}
	}
	keys := auth.NewKeyResolver(db, s.log)
	t.findKey = func(ctx context.Context) error { _, err := keys.Resolve(ctx, "Bearer "+t.own[0].key); return err }
	t.findToken = func(ctx context.Context) error {
		_, err := provider.Tokens().Resolve(ctx, "Bearer "+t.token)
		return err
	}
	return t, nil
}

// restAPI serves our tables over connections whose messages are recorded while that is wanted.
func (s *stack) restAPI(ctx context.Context, who rest.Authenticator, sent *recording) (*rest.API, error) {
	cfg, err := pgxpool.ParseConfig(s.gateway)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = tableClients + 2
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &recorded{conn, sent}, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.onClose(func(context.Context) error { pool.Close(); return nil })
	own := rest.DefaultConfig()
	own.Prefix, own.Schemas, own.AnonRole, own.Aggregates = "/rest/v1", []string{"public"}, "anon", true
	rows := int64(1000)
	own.MaxRows, own.MaxBytes = &rows, 8<<20
	return rest.New(own, pool, who, s.log), nil
}

func (t *tables) signIn(email, chosen string) (token string, err error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	request.SetRequestURI(t.url + "/auth/v1/token?grant_type=password")
	request.Header.SetMethod(fasthttp.MethodPost)
	request.SetBodyString(fmt.Sprintf(`{"email":%q,"password":%q}`, email, chosen))
	if err := t.client.Do(request, response); err != nil {
		return "", err
	}
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(response.Body(), &session); err != nil || session.AccessToken == "" {
		return "", fmt.Errorf("sign in: status %d, %s", response.StatusCode(), response.Body())
	}
	return session.AccessToken, nil
}

// A recording is what a service sends to PostgreSQL, while it is on.
type recording struct {
	mu   sync.Mutex
	on   bool
	text bytes.Buffer
}

// recorded is a connection whose messages are recorded.
type recorded struct {
	net.Conn
	into *recording
}

func (c *recorded) Write(message []byte) (int, error) {
	c.into.mu.Lock()
	if c.into.on {
		c.into.text.Write(message)
	}
	c.into.mu.Unlock()
	return c.Conn.Write(message)
}

// exchanges are the statements of a request, with their parameters: those that were sent together, and then COMMIT.
type exchanges []exchange

type exchange struct {
	sql    string
	types  []uint32
	values [][]byte
	format []int16
}

// learn sends a request once while its messages are recorded, on a connection that has not prepared its statement.
func (t *tables) learn(request tableRequest) (exchanges, error) {
	if err := t.ask("GET", "/rest/v1/organizations?select=id", nil); err != nil { // so that there is a connection
		return nil, err
	}
	t.sent.mu.Lock()
	t.sent.on = true
	t.sent.text.Reset()
	t.sent.mu.Unlock()
	err := t.ask(request.method, request.path, []byte(request.body))

	t.sent.mu.Lock()
	defer t.sent.mu.Unlock()
	t.sent.on = false
	if err != nil {
		return nil, err
	}
	return readExchanges(t.sent.text.Bytes())
}

// readExchanges reads the messages Parse and Bind of the extended protocol.
func readExchanges(messages []byte) (list exchanges, err error) {
	known := map[string]pgproto3.Parse{}
	for len(messages) >= 5 {
		kind, size := messages[0], 1+int(uint32(messages[1])<<24|uint32(messages[2])<<16|uint32(messages[3])<<8|uint32(messages[4]))
		if size > len(messages) {
			break
		}
		body := messages[5:size]
		switch kind {
		case 'P':
			var parse pgproto3.Parse
			if err := parse.Decode(body); err != nil {
				return nil, err
			}
			known[parse.Name] = parse
		case 'B':
			var bind pgproto3.Bind
			if err := bind.Decode(body); err != nil {
				return nil, err
			}
			parse, ok := known[bind.PreparedStatement]
			if !ok {
				return nil, errors.New("a statement was prepared before it was recorded")
			}
			list = append(list, exchange{parse.Query, parse.ParameterOIDs, bind.Parameters, bind.ParameterFormatCodes})
		}
		messages = messages[size:]
	}
	if len(list) != 3 {
		return nil, fmt.Errorf("the request sent %d statements: want BEGIN, the caller's settings, and its own", len(list))
	}
	return list, nil
}

// replay sends the same statements by the driver, the last of them prepared once, and COMMIT. Parameters go through
// change.
func (e exchanges) replay(ctx context.Context, pool *pgxpool.Pool, change func([]byte) []byte) error {
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	conn := pooled.Conn().PgConn()
	last := e[len(e)-1]
	if conn.CustomData()["prepared"] != last.sql {
		if _, err := conn.Prepare(ctx, "bench", last.sql, last.types); err != nil {
			return err
		}
		conn.CustomData()["prepared"] = last.sql
	}
	values := make([][]byte, len(last.values))
	for i, value := range last.values {
		values[i] = change(value)
	}
	pipeline := conn.StartPipeline(ctx)
	for _, before := range e[:len(e)-1] {
		pipeline.SendQueryParams(before.sql, before.values, before.types, before.format, nil)
	}
	pipeline.SendQueryPrepared("bench", values, last.format, nil)
	if err := pipeline.Sync(); err != nil {
		return errors.Join(err, pipeline.Close())
	}
	if err := pipeline.Close(); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "COMMIT").ReadAll()
	return err
}
