package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/deploy/engine"
)

// ZooKeeperConfig configures a ZooKeeper.
type ZooKeeperConfig struct {
	Dir   string   // of all its files; created
	Host  string   // on which it listens
	Port  int      // for clients
	ID    int      // of this one among Peers, counted from 1
	Peers []string // host:port:port of an ensemble, its ports for followers and for elections; none: it is alone
}

// ZooKeeper is a running Apache ZooKeeper, a child of this process.
type ZooKeeper struct {
	*engine.Process
	Address string
	config  ZooKeeperConfig
}

// StartZooKeeper starts the ZooKeeper of a directory and waits until it serves, in an ensemble with a majority of it.
func StartZooKeeper(ctx context.Context, c ZooKeeperConfig) (*ZooKeeper, error) {
	libs, err := engine.ZooKeeperLibs()
	if err != nil {
		return nil, fmt.Errorf("start zookeeper: %w", err)
	}
	lines := []string{
		"tickTime=500", "initLimit=20", "syncLimit=8", "admin.enableServer=false", "maxClientCnxns=0",
		"4lw.commands.whitelist=srvr", "dataDir=" + filepath.Join(c.Dir, "data"),
		"clientPortAddress=" + c.Host, "clientPort=" + strconv.Itoa(c.Port),
	}
	for i, peer := range c.Peers {
		lines = append(lines, fmt.Sprintf("server.%d=%s", i+1, peer))
	}
	config := filepath.Join(c.Dir, "zoo.cfg")
	err = errors.Join(
		os.MkdirAll(filepath.Join(c.Dir, "data"), 0o700),
		os.WriteFile(filepath.Join(c.Dir, "data", "myid"), []byte(strconv.Itoa(c.ID)), 0o600),
		os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	if err != nil {
		return nil, fmt.Errorf("start zookeeper: %w", err)
	}
	z := &ZooKeeper{config: c, Address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port))}
	cmd := exec.Command("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", //nolint:noctx // it outlives the start
		"-cp", filepath.Join(libs, "*"), "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	if z.Process, err = engine.StartProcess(ctx, "zookeeper", c.Dir, cmd, z.serves); err != nil {
		return nil, fmt.Errorf("start zookeeper: %w", err)
	}
	return z, nil
}

// Again starts it anew on its disk, after a Kill.
func (z *ZooKeeper) Again(ctx context.Context) error {
	again, err := StartZooKeeper(ctx, z.config)
	if err == nil {
		z.Process = again.Process
	}
	return err
}

// serves asks for the server's state; it answers that it does not serve while it has no majority.
func (z *ZooKeeper) serves(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", z.Address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return err
	}
	answer := make([]byte, 1<<10)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	if !strings.Contains(string(answer[:n]), "Mode:") {
		return fmt.Errorf("zookeeper: %s", answer[:n])
	}
	return nil
}
