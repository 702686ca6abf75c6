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

// Database is the database that StartClickHouse and StartPostgres create.
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

// ClickHouseConfig configures a ClickHouse.
type ClickHouseConfig struct {
	Dir      string // of all its files; created
	Port     int    // native protocol; 0 chooses a free one, the same after restarts
	KeepFree int64  // bytes of the disk that inserts and merges leave free
	Logs     string // directory of its log; Dir/log if empty
	NoSync   bool   // tests only: inserted parts are not synced to the disk, and statements are not compiled
	Log      *slog.Logger

	httpPort int             // of the last start, for a restart
	damaged  map[string]bool // parts for which it was restarted; shared by all starts
}

// ClickHouse is a running ClickHouse server, a child of this process.
type ClickHouse struct {
	*process
	account        *account
	cfg            ClickHouseConfig // with its actual ports and directories
	users          string           // the listing of users.d at its start
	native, http   string
	user, password string
	damage         damage
}

// StartClickHouse starts the ClickHouse of a directory and waits until it answers queries. Database answerscope
// (Atomic) exists then.
func StartClickHouse(ctx context.Context, cfg ClickHouseConfig) (*ClickHouse, error) {
	begin := time.Now()
	c, err := startClickHouse(ctx, cfg)
	if err != nil && ctx.Err() == nil {
		c, err = startWithoutNewUsers(ctx, cfg, err)
	}
	if err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	logReady(cfg.Log, "clickhouse", c.native, begin, "pid", c.PID())
	return c, nil
}

func logReady(log *slog.Logger, engine, address string, begin time.Time, attributes ...any) {
	attributes = append([]any{"engine", engine, "address", address}, attributes...)
	log.Info("engine ready", append(attributes, "took", time.Since(begin).Round(time.Millisecond))...)
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
		err = c.createQueryLog(ctx)
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

// createQueryLog creates audit.query_log and the view that fills it.
func (c *ClickHouse) createQueryLog(ctx context.Context) error {
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

// chooseClickHouseAccount chooses root if the account could not reach the directory: the engine wants absolute names.
func chooseClickHouseAccount(cfg ClickHouseConfig) (*account, error) {
	a, err := chooseAccount(cfg.Dir, clickHouseUID)
	if err != nil || a.closed == "" {
		return a, err
	}
	cfg.Log.Warn("engine runs as root, and so do analysts' queries", "engine", "clickhouse", "closed", a.closed,
		"next", "chmod o+x "+a.closed+", or another --data-dir, so that it can be a user of its own")
	return a.stayRoot()
}

// command chooses the address and the password, writes the configuration and returns the command of the server.
func (c *ClickHouse) command(cfg ClickHouseConfig, library *os.File) (*exec.Cmd, error) {
	var err error
	if c.password, err = storedPassword(cfg.Dir, "password"); err != nil {
		return nil, err
	}
	native, err := storedPort(loopback, cfg.Dir, "clickhouse", cfg.Port)
	if err != nil {
		return nil, err
	}
	web, err := storedPort(loopback, cfg.Dir, "clickhouse-http", cfg.httpPort)
	if err != nil {
		return nil, err
	}
	c.native, c.http = address(loopback, native), address(loopback, web)
	c.cfg = cfg
	c.cfg.Port, c.cfg.httpPort = native, web
	if err := c.writeConfig(); err != nil {
		return nil, err
	}
	cmd, err := selfCommand(clickHouseChild, inherited(library),
		"--config-file=config.xml",
		"--path="+filepath.Join(cfg.Dir, "data"),
		"--listen_host="+loopback,
		"--tcp_port="+strconv.Itoa(native),
		"--http_port="+strconv.Itoa(web),
		"--output-format=TSV",
		"--log-level=warning", // the engine ignores the level in its configuration, and logs at trace
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

// writeConfig writes config.xml and users.xml, readable by the account. The engine includes the files in config.d and
// users.d, which are the operator's.
func (c *ClickHouse) writeConfig() error {
	dir, logs := c.cfg.Dir, filepath.Join(c.cfg.Logs, "clickhouse")
	for _, writable := range []string{filepath.Join(dir, "data"), logs} {
		if err := errors.Join(os.MkdirAll(writable, 0o750), c.account.give(writable)); err != nil {
			return err
		}
	}
	if err := c.account.share(c.cfg.Logs); err != nil {
		return err
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(c.password)))
	values := struct {
		Logs, Backups, User, PasswordSHA256 string
		KeepFree                            int64
		Sync                                bool
	}{logs, backupsDir(dir), clickHouseUser, hash, c.cfg.KeepFree, !c.cfg.NoSync}
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

// listenQuery opens the listeners and then never ends, so that the engine's command line, and its process, stay alive.
const listenQuery = `SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(0.1) FROM system.numbers
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1
FORMAT Null`

// DSN is the native address with credentials and database.
func (c *ClickHouse) DSN() string {
	user := url.UserPassword(c.user, c.password)
	return (&url.URL{Scheme: "clickhouse", User: user, Host: c.native, Path: "/" + Database}).String()
}

// HTTPAddr is the host and port of the HTTP interface.
func (c *ClickHouse) HTTPAddr() string { return c.http }

// Stop ends the server after its writes. A ClickHouse on the same Dir has the same address again.
func (c *ClickHouse) Stop(ctx context.Context) error {
	return c.stop(ctx, func() error {
		c.flushQueryLog(ctx)
		// The command line is the only query without a user. When it ends, the server shuts down in order, which it
		// does on no signal.
		_, err := c.query(ctx, "KILL QUERY WHERE user = '' ASYNC")
		return err
	})
}

// serverError is the server's refusal of a statement.
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

// backupsDir is the only directory in which the embedded ClickHouse writes and reads backups.
func backupsDir(clickHouseDir string) string { return filepath.Join(clickHouseDir, "data", "backups") }

// BackupName is the name of the backup that a backup or a restore of the installation goes through.
const BackupName = "answerscope"

// BackupDir returns the directory of that backup of the ClickHouse of a data directory.
func BackupDir(dataDir string) string {
	return filepath.Join(backupsDir(clickHouseDir(dataDir)), BackupName)
}

// GiveBackup lets the ClickHouse of a data directory read the backups there.
func GiveBackup(dataDir string) error {
	a, err := chooseAccount(clickHouseDir(dataDir), clickHouseUID)
	if err != nil || a.closed != "" { // then it runs as our own user
		return err
	}
	return a.give(backupsDir(clickHouseDir(dataDir)))
}
