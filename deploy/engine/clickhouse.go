package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/answerscope/answerscope/internal/disk"
)

// Database is the one that StartClickHouse and StartPostgres create.
const Database = "answerscope"

const clickHouseUser = "answerscope"

var (
	//go:embed clickhouse/config.xml
	clickHouseConfigXML string

	//go:embed clickhouse/users.xml
	clickHouseUsersXML string

	//go:embed clickhouse/audit.sql
	auditSQL string

	clickHouseTemplates = []*template.Template{
		template.Must(template.New("config.xml").Parse(clickHouseConfigXML)),
		template.Must(template.New("users.xml").Parse(clickHouseUsersXML)),
	}
)

// ClickHouseConfig says where a ClickHouse lives and listens.
type ClickHouseConfig struct {
	Dir      string // everything it keeps; created
	Port     int    // native protocol; 0 chooses a free one, kept across restarts
	KeepFree int64  // bytes of the disk that inserts and merges leave to others
	Logs     string // directory of its log; Dir/log if empty
	NoSync   bool   // tests only: inserted parts are not synced to the disk
	Log      *slog.Logger

	httpPort int             // that of the last start, on a restart
	damaged  map[string]bool // parts for which it was started again; shared by all starts
}

// ClickHouse is a running ClickHouse server, a child of this process.
type ClickHouse struct {
	*process
	account        *account
	cfg            ClickHouseConfig // with the ports and directories that it has
	users          string           // the listing of users.d that it has read
	native, http   string
	user, password string
	damage         damage
}

// StartClickHouse starts the ClickHouse of a directory and returns when it
// answers queries. Database answerscope (Atomic) exists then.
func StartClickHouse(ctx context.Context, cfg ClickHouseConfig) (*ClickHouse, error) {
	begin := time.Now()
	c, err := startClickHouse(ctx, cfg)
	if err != nil && ctx.Err() == nil {
		c, err = startWithoutNewUsers(ctx, cfg, err)
	}
	if err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	cfg.Log.Info("engine ready", "engine", "clickhouse", "address", c.native, "pid", c.PID(), "took", time.Since(begin).Round(time.Millisecond))
	return c, nil
}

func startClickHouse(ctx context.Context, cfg ClickHouseConfig) (*ClickHouse, error) {
	pkg, err := npmPackage("clickhouse")
	if err != nil {
		return nil, err
	}
	lock, err := lockDirs(ctx, &cfg.Dir, &cfg.Logs)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := removeLostTokens(filepath.Join(cfg.Dir, "data"), cfg.Log); err != nil {
		return nil, err
	}
	if cfg.damaged == nil {
		cfg.damaged = map[string]bool{}
	}
	c := &ClickHouse{user: clickHouseUser}
	if c.account, err = chooseClickHouseAccount(cfg); err != nil {
		return nil, err
	}
	if c.users, err = usersListing(usersDir(cfg.Dir)); err != nil {
		return nil, err
	}
	library, err := os.Open(filepath.Join(pkg, "libchdb.so"))
	if err != nil {
		return nil, err
	}
	defer library.Close() // the server has its own
	cmd, err := c.command(cfg, library)
	if err != nil {
		return nil, err
	}
	if c.process, err = startProcess("clickhouse-console", cfg.Logs, lock, syscall.SIGKILL, cmd); err != nil {
		return nil, err
	}
	err = c.awaitReady(ctx, func(ctx context.Context) error {
		_, err := c.query(ctx, "CREATE DATABASE IF NOT EXISTS "+Database+" ENGINE = Atomic")
		return err
	})
	if err == nil {
		err = c.keepTrail(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := disk.ReplaceFile(acceptedUsers(cfg.Dir), []byte(c.users), 0o600); err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// keepTrail makes the table of queries and the view that fills it.
func (c *ClickHouse) keepTrail(ctx context.Context) error {
	for statement := range strings.SplitSeq(auditSQL, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := c.query(ctx, statement); err != nil {
			c.Kill()
			return fmt.Errorf("make table of queries: %w", err)
		}
	}
	return nil
}

// chooseClickHouseAccount stays with root where the account could not reach the directory: the engine wants absolute
// names.
func chooseClickHouseAccount(cfg ClickHouseConfig) (*account, error) {
	a, err := chooseAccount(cfg.Dir, clickHouseUID)
	if err != nil || a.closed == "" {
		return a, err
	}
	cfg.Log.Warn("engine runs as root, with whom foreign SQL then runs", "engine", "clickhouse", "closed", a.closed,
		"next", "chmod o+x "+a.closed+", or another --data-dir, so that it can be a user of its own")
	return a.stayRoot()
}

// command chooses address and password, writes the configuration and returns the command of the server.
func (c *ClickHouse) command(cfg ClickHouseConfig, library *os.File) (*exec.Cmd, error) {
	var err error
	if c.password, err = keptPassword(cfg.Dir, "password"); err != nil {
		return nil, err
	}
	native, err := keptPort(cfg.Dir, "clickhouse", cfg.Port)
	if err != nil {
		return nil, err
	}
	web, err := keptPort(cfg.Dir, "clickhouse-http", cfg.httpPort)
	if err != nil {
		return nil, err
	}
	c.native, c.http = address(native), address(web)
	c.cfg = cfg
	c.cfg.Port, c.cfg.httpPort = native, web
	if err := c.writeConfig(); err != nil {
		return nil, err
	}
	cmd, err := selfCommand(clickHouseChild, inherited(library),
		"--config-file=config.xml",
		"--path="+filepath.Join(cfg.Dir, "data"),
		"--listen_host="+host,
		"--tcp_port="+strconv.Itoa(native),
		"--http_port="+strconv.Itoa(web),
		"--output-format=TSV",
		"--log-level=warning", // without it the engine logs at trace, whatever its configuration says
		"--query="+listenQuery)
	if err != nil {
		return nil, err
	}
	if cmd, err = c.account.command(cmd, cfg.Dir, syscall.SIGKILL); err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{library}
	return cmd, nil
}

// writeConfig writes config.xml and users.xml into the directory, for the account to read. Files that others put into
// config.d and users.d beside them are included.
func (c *ClickHouse) writeConfig() error {
	dir, logs := c.cfg.Dir, filepath.Join(c.cfg.Logs, "clickhouse")
	for _, own := range []string{filepath.Join(dir, "data"), logs} {
		if err := errors.Join(os.MkdirAll(own, 0o750), c.account.give(own)); err != nil {
			return err
		}
	}
	if err := c.account.share(c.cfg.Logs); err != nil {
		return err
	}
	values := struct {
		Logs, Backups, User, PasswordSHA256 string
		KeepFree                            int64
		Sync                                bool
	}{logs, backupsDir(dir), clickHouseUser, fmt.Sprintf("%x", sha256.Sum256([]byte(c.password))), c.cfg.KeepFree, !c.cfg.NoSync}
	for _, t := range clickHouseTemplates {
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return err
		}
		file := filepath.Join(dir, t.Name())
		if err := errors.Join(disk.ReplaceFile(file, text.Bytes(), 0o600), c.account.share(file)); err != nil {
			return err
		}
	}
	for _, included := range []string{filepath.Join(dir, "config.d"), usersDir(dir)} {
		if err := os.MkdirAll(included, 0o700); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(included, "*"))
		if err = errors.Join(err, c.account.share(append(files, included)...)); err != nil {
			return err
		}
	}
	return nil
}

// listenQuery opens the listeners and then never ends, which keeps the engine's
// command line, and with it the process, alive.
const listenQuery = `SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(0.1) FROM system.numbers
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1
FORMAT Null`

// DSN is the native address with credentials and database.
func (c *ClickHouse) DSN() string {
	return (&url.URL{Scheme: "clickhouse", User: url.UserPassword(c.user, c.password), Host: c.native, Path: "/" + Database}).String()
}

// HTTPAddr is the host and port of the HTTP interface.
func (c *ClickHouse) HTTPAddr() string { return c.http }

// Stop ends the server; it finishes what it is writing. A ClickHouse started
// again on the same Dir has the same address.
func (c *ClickHouse) Stop(ctx context.Context) error {
	return c.stop(ctx, func() error {
		c.flushTrail(ctx)
		// The command line is the only query without a user; when it ends, the server
		// shuts down in order, which it does on no signal.
		_, err := c.query(ctx, "KILL QUERY WHERE user = '' ASYNC")
		return err
	})
}

// serverError is the answer to a statement that the server refuses.
type serverError string

func (e serverError) Error() string { return string(e) }

// query runs a statement over HTTP and returns its answer as tab-separated text.
func (c *ClickHouse) query(ctx context.Context, statement string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.http, strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	req.SetBasicAuth(c.user, c.password)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(body))
	if resp.StatusCode != http.StatusOK {
		return "", serverError(text)
	}
	return text, nil
}
