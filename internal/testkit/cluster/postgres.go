//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/deploy/engine"
)

const postgresPort = 5432

// addPostgres adds the primary, and its standby if there are to be two.
func (c *Cluster) addPostgres(servers int) error {
	var err error
	for n := range servers {
		node := c.add("postgres", fmt.Sprintf("pg-%d", n+1), fmt.Sprintf("5%d", n+1), postgresPort)
		node.settings = []string{
			"hba_file=" + filepath.Join(node.Dir, "pg_hba.conf"),
			"synchronous_commit=on", // a commit is on the standby, while there is one
			"full_page_writes=on",
			"wal_sender_timeout=5s",
			"wal_receiver_timeout=5s",
			"wal_retrieve_retry_interval=500ms",
		}
		err = errors.Join(err, os.MkdirAll(node.Dir, 0o755))
		for file, text := range map[string]string{
			"pg_hba.conf": "host all,replication all " + network + "0/24 scram-sha-256\n",
			"password":    secret, "password.service": secret, "password.gateway": secret,
		} {
			err = errors.Join(err, os.WriteFile(filepath.Join(node.Dir, file), []byte(text), 0o644))
		}
	}
	if nodes := c.Nodes("postgres"); servers > 0 {
		c.primary = nodes[0]
		if servers > 1 {
			c.standby = nodes[1]
		}
	}
	return err
}

// PostgresDSN returns the address of the primary for a login: postgres, answerscope or authenticator. With a standby it
// lists both, so that clients find the one that takes writes.
func (c *Cluster) PostgresDSN(login string) string {
	parameters := "sslmode=disable"
	if c.standby != nil {
		parameters += "&target_session_attrs=read-write"
	}
	return dsn("postgres", login, strings.Join(c.Addresses("postgres"), ","), parameters)
}

// Primary returns the PostgreSQL that takes writes.
func (c *Cluster) Primary() *Node { return c.primary }

// Standby returns the other PostgreSQL.
func (c *Cluster) Standby() *Node { return c.standby }

// Promote kills the primary, so that it can take no more writes, and makes the standby the primary. The killed one
// stays away until Remake.
func (c *Cluster) Promote(ctx context.Context) error {
	err := c.primary.Kill()
	c.primary.demoted = true
	if err == nil {
		err = execPostgres(ctx, c.standby, "ALTER SYSTEM SET synchronous_standby_names = ''",
			"SELECT pg_reload_conf()", "SELECT pg_promote()")
	}
	if err != nil {
		return fmt.Errorf("promote %s: %w", c.standby.Name, err)
	}
	c.primary, c.standby = c.standby, c.primary
	return nil
}

// Remake makes the PostgreSQL that is not the primary its synchronous standby, from a new copy of its files.
func (c *Cluster) Remake(ctx context.Context) error {
	if err := c.remake(ctx); err != nil {
		return fmt.Errorf("make standby %s: %w", c.standby.Name, err)
	}
	return nil
}

func (c *Cluster) remake(ctx context.Context) error {
	err := errors.Join(c.standby.LoseDisk(),
		execPostgres(ctx, c.primary, "ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()"))
	if err == nil {
		err = c.copyPrimary(ctx)
	}
	if err != nil {
		return err
	}
	isOld := func(setting string) bool { return strings.HasPrefix(setting, "primary_") }
	c.standby.settings = append(slices.DeleteFunc(c.standby.settings, isOld),
		fmt.Sprintf("primary_conninfo=host=%s port=%d user=postgres password='%s' sslmode=disable",
			c.primary.Address, c.primary.Port, secret),
		"primary_slot_name="+slotOf(c.standby))
	c.standby.demoted = false
	if err := c.standby.Start(ctx); err != nil {
		return err
	}
	if err := c.awaitStandby(ctx); err != nil {
		return err
	}
	return execPostgres(ctx, c.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
}

// slotOf is the name of the replication slot in which the primary keeps what a standby has yet to read.
func slotOf(standby *Node) string { return strings.ReplaceAll(standby.Name, "-", "_") }

// copyPrimary copies the primary's files to the standby while it writes, as PostgreSQL's manual describes under "Making
// a Base Backup Using the Low Level API". The package of the engine has no pg_basebackup.
func (c *Cluster) copyPrimary(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, superuserDSN(c.primary))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	slot := slotOf(c.standby)
	_, err = conn.Exec(ctx, `SELECT pg_create_physical_replication_slot($1, true)
		WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)`, slot)
	if err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_backup_start($1, true)", slot)
	}
	data := filepath.Join(c.standby.Dir, "data")
	if err == nil {
		err = copyData(filepath.Join(c.primary.Dir, "data"), data)
	}
	var label string
	if err == nil {
		err = conn.QueryRow(ctx, "SELECT labelfile FROM pg_backup_stop(false)").Scan(&label)
	}
	if err != nil {
		return fmt.Errorf("copy primary %s: %w", c.primary.Name, err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(data, "backup_label"), []byte(label), 0o600),
		os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o600))
}

// copyData copies a data directory in use. The write-ahead log comes over the network, slots are the primary's own, and
// a file that is removed meanwhile is not needed.
func copyData(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, from)
		if strings.HasPrefix(name, "/pg_replslot/") || strings.HasPrefix(name, "/postmaster.") ||
			strings.HasPrefix(name, "/pg_wal/") && !entry.IsDir() {
			return nil
		}
		if entry.IsDir() {
			return os.Mkdir(to+name, 0o700) //nolint:gosec // nobody else writes in the directories of a test
		}
		return copyFile(path, to+name)
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// awaitStandby waits until the standby reads from the primary.
func (c *Cluster) awaitStandby(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, superuserDSN(c.primary))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for streaming := false; !streaming; {
		err := conn.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'").Scan(&streaming)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func execPostgres(ctx context.Context, n *Node, statements ...string) error {
	conn, err := pgx.Connect(ctx, superuserDSN(n))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func superuserDSN(n *Node) string {
	return dsn("postgres", "postgres", n.HostPort(), "sslmode=disable")
}

// dsn returns the address of an engine. Every password is the same.
func dsn(scheme, login, hosts, parameters string) string {
	return (&url.URL{
		Scheme: scheme, User: url.UserPassword(login, secret), Host: hosts, Path: "/" + engine.Database, RawQuery: parameters,
	}).String()
}
