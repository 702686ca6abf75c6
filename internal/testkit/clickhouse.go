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

func startClickHouse(ctx context.Context, dir string) (addresses, func(context.Context) error, error) {
	c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, NoSync: true, Log: quiet})
	if err != nil {
		return addresses{}, nil, err
	}
	return addresses{ClickHouse: c.DSN(), ClickHouseHTTP: c.HTTPAddr()}, c.Stop, nil
}

// ClickHouse returns the native address of a fresh database (Atomic) on a real
// ClickHouse. The database is dropped when the test passed.
func ClickHouse(t testing.TB) (dsn string) {
	t.Helper()
	a := server(t, "clickhouse")
	name := freshName(t)
	if err := a.execClickHouse(t.Context(), "CREATE DATABASE "+name+" ENGINE = Atomic"); err != nil {
		t.Fatalf("create clickhouse database %s: %v", name, err)
	}
	dsn = withPath(a.ClickHouse, name)
	cleanUp(t, "clickhouse", name, dsn, func(ctx context.Context) error {
		return a.execClickHouse(ctx, "DROP DATABASE "+name+" SYNC")
	})
	return dsn
}

// ClickHouseHTTP returns the host:port and the credentials of the HTTP interface
// of the server that ClickHouse's databases are on.
func ClickHouseHTTP(t testing.TB) (address string, user *url.Userinfo) {
	t.Helper()
	a := server(t, "clickhouse")
	u, err := url.Parse(a.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	return a.ClickHouseHTTP, u.User
}

func (a addresses) execClickHouse(ctx context.Context, query string) error {
	u, err := url.Parse(a.ClickHouse)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.ClickHouseHTTP, strings.NewReader(query))
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
