//go:build linux

package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// A Service is a process of the product. Several of a name are behind a balancer.
type Service struct {
	Name    string // such as queryapi: its nodes are queryapi-1, queryapi-2
	Count   int
	Program []string // path and arguments; it listens on ANSWERSCOPE_LISTEN
	Env     []string // name=value, beside Cluster.Env
}

const (
	servicePort = 8080
	// balancedPort and the ports after it are those of services on Gateway, in their order.
	balancedPort = 8081
)

// Migrate brings up schemas and topics with the program of the product, whose path is given, and settings beside Env.
func (c *Cluster) Migrate(ctx context.Context, program string, env ...string) error {
	migrate := exec.CommandContext(ctx, program, "migrate")
	migrate.Dir = c.dir
	migrate.Env = slices.Concat(slices.DeleteFunc(os.Environ(), isSetting), c.Env("postgres"), env)
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}
	return nil
}

// StartServices starts services, the nodes of all at once. Call Migrate before.
func (c *Cluster) StartServices(ctx context.Context, services []Service) error {
	starting, startCtx := errgroup.WithContext(ctx)
	for i, s := range services {
		for n := range s.Count {
			node := c.addService(s, n+1)
			if err := c.bridge.addHost(node); err != nil {
				return err
			}
			starting.Go(func() error { return node.Start(startCtx) })
		}
		c.balanced[s.Name] = net.JoinHostPort(Gateway, strconv.Itoa(balancedPort+i))
		if err := balance(c.balanced[s.Name], c.Addresses(s.Name)); err != nil {
			return err
		}
	}
	return starting.Wait()
}

func (c *Cluster) addService(s Service, n int) *Node {
	c.services++
	node := c.add(s.Name, fmt.Sprintf("%s-%d", s.Name, n), strconv.Itoa(60+c.services), servicePort)
	node.program = s.Program
	node.env = append(c.Env("answerscope"),
		"ANSWERSCOPE_LISTEN="+node.HostPort(), "ANSWERSCOPE_DATA_DIR="+filepath.Join(node.Dir, "data"))
	node.env = append(node.env, s.Env...)
	return node
}

// Balanced returns host:port of the balancer before a service's nodes.
func (c *Cluster) Balanced(service string) string { return c.balanced[service] }
