// Package replica gives tests servers whose tables are replicated: the embedded ClickHouse with its replication switched
// on, and the ZooKeeper that the tables meet in.
//
// The embedded engine is ClickHouse's command line. It has the whole code of replication, but only a server's main opens
// the port on which replicas fetch parts, and gives the tables its address. Here two patches do that in the memory of
// the child (see patch_linux_amd64.go). The log, the queue, sessions, deduplication, fetches and mutations are the
// engine's. A server's own start, its reload of the configuration and ON CLUSTER are not tested by this.
package replica

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/deploy/engine"
)

// Config configures a Server.
type Config struct {
	Dir           string // of all its files; created
	Host          string // the address on which it listens, and by which its replicas reach it
	Native, Parts int    // its ports: of the native protocol, and for its replicas
	Shard         string // its macros
	Replica       string
	Keepers       []string   // host:port of every ZooKeeper
	Cluster       [][]string // host:port of the servers of each shard
}

// Servers know each other as Cluster. Secret is its secret and the password of user answerscope.
const (
	Cluster = "answerscope"
	Secret  = "of the tests"
)

// RemoteServers returns the XML of Cluster for host:port of the servers of each shard.
func RemoteServers(shards [][]string) string {
	var xml strings.Builder
	fmt.Fprintf(&xml, "<%s><secret>%s</secret>", Cluster, Secret)
	for _, servers := range shards {
		xml.WriteString("<shard><internal_replication>true</internal_replication>")
		for _, server := range servers {
			host, port, _ := strings.Cut(server, ":")
			fmt.Fprintf(&xml, "<replica><host>%s</host><port>%s</port></replica>", host, port)
		}
		xml.WriteString("</shard>")
	}
	fmt.Fprintf(&xml, "</%s>", Cluster)
	return xml.String()
}

// SessionTimeout is the time after which ZooKeeper takes a silent server for lost.
const SessionTimeout = 3 * time.Second

// Server is a running ClickHouse server, a child of this process.
type Server struct {
	*engine.Process
	Config Config
}

//go:embed config.xml
var configXML string

var configTemplate = template.Must(template.New("config.xml").
	Funcs(template.FuncMap{"split": strings.Split}).Parse(configXML))

// Start starts the server of a directory and waits until it answers. Its database is default.
func Start(ctx context.Context, c Config) (*Server, error) {
	server, err := start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start replica %s of shard %s: %w", c.Replica, c.Shard, err)
	}
	return server, nil
}

func start(ctx context.Context, c Config) (*Server, error) {
	library, err := engine.ClickHouseLibrary()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	values := struct {
		Config
		Secret, RemoteServers string
		SessionTimeout        int64 // milliseconds
	}{c, Secret, RemoteServers(c.Cluster), SessionTimeout.Milliseconds()}
	if err := configTemplate.Execute(&text, values); err != nil {
		return nil, err
	}
	config := filepath.Join(c.Dir, "config.xml")
	if err := errors.Join(os.MkdirAll(c.Dir, 0o700), os.WriteFile(config, text.Bytes(), 0o600)); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, child, library, c.Host, strconv.Itoa(c.Parts), //nolint:noctx // it outlives the start
		"--config-file="+config,
		"--path="+c.data(),
		"--listen_host="+c.Host,
		"--tcp_port="+strconv.Itoa(c.Native),
		"--http_port="+strconv.Itoa(c.Parts),
		"--output-format=TSV",
		"--log-level=information",
		"--query="+listenQuery)
	s := &Server{Config: c}
	s.Process, err = engine.StartProcess(ctx, "replica", c.Dir, cmd, func(ctx context.Context) error {
		return s.Exec(ctx, "SELECT 1")
	})
	return s, err
}

// listenQuery opens both ports and never ends, like the one of the embedded engine.
const listenQuery = `SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(0.1) FROM system.numbers
SETTINGS function_sleep_max_microseconds_per_block = 0, max_block_size = 1
FORMAT Null`

func (c Config) data() string { return filepath.Join(c.Dir, "data") }

// DSN is the native address with credentials and a database.
func (s *Server) DSN(database string) string {
	user := url.UserPassword("answerscope", Secret)
	host := s.Config.Host + ":" + strconv.Itoa(s.Config.Native)
	return (&url.URL{Scheme: "clickhouse", User: user, Host: host, Path: "/" + database}).String()
}

// Exec runs a statement over a connection of its own.
func (s *Server) Exec(ctx context.Context, statement string) error {
	options, err := clickhouse.ParseDSN(s.DSN("default"))
	if err != nil {
		return err
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, statement), conn.Close())
}

// Again starts the server anew on its disk, after a Kill.
func (s *Server) Again(ctx context.Context) (err error) {
	again, err := Start(ctx, s.Config)
	if err == nil {
		s.Process = again.Process
	}
	return err
}

// child is the hidden subcommand that becomes a Server: LIBRARY HOST PORT ARG….
const child = "replica-clickhouse"

// Main runs the server of which this process is the child, if it is one, and then does not return. Call it first in
// main and in TestMain.
func Main() {
	if len(os.Args) < 6 || os.Args[1] != child {
		return
	}
	library, host, port := os.Args[2], os.Args[3], os.Args[4]
	err := engine.RunClickHouse(library, os.Args[5:], func() error { return replicate(library, host, port) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
