//go:build linux

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/replica"
)

// A Node is a process on a host of its own, which stays when the process ends.
type Node struct {
	Name    string // of the node and of its host
	Kind    string // kafka, postgres, clickhouse, zookeeper, or the name of a service
	Address string // of the host
	Port    int
	Dir     string // of all its files

	settings []string // of Kafka and PostgreSQL: name=value
	server   *replica.Config
	keeper   *replica.ZooKeeperConfig
	program  []string // of a service, instead of an engine
	env      []string // of the service

	link    string // of its host at the bridge
	demoted bool   // it was the primary of PostgreSQL, whose files would make a second one

	mu      sync.Mutex
	pid     int           // of the engine or service
	process *os.Process   // what this process has started: the service, or runNode
	done    chan struct{} // closed when that has ended
}

// Node returns the node of a name; nil if there is none.
func (c *Cluster) Node(name string) *Node {
	for _, n := range c.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// HostPort is the address of its clients.
func (n *Node) HostPort() string { return net.JoinHostPort(n.Address, strconv.Itoa(n.Port)) }

// PID is the process to kill; 0 if the node does not run.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pid
}

// Log is the file with the output of its process.
func (n *Node) Log() string { return filepath.Join(n.Dir, "node.log") }

// startTimeout bounds a start on a machine that is busy with those of other nodes.
const startTimeout = 2 * time.Minute

// Start starts a node that does not run, with the files that it has, and waits until it answers.
func (n *Node) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if n.PID() != 0 {
		return fmt.Errorf("start %s: it runs", n.Name)
	}
	if n.demoted {
		return fmt.Errorf("start %s: it was the primary: remake it as a standby", n.Name)
	}
	if err := n.start(ctx); err != nil {
		log, _ := os.ReadFile(n.Log()) // the error is clear without it too
		return fmt.Errorf("start %s: %w: %s", n.Name, err, log[max(0, len(log)-2000):])
	}
	return nil
}

func (n *Node) start(ctx context.Context) error {
	if err := errors.Join(ip("", "link set "+n.link+" up"), os.MkdirAll(n.Dir, 0o755)); err != nil {
		return err
	}
	log, err := os.OpenFile(n.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, err := n.command()
	if err != nil {
		return err
	}
	cmd.Stderr, cmd.Stdout = log, log
	var ready io.Reader
	if n.program == nil {
		cmd.Stdout = nil
		if ready, err = cmd.StdoutPipe(); err != nil {
			return err
		}
	}
	if err := n.spawn(cmd); err != nil {
		return err
	}
	if n.program != nil {
		return n.awaitService(ctx)
	}
	return n.awaitEngine(ctx, ready)
}

// spawn starts the command on a thread that lives as long, for the kernel kills the child when its thread ends.
func (n *Node) spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Setpgid: true, Unshareflags: syscall.CLONE_NEWUTS, // for the host's name
	}
	started := make(chan error)
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		if err == nil {
			n.mu.Lock()
			n.process, n.pid, n.done = cmd.Process, cmd.Process.Pid, done
			n.mu.Unlock()
		}
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // how it ended is in its log
		n.mu.Lock()
		n.pid, n.process = 0, nil
		n.mu.Unlock()
		close(done)
	}()
	return <-started
}

// command returns the process on the node's host: the service, or this program as runNode.
func (n *Node) command() (*exec.Cmd, error) {
	program := n.program
	if program == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(spec{n.Name, n.Kind, n.Dir, n.Address, n.settings, n.server, n.keeper})
		if err != nil {
			return nil, err
		}
		program = []string{self, nodeCommand, string(text)}
	}
	program = append([]string{"--net=/run/netns/" + n.Name}, program...)
	cmd := exec.Command("nsenter", program...) //nolint:noctx // it outlives the context of its start
	if n.program != nil {                      // it refuses settings that it does not know
		cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), n.env...)
	}
	return cmd, nil
}

func isSetting(entry string) bool { return strings.HasPrefix(entry, "ANSWERSCOPE_") }

// awaitEngine waits for the line that runNode prints.
func (n *Node) awaitEngine(ctx context.Context, ready io.Reader) error {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(ready).ReadString('\n') // "" if it has ended
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		pid, err := strconv.Atoi(text)
		if err != nil {
			return errors.Join(errors.New("its engine did not start"), n.Kill())
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.process != nil {
			n.pid = pid
		}
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), n.Kill())
	}
}

// awaitService waits until the service accepts a connection.
func (n *Node) awaitService(ctx context.Context) error {
	dialer := net.Dialer{Timeout: time.Second}
	for n.PID() != 0 {
		conn, err := dialer.DialContext(ctx, "tcp", n.HostPort())
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err, n.Kill())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.New("it has ended")
}

// Kill kills the engine or service (kill -9) and returns when it has ended.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

// Stop asks the engine or service to end, and returns when it has.
func (n *Node) Stop() error { return n.end(syscall.SIGTERM) }

func (n *Node) end(signal syscall.Signal) error {
	n.mu.Lock()
	pid, process, done := n.pid, n.process, n.done
	n.mu.Unlock()
	if process == nil {
		return nil
	}
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end %s: %w", n.Name, err)
	}
	<-done
	return nil
}

// LoseDisk kills a node and removes its data. Kafka's metadata log is on another disk: a voter that loses its metadata
// may lose what was committed (KIP-853 says how to replace one).
func (n *Node) LoseDisk() error {
	return errors.Join(n.Kill(), os.RemoveAll(filepath.Join(n.Dir, "data")))
}

// nodeCommand is the hidden subcommand of runNode.
const nodeCommand = "cluster-node"

// spec is the argument of runNode.
type spec struct {
	Name, Kind, Dir, Host string
	Settings              []string
	Server                *replica.Config
	Keeper                *replica.ZooKeeperConfig
}

// runNode runs an engine on this host until the engine ends, or is to end. It prints the engine's process id when the
// engine answers.
func runNode(text string) error {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(s.Name)); err != nil {
		return fmt.Errorf("name host %s: %w", s.Name, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	running, err := s.start(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, running.PID())
	select {
	case <-running.Done():
		return running.Err()
	case <-ctx.Done():
		if r, ok := running.(interface {
			Stop(ctx context.Context) error
		}); ok {
			return r.Stop(context.Background())
		}
		running.Kill()
		return nil
	}
}

// running is an engine. The replicated ClickHouse and ZooKeeper cannot be stopped in order.
type running interface {
	PID() int
	Done() <-chan struct{}
	Err() error
	Kill()
}

func (s spec) start(ctx context.Context) (running, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch s.Kind {
	case "kafka":
		err := errors.Join(s.storePort("kafka", brokerPort), s.storePort("kafka-controller", controllerPort))
		if err != nil {
			return nil, err
		}
		return engine.StartApacheKafka(ctx,
			engine.ApacheKafkaConfig{Dir: s.Dir, Host: s.Host, Properties: s.Settings, Log: log})
	case "postgres":
		if err := s.storePort("postgres", postgresPort); err != nil {
			return nil, err
		}
		return engine.StartPostgres(ctx,
			engine.PostgresConfig{Dir: s.Dir, Host: s.Host, Settings: s.Settings, NoSync: true, Log: log})
	case "zookeeper":
		return replica.StartZooKeeper(ctx, *s.Keeper)
	case "clickhouse":
		server, err := replica.Start(ctx, *s.Server)
		if err == nil {
			err = server.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+engine.Database+" ENGINE = Atomic")
		}
		return server, err
	}
	return nil, fmt.Errorf("no engine %q", s.Kind)
}

// storePort writes the file in which an engine looks for the port that it had.
func (s spec) storePort(name string, port int) error {
	return os.WriteFile(filepath.Join(s.Dir, name+".port"), []byte(strconv.Itoa(port)), 0o644)
}
