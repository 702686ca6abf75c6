//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// backendTimeout is how long a backend may take to accept a connection.
const backendTimeout = 300 * time.Millisecond

// balancer forwards each connection to the next of several addresses that accepts one.
type balancer struct {
	backends []string
	next     atomic.Int64
}

// balance listens on an address until the process ends.
func balance(address string, backends []string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("balance: %w", err)
	}
	b := &balancer{backends: backends}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go b.forward(client)
		}
	}()
	return nil
}

func (b *balancer) forward(client net.Conn) {
	defer client.Close()
	server, err := b.dial()
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(pair[1], pair[0]) // its error ends the connection, as its end does
			_ = pair[1].(*net.TCPConn).CloseWrite()
		})
	}
	both.Wait()
}

func (b *balancer) dial() (net.Conn, error) {
	dialer := net.Dialer{Timeout: backendTimeout}
	var errs []error
	for range b.backends {
		backend := b.backends[int(b.next.Add(1))%len(b.backends)]
		conn, err := dialer.DialContext(context.Background(), "tcp", backend)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
