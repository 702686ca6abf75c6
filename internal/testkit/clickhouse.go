package testkit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
)

// clickHouse is a server by its addresses.
type clickHouse struct {
	DSN  string // native, with credentials
	HTTP string // host:port
}

// ClickHouse returns the native address of a fresh database (Atomic) on a real
// ClickHouse. The database is dropped when the test passed.
func ClickHouse(t testing.TB) (dsn string) {
	t.Helper()
	server := clickHouseServer(t)
	name := freshName(t)
	if err := server.exec(t.Context(), "CREATE DATABASE "+name+" ENGINE = Atomic"); err != nil {
		t.Fatalf("create clickhouse database %s: %v", name, err)
	}
	dsn = withPath(server.DSN, name)
	cleanUp(t, "clickhouse", name, dsn, func(ctx context.Context) error {
		return server.exec(ctx, "DROP DATABASE "+name+" SYNC")
	})
	return dsn
}

// ClickHouseHTTP returns the host:port and the credentials of the HTTP interface
// of the server that ClickHouse's databases are on.
func ClickHouseHTTP(t testing.TB) (address string, user *url.Userinfo) {
	t.Helper()
	server := clickHouseServer(t)
	u, err := url.Parse(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	return server.HTTP, u.User
}

func clickHouseServer(t testing.TB) clickHouse {
	t.Helper()
	server, err := once(&own, "clickhouse", func(ctx context.Context, at place) (clickHouse, func(context.Context) error, error) {
		c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: at.dir, Home: at.home, NoSync: true, Log: at.log})
		if err != nil {
			return clickHouse{}, nil, err
		}
		return clickHouse{DSN: c.DSN(), HTTP: c.HTTPAddr()}, c.Stop, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func (c clickHouse) exec(ctx context.Context, query string) error {
	u, err := url.Parse(c.DSN)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.HTTP, strings.NewReader(query))
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	req.SetBasicAuth(u.User.Username(), password)
	req.Close = true
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", strings.TrimSpace(string(body)))
	}
	return nil
}
