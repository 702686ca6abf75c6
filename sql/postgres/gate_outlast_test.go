package postgres_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// The sinks stay stopped while the process that stopped them is gone, as long as it
// asked for, and go on at once when it says so.
func TestAStopOutlastsItsProcess(t *testing.T) {
	other, dsn := migrated(t)
	w := wireTo(t, dsn)
	db := open(t, w.dsn)
	stop, err := db.StopSinks(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	end, err := stop.Outlast(t.Context(), db, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if stopped(t, other, 0) {
		t.Error("stopped twice")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := stop.Held(t.Context()); err != nil {
		t.Error(err)
	}
	killed, err := stop.Outlast(t.Context(), db, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.cut()
	if stopped(t, other, 0) {
		t.Error("the sinks went on with the connection")
	}
	if err := killed(); err == nil {
		t.Error("the stop was lost, and nobody said so")
	}
	patience, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	hold, err := other.HoldSinks(patience, 0)
	if err != nil {
		t.Fatal(err)
	}
	hold.Release()
}

// A wire leads to a server until it is cut: what was sent has arrived, and nobody
// can say anything any more, as when a process is killed.
type wire struct {
	dsn      string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func wireTo(t *testing.T, dsn string) *wire {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener}
	server := address.Host
	address.Host = listener.Addr().String()
	w.dsn = address.String()
	go w.accept(server)
	t.Cleanup(w.cut)
	return w
}

func (w *wire) accept(server string) {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", server)
		if err != nil {
			near.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, near, far)
		w.mu.Unlock()
		for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				io.Copy(pair[0], pair[1])
				pair[0].Close()
			}()
		}
	}
}

func (w *wire) cut() {
	w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.open {
		conn.Close()
	}
}
