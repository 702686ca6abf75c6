package schema

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/cenkalti/backoff/v5"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The errors of AddAnalyst and RemoveAnalyst.
var (
	ErrNoAnalyst     = errors.New("there is no such analyst")
	ErrAnalystExists = errors.New("the analyst exists already")
)

// AddAnalyst writes an analyst's file into a server's users.d.
func AddAnalyst(dir string, a Analyst) error {
	text, err := a.Configuration()
	if err != nil {
		return err
	}
	if _, err = os.Stat(analystPath(dir, a)); err == nil {
		err = ErrAnalystExists
	} else if errors.Is(err, fs.ErrNotExist) {
		err = writeAnalyst(dir, a, text)
	}
	if err != nil {
		return fmt.Errorf("add analyst %s: %w", a.Login(), err)
	}
	return nil
}

// RemoveAnalyst removes the file of an analyst, by its name and the slug of the organization.
func RemoveAnalyst(dir, organization, name string) (Analyst, error) {
	analysts, err := ListAnalysts(dir)
	if err != nil {
		return Analyst{}, err
	}
	i := slices.IndexFunc(analysts, func(a Analyst) bool { return a.Organization == organization && a.Name == name })
	if i < 0 {
		return Analyst{}, fmt.Errorf("remove analyst %s of %s: %w", name, organization, ErrNoAnalyst)
	}
	if err := os.Remove(analystPath(dir, analysts[i])); err != nil {
		return Analyst{}, fmt.Errorf("remove analyst %s of %s: %w", name, organization, err)
	}
	return analysts[i], nil
}

// ListAnalysts reads the analysts of a users.d, by login; none if there is no such directory.
func ListAnalysts(dir string) ([]Analyst, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list analysts: %w", err)
	}
	var analysts []Analyst
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "analyst_") || filepath.Ext(entry.Name()) != ".xml" {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read analyst: %w", err)
		}
		a, err := readAnalyst(text)
		switch {
		case errors.Is(err, errForeign):
			continue
		case err != nil:
			return nil, fmt.Errorf("read analyst %s: %w", path, err)
		case analystPath(dir, a) != path:
			return nil, fmt.Errorf("read analyst %s: it is the file of %s", path, a.Login())
		}
		analysts = append(analysts, a)
	}
	return analysts, nil
}

// RenewAnalysts rewrites the files of a users.d that differ in this release, whose tables, views and limits they list,
// and returns their logins.
func RenewAnalysts(dir string) ([]string, error) {
	analysts, err := ListAnalysts(dir)
	if err != nil {
		return nil, err
	}
	var renewed []string
	for _, a := range analysts {
		text, err := a.Configuration()
		if err != nil {
			return renewed, err
		}
		old, err := os.ReadFile(analystPath(dir, a))
		if err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := errors.Join(err, writeAnalyst(dir, a, text)); err != nil {
			return renewed, fmt.Errorf("renew analyst %s: %w", a.Login(), err)
		}
		renewed = append(renewed, a.Login())
	}
	return renewed, nil
}

func analystPath(dir string, a Analyst) string { return filepath.Join(dir, a.Login()+".xml") }

// writeAnalyst replaces a file atomically, since the server may read it at any time. The server may be another system
// user, so it is readable for all: passwords are long and random, so their hashes are useless to others.
func writeAnalyst(dir string, a Analyst, text []byte) error {
	return disk.ReplaceFile(analystPath(dir, a), text, 0o644)
}

// reloadTimeout bounds the time in which a server reads its users: the embedded one is restarted, others read them
// every few seconds.
const reloadTimeout = 30 * time.Second

// GrantLogin adds an analyst to a server's users.d and waits until the login works. Otherwise it removes the file
// again.
func GrantLogin(ctx context.Context, cfg clickhouse.Config, usersDir string, a Analyst, password string) error {
	if err := AddAnalyst(usersDir, a); err != nil {
		return err
	}
	cfg = cfg.ForServer(AddressFor(cfg, a.Login(), password))
	cfg.MaxOpenConns = 1
	err := awaitReload(ctx, func(ctx context.Context) error {
		conn, err := clickhouse.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		_, removed := RemoveAnalyst(usersDir, a.Organization, a.Name)
		return errors.Join(fmt.Errorf("add analyst %s: the server that should read %s refuses the login: %w",
			a.Login(), usersDir, err), removed)
	}
	return nil
}

// RevokeLogin removes an analyst from a server's users.d and waits until the server has no such user.
func RevokeLogin(
	ctx context.Context, conn *clickhouse.Conn, usersDir, organization, name string,
) (Analyst, error) {
	removed, err := RemoveAnalyst(usersDir, organization, name)
	if err != nil {
		return removed, err
	}
	err = awaitReload(ctx, func(ctx context.Context) error {
		const count = "SELECT count() FROM system.users WHERE name = {login:String}"
		var users uint64
		err := conn.QueryRow(ctx, count, driver.Named("login", removed.Login())).Scan(&users)
		if err == nil && users > 0 {
			err = errors.New("the server still has the user")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("remove analyst %s: the file is removed, but not the access: %w", removed.Login(), err)
	}
	return removed, err
}

// awaitReload tries until the server has read its users, and returns the error of the last try.
func awaitReload(ctx context.Context, try func(context.Context) error) error {
	interval := backoff.WithBackOff(backoff.NewConstantBackOff(100 * time.Millisecond))
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, try(ctx) },
		interval, backoff.WithMaxElapsedTime(reloadTimeout))
	return err
}

// AddressFor returns the address of the warehouse, or of a cluster's first server, for another user, with only the
// parameters of TLS.
func AddressFor(cfg clickhouse.Config, login, password string) string {
	address, err := url.Parse(cfg.Servers()[0])
	if err != nil {
		return "" // Validate refuses it
	}
	address.User = url.UserPassword(login, password)
	parameters := url.Values{}
	for _, name := range []string{"secure", "skip_verify", "tls_server_name"} {
		if value := address.Query().Get(name); value != "" {
			parameters.Set(name, value)
		}
	}
	address.RawQuery = parameters.Encode()
	return address.String()
}
