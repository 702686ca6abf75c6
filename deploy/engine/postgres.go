package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/answerscope/answerscope/internal/disk"
)

// The logins: the superuser, who creates the schema; services, with the grants of the schema; and a gateway, which may
// only take the roles of its clients.
const (
	postgresUser    = "postgres"
	postgresLogin   = "answerscope"
	postgresGateway = "authenticator"
)

// PostgresConfig configures a PostgreSQL.
type PostgresConfig struct {
	Dir    string // of all its files; created
	Host   string // IP address that it listens on; empty: 127.0.0.1
	Logs   string // directory of its log; Dir/log if empty
	NoSync bool   // tests only: a crash of the machine may lose the cluster

	Settings []string // name=value, after the defaults
	Log      *slog.Logger
}

// Postgres is a running PostgreSQL server, a child of this process.
type Postgres struct {
	*process
	cfg               PostgresConfig
	address, password string
	login, gateway    string // passwords of postgresLogin and postgresGateway
}

// StartPostgres starts the PostgreSQL of a directory, which it initializes the first time, and waits until it answers.
// Database answerscope exists then. Under root it runs as a user of its own.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	begin := time.Now()
	p, err := startPostgres(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	logReady(cfg.Log, "postgres", p.address, begin, "pid", p.PID())
	return p, nil
}

func startPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	pkg, err := npmPackage("postgres")
	if err != nil {
		return nil, err
	}
	if err := makeLibraryLinks(pkg); err != nil {
		return nil, err
	}
	lock, err := lockDirs(ctx, &cfg.Dir, &cfg.Logs)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	cfg.Host = cmp.Or(cfg.Host, loopback)
	c := postgresCluster{cfg: cfg, data: filepath.Join(cfg.Dir, "data")}
	if err := c.prepare(pkg); err != nil {
		return nil, err
	}
	port, err := storedPort(cfg.Host, cfg.Dir, "postgres", 0)
	if err != nil {
		return nil, err
	}
	p := &Postgres{cfg: cfg, address: address(cfg.Host, port), password: c.password, login: c.login, gateway: c.gateway}
	server, err := c.server(port)
	if err != nil {
		return nil, err
	}
	if p.process, err = startProcess("postgres", cfg.Logs, lock, onOurDeath, server); err != nil {
		return nil, err
	}
	err = p.awaitReady(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return p.addLogins(ctx)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// addLogins creates the logins of services and the gateway. The schema may have created the gateway's role already. A
// standby has its primary's, and takes no writes.
func (p *Postgres) addLogins(ctx context.Context) error {
	conn, err := pgconn.Connect(ctx, p.DSN())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	standby, err := conn.Exec(ctx, "SELECT 1 WHERE pg_catalog.pg_is_in_recovery()").ReadAll()
	if err != nil || len(standby[0].Rows) > 0 {
		return err
	}
	for _, login := range [][2]string{{postgresLogin, p.login}, {postgresGateway, p.gateway}} {
		role, password := login[0], login[1]
		query := "SELECT rolcanlogin FROM pg_catalog.pg_roles WHERE rolname = '" + role + "'"
		result, err := conn.Exec(ctx, query).ReadAll()
		if err != nil {
			return err
		}
		verb := "CREATE"
		if rows := result[0].Rows; len(rows) > 0 {
			if string(rows[0][0]) == "t" {
				continue
			}
			verb = "ALTER"
		}
		statement := verb + " ROLE " + role + " LOGIN NOINHERIT PASSWORD '" + password + "'"
		if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
			return err
		}
	}
	// Anybody with the public key can send statements that are refused, and would fill the disk with their errors.
	_, err = conn.Exec(ctx, "ALTER ROLE "+postgresGateway+" SET log_min_messages = fatal").ReadAll()
	return err
}

// DSN is the address with the credentials of the superuser and the database.
func (p *Postgres) DSN() string { return p.dsn(postgresUser, p.password) }

// ServiceDSN is DSN with the login of services.
func (p *Postgres) ServiceDSN() string { return p.dsn(postgresLogin, p.login) }

// GatewayDSN is DSN with the login of a gateway.
func (p *Postgres) GatewayDSN() string { return p.dsn(postgresGateway, p.gateway) }

func (p *Postgres) dsn(user, password string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password), Host: p.address, Path: "/" + Database,
		RawQuery: "sslmode=disable",
	}).String()
}

// Stop ends the server after a rollback of open transactions. A Postgres on the same Dir has the same address again.
func (p *Postgres) Stop(ctx context.Context) error {
	// SIGINT is its "fast shutdown"; on SIGTERM it would wait for clients to leave.
	return p.stop(ctx, func() error { return p.signal(syscall.SIGINT) })
}

func (p *Postgres) restart(ctx context.Context) (child, error) { return StartPostgres(ctx, p.cfg) }

// onOurDeath is the signal that the server gets when this process is killed: its "immediate shutdown", which ends its
// children too. The next start recovers.
const onOurDeath = syscall.SIGQUIT

// postgresCluster is a cluster on the disk, its logins and its user.
type postgresCluster struct {
	cfg            PostgresConfig
	bin, data      string
	password       string
	login, gateway string
	user           *account
}

// prepare creates the cluster if there is none. A cluster is renamed to its place when it is complete.
func (c *postgresCluster) prepare(pkg string) error {
	var err error
	if c.user, err = chooseAccount(c.cfg.Dir, postgresUID); err != nil {
		return err
	}
	if pkg, err = c.user.reachable(pkg); err != nil {
		return err
	}
	c.bin = filepath.Join(pkg, "native", "bin")
	for file, password := range map[string]*string{
		"password": &c.password, "password.service": &c.login, "password.gateway": &c.gateway,
	} {
		if *password, err = storedPassword(c.cfg.Dir, file); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		// Since the directory is locked, this is the file of a killed server. Its pid may be another process's by now,
		// which PostgreSQL would take for a server.
		if err := os.Remove(filepath.Join(c.data, "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return c.checkVersion()
	}
	return c.create()
}

// create creates the cluster and its database.
func (c *postgresCluster) create() error {
	fresh := c.data + ".new"
	if err := errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, 0o700)); err != nil {
		return err
	}
	passwordFile := filepath.Join(c.cfg.Dir, "password")
	if err := errors.Join(c.user.withName().give(fresh), c.user.share(passwordFile)); err != nil {
		return err
	}
	err := c.tool(fresh, "", "initdb", "-U", postgresUser, "-A", "scram-sha-256", "--pwfile=../password",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", "--no-sync")
	if err != nil {
		return err
	}
	if err := c.tool(fresh, "CREATE DATABASE "+Database+"\n", "postgres", "--single", "-F", "postgres"); err != nil {
		return err
	}
	if !c.cfg.NoSync { // once, instead of in each step
		if err := c.tool(fresh, "", "initdb", "--sync-only"); err != nil {
			return err
		}
	}
	return errors.Join(c.user.give(fresh), os.Rename(fresh, c.data), disk.SyncDir(filepath.Dir(c.data)))
}

// tool runs one of the package's programs on the cluster in dir to its end.
func (c *postgresCluster) tool(dir, stdin, name string, args ...string) error {
	cmd, err := c.command(c.user.withName(), syscall.SIGKILL, dir, name, args...)
	if err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(stdin)
	return runTool(name, cmd)
}

// command returns one of the package's programs on the cluster in dir, which is in its environment.
func (c *postgresCluster) command(
	as *account, onDeath syscall.Signal, dir, name string, args ...string,
) (*exec.Cmd, error) {
	cmd, err := as.command(exec.Command(filepath.Join(c.bin, name), args...), dir, onDeath)
	if err != nil {
		return nil, err
	}
	if as.closed != "" {
		dir = workingDir
	}
	cmd.Env = append(cmd.Env, "PGDATA="+dir)
	return cmd, nil
}

// checkVersion refuses a cluster of another major version.
func (c *postgresCluster) checkVersion() error {
	text, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return err
	}
	if v := strings.TrimSpace(string(text)); v != "18" {
		return fmt.Errorf("cluster %s was made by PostgreSQL %s; this is 18: "+
			"dump it with the old release and restore it here", c.data, v)
	}
	return nil
}

// makeLibraryLinks creates the symbolic links between PostgreSQL's libraries, which an npm package cannot carry. The
// package's install script would, but it is not run.
func makeLibraryLinks(pkg string) error {
	var links []struct{ Source, Target string }
	if err := readJSON(filepath.Join(pkg, "native", "pg-symlinks.json"), &links); err != nil {
		return err
	}
	for _, l := range links {
		target := filepath.Join(pkg, filepath.FromSlash(l.Target))
		source, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link %s: %w", target, err)
		}
	}
	return nil
}

// server returns the command of the server, with settings for a laptop.
func (c *postgresCluster) server(port int) (*exec.Cmd, error) {
	settings := []string{
		"listen_addresses=" + c.cfg.Host,
		fmt.Sprintf("port=%d", port),
		"unix_socket_directories=",
		"max_connections=200",
		"shared_buffers=64MB",
		"max_wal_size=512MB",
		"jit=off",
		"TimeZone=UTC",
		"log_timezone=UTC",
		"log_min_messages=warning",
		"log_min_error_statement=panic", // a statement has texts of people, and a caller decides how long it is
	}
	if c.cfg.NoSync {
		settings = append(settings, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
	}
	var args []string
	for _, s := range append(settings, c.cfg.Settings...) {
		args = append(args, "-c", s)
	}
	return c.command(c.user, onOurDeath, c.data, "postgres", args...)
}
