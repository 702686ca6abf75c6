package engine

import (
	"context"
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
	"time"
)

// Database is the one that StartClickHouse and StartPostgres create.
const Database = "answerscope"

const clickHouseUser = "answerscope"

// ClickHouseConfig says where a ClickHouse lives and listens.
type ClickHouseConfig struct {
	Dir      string // everything it keeps; created
	Home     Home
	Port     int    // native protocol; 0 chooses a free one, kept across restarts
	HTTPPort int    // likewise
	Logs     string // directory of its log; Dir/log if empty
	NoSync   bool   // tests only: inserted parts are not synced to the disk
	Log      *slog.Logger
}

// ClickHouse is a running ClickHouse server, a child of this process.
type ClickHouse struct {
	*process
	native, http, password string
}

// StartClickHouse starts the ClickHouse of a directory and returns when it
// answers queries. Database answerscope (Atomic) exists then.
func StartClickHouse(ctx context.Context, cfg ClickHouseConfig) (*ClickHouse, error) {
	begin := time.Now()
	pkg, err := cfg.Home.npmPackage("clickhouse", clickHouseNPM)
	if err != nil {
		return nil, err
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	if cfg.Logs == "" {
		cfg.Logs = filepath.Join(cfg.Dir, "log")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	password, err := keptPassword(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	native, err := keptPort(cfg.Dir, "native", cfg.Port)
	if err != nil {
		return nil, err
	}
	web, err := keptPort(cfg.Dir, "http", cfg.HTTPPort)
	if err != nil {
		return nil, err
	}
	config, err := writeClickHouseConfig(cfg, password)
	if err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start clickhouse: %w", err)
	}
	cmd := exec.Command(self, clickHouseChild, filepath.Join(pkg, "libchdb.so"),
		"--config-file="+config,
		"--path="+filepath.Join(cfg.Dir, "data"),
		"--listen_host="+host,
		"--tcp_port="+strconv.Itoa(native),
		"--http_port="+strconv.Itoa(web),
		"--output-format=TSV",
		"--query="+listenQuery)
	cmd.Dir = cfg.Dir
	p, err := startProcess("clickhouse", cfg.Logs, syscall.SIGKILL, cmd)
	if err != nil {
		return nil, err
	}
	c := &ClickHouse{process: p, native: address(native), http: address(web), password: password}
	err = p.ready(ctx, func(ctx context.Context) error {
		return c.exec(ctx, "CREATE DATABASE IF NOT EXISTS "+Database+" ENGINE = Atomic")
	})
	if err != nil {
		p.Kill()
		return nil, err
	}
	cfg.Log.Info("engine ready", "engine", "clickhouse", "address", c.native, "pid", p.PID(), "took", time.Since(begin).Round(time.Millisecond))
	return c, nil
}

// listenQuery opens the listeners and then keeps the engine's command line busy,
// which is what keeps the process alive.
const listenQuery = `SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP;
SELECT sleepEachRow(1) FROM system.numbers
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1
FORMAT Null`

// DSN is the native address with credentials and database.
func (c *ClickHouse) DSN() string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(clickHouseUser, c.password), Host: c.native, Path: "/" + Database}
	return u.String()
}

// HTTPAddr is the host and port of the HTTP interface.
func (c *ClickHouse) HTTPAddr() string { return c.http }

// Stop ends the server; it finishes what it is writing. A ClickHouse started
// again on the same Dir has the same address.
func (c *ClickHouse) Stop(ctx context.Context) error { return c.stop(ctx, syscall.SIGTERM) }

func (c *ClickHouse) exec(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.http, strings.NewReader(query))
	if err != nil {
		return err
	}
	req.SetBasicAuth(clickHouseUser, c.password)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(body)))
	}
	return nil
}
