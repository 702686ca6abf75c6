//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// isolatedEnv is set in a process that has a network of its own.
const isolatedEnv = "ANSWERSCOPE_TEST_ISOLATED"

// Isolated runs a test again, in a process with a network of its own, and reports whether this is that process:
//
//	if !cluster.Isolated(t) {
//		return
//	}
//
// Engines that test binaries share cannot be reached from there.
func Isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(isolatedEnv) != "" {
		return true
	}
	var limit time.Duration // 0: none
	if deadline, ok := t.Deadline(); ok {
		limit = time.Until(deadline)
	}
	again := isolate("-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout="+limit.String())
	again.Stdout, again.Stderr = t.Output(), t.Output()
	if err := runTied(again); err != nil {
		t.Fatalf("in a network of its own, which only root may make: %v", err)
	}
	return false
}

// Isolate runs this program again in a process with a network of its own, and returns only there.
func Isolate() {
	if os.Getenv(isolatedEnv) != "" {
		return
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // the terminal sends it to both, and the other ends in order
	again := isolate(os.Args[1:]...)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := runTied(again)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// isolate returns the command of this program with a network of its own, and its own mounts, so that names of
// namespaces end with it too.
func isolate(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx // it ends when this process does
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "ANSWERSCOPE_TEST_ENGINES=")
	}), isolatedEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	return cmd
}

// runTied runs a command that does not outlive this process.
func runTied(cmd *exec.Cmd) error {
	runtime.LockOSThread() // the kernel kills the child when the thread that started it ends
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Run()
}

// network is the first part of every address; Gateway is this process's own.
const (
	network = "10.31.0."
	Gateway = network + "1"
)

// bridge joins the hosts. This process is on it too, as Gateway.
type bridge struct{ hosts int }

func newBridge() (*bridge, error) {
	if os.Getenv(isolatedEnv) == "" {
		return nil, errors.New("this process has no network of its own: call Isolated or Isolate before")
	}
	const names = "/run/netns"
	err := os.MkdirAll(names, 0o755)
	if err == nil {
		err = syscall.Mount("none", names, "tmpfs", 0, "")
	}
	if err != nil {
		return nil, fmt.Errorf("keep names of namespaces: %w", err)
	}
	return &bridge{}, ip("",
		"link set lo up",
		"link add br0 type bridge",
		"addr add "+Gateway+"/24 dev br0",
		"link set br0 up")
}

// addHost adds a network namespace with a node's address.
func (b *bridge) addHost(n *Node) error {
	b.hosts++
	n.link = fmt.Sprintf("host%d", b.hosts)
	if err := ip("", "netns add "+n.Name, "link add "+n.link+" type veth peer name eth0 netns "+n.Name,
		"link set "+n.link+" master br0 up"); err != nil {
		return err
	}
	return ip(n.Name, "link set lo up", "addr add "+n.Address+"/24 dev eth0", "link set eth0 up")
}

// PowerOff ends a node as a host that loses power does: until Start it neither answers nor refuses anything.
func (n *Node) PowerOff() error {
	return errors.Join(ip("", "link set "+n.link+" down"), n.Kill())
}

// ip runs commands of iproute2, in the namespace of a host unless that is "".
func ip(host string, commands ...string) error {
	args := []string{"-batch", "-"}
	if host != "" {
		args = append([]string{"-netns", host}, args...)
	}
	cmd := exec.CommandContext(context.Background(), "ip", args...)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run ip %s on host %q: %w: %s", strings.Join(commands, "; "), host, err, out)
	}
	return nil
}

// nowhere is the hardware address of no host: a packet to it is lost silently.
const nowhere = "02:00:00:00:00:00"

// Cut loses every packet between two hosts from now on, silently and both ways. Gateway is a host too.
func (c *Cluster) Cut(a, b string) error {
	return c.between(a, b, func(address, device string) string {
		return "neigh replace " + address + " lladdr " + nowhere + " nud permanent dev " + device
	})
}

// Heal ends Cut.
func (c *Cluster) Heal(a, b string) error {
	return c.between(a, b, func(address, device string) string { return "neigh del " + address + " dev " + device })
}

// between runs a command at each of two hosts that has the other's address.
func (c *Cluster) between(a, b string, command func(address, device string) string) error {
	var errs []error
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		host, device, address := pair[0], "eth0", Gateway
		if host == Gateway {
			host, device = "", "br0"
		}
		if n := c.Node(pair[1]); n != nil {
			address = n.Address
		}
		errs = append(errs, ip(host, command(address, device)))
	}
	return errors.Join(errs...)
}
