package clickhouse

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/answerscope/answerscope/internal/testkit"
)

// A line leads to a server until it is cut.
type line struct {
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func lineTo(t *testing.T, at, server string) *line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, near, far)
			l.mu.Unlock()
			go func() { _, _ = io.Copy(far, near) }()
			go func() { _, _ = io.Copy(near, far) }()
		}
	}()
	t.Cleanup(l.cut)
	return l
}

func (l *line) cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		_ = conn.Close()
	}
}

// What was inserted at one replica is looked up there: all goes to the same one until it is gone, and then stays with
// the other. (The embedded engines copy nothing from each other; here they show where statements go.)
func TestAShardIsOneReplicaUntilItIsGone(t *testing.T) {
	t.Parallel()
	servers := testkit.ClickHouseShards(t)
	first, err := url.Parse(servers[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := url.Parse(servers[1])
	if err != nil {
		t.Fatal(err)
	}
	l := lineTo(t, "127.0.0.1:0", first.Host)
	address, port := l.listener.Addr().String(), first.Port()
	first.Host = address
	first.Path, second.Path = "/default", "/default"
	r, err := newReplicas(DefaultConfig(), 0, []string{first.String(), second.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if all := (&Conn{shards: []*Conn{{Server: r}}}); !all.Replicated() {
		t.Error("a shard of two servers is not replicated")
	}
	query := func() (at string, err error) {
		err = r.QueryRow(t.Context(), "SELECT toString(tcpPort())").Scan(&at)
		return at, err
	}
	want := func(port string) {
		t.Helper()
		for range 3 {
			if at, err := query(); err != nil || at != port {
				t.Fatalf("asked %s, %v; want %s", at, err, port)
			}
		}
	}
	want(port)
	if err := r.Exec(t.Context(), "a mistake"); err == nil {
		t.Error("a mistake was no error")
	}
	want(port) // that was an answer

	batch, err := r.PrepareBatch(t.Context(), "INSERT INTO FUNCTION null('n UInt8') (n)")
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	l.cut()
	if err := batch.Append(uint8(1)); err != nil {
		t.Fatal(err)
	}
	if err := batch.Send(); err == nil {
		t.Error("a batch was sent to a server that was gone")
	}
	want(second.Port())
	lineTo(t, address, net.JoinHostPort("127.0.0.1", port))
	want(second.Port()) // whatever is back
	if err := r.Select(t.Context(), &[]struct{}{}, "SELECT 1 WHERE 0"); err != nil {
		t.Error(err)
	}
}

// A server that has lost Keeper or its replicas catches up before it is used again; one that answers with a mistake of
// the statement stays.
func TestAServerWithoutKeeperIsLeft(t *testing.T) {
	t.Parallel()
	r := &replicas{nodes: []driver.Conn{nil}}
	for code, want := range map[int32]int32{
		62: 0, 225: -1, 236: -1, 242: -1, 244: -1, 285: -1, 289: -1, 319: -1, 999: -1,
	} {
		r.current.Store(0)
		r.noteError(t.Context(), nil, fmt.Errorf("insert: %w", &clickhouse.Exception{Code: code}))
		if got := r.current.Load(); got != want {
			t.Errorf("after code %d the current server is %d, want %d", code, got, want)
		}
		if _, refused := Refused(&clickhouse.Exception{Code: code}); refused != (want == 0) {
			t.Errorf("code %d: refused is %v", code, refused)
		}
	}
}

// An export is read from any server of a cluster that answers.
func TestAnExportDoesWithoutALostServer(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	servers := testkit.ClickHouseShards(t)
	lost, err := url.Parse(servers[0])
	if err != nil {
		t.Fatal(err)
	}
	lost.Host = "127.0.0.1:1"
	c.Cluster, c.Shards = testkit.Cluster, lost.String()+","+servers[0]+";"+servers[1]
	conn, err := openHTTP(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
