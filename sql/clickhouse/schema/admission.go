package schema

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/cenkalti/backoff/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// admissionTimeout is how long a server may take to read its users: the embedded one is restarted, others read them
// every few seconds.
const admissionTimeout = 30 * time.Second

// GrantLogin adds an analyst to a server's users.d and waits until the login works. If it does not, the file is removed
// again.
func GrantLogin(ctx context.Context, cfg clickhouse.Config, usersDir string, a Analyst, password string) error {
	if err := AddAnalyst(usersDir, a); err != nil {
		return err
	}
	cfg = cfg.ForServer(AddressFor(cfg, a.Login(), password))
	cfg.MaxOpenConns = 1
	err := untilServed(ctx, func(ctx context.Context) error {
		conn, err := clickhouse.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		_, removed := RemoveAnalyst(usersDir, a.Organization, a.Name)
		return errors.Join(fmt.Errorf("add analyst %s: the server that should read %s refuses the login: %w", a.Login(), usersDir, err), removed)
	}
	return nil
}

// RevokeLogin removes an analyst from a server's users.d and waits until the server has no such user.
func RevokeLogin(ctx context.Context, conn *clickhouse.Conn, usersDir, organization, name string) (Analyst, error) {
	removed, err := RemoveAnalyst(usersDir, organization, name)
	if err != nil {
		return removed, err
	}
	err = untilServed(ctx, func(ctx context.Context) error {
		var users uint64
		err := conn.QueryRow(ctx, "SELECT count() FROM system.users WHERE name = {login:String}", driver.Named("login", removed.Login())).Scan(&users)
		if err == nil && users > 0 {
			err = errors.New("the server still has the user")
		}
		return err
	})
	if err != nil {
		return removed, fmt.Errorf("remove analyst %s: the file is removed, but not the access: %w", removed.Login(), err)
	}
	return removed, nil
}

// untilServed tries until the server has read its users, and returns the error of the last try.
func untilServed(ctx context.Context, try func(context.Context) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, try(ctx) },
		backoff.WithBackOff(backoff.NewConstantBackOff(100*time.Millisecond)), backoff.WithMaxElapsedTime(admissionTimeout))
	return err
}

// AddressFor is the address of the warehouse, or of a cluster's first server, for another user. It keeps only the
// parameters of TLS.
func AddressFor(cfg clickhouse.Config, login, password string) string {
	address, err := url.Parse(cfg.Servers()[0])
	if err != nil {
		return "" // Validate refuses it
	}
	address.User = url.UserPassword(login, password)
	kept := url.Values{}
	for _, name := range []string{"secure", "skip_verify", "tls_server_name"} {
		if value := address.Query().Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	address.RawQuery = kept.Encode()
	return address.String()
}
