package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
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
	numbered(t, servers...)
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

// numbered gives servers a number, as a migration does at its end.
func numbered(t *testing.T, servers ...string) {
	t.Helper()
	for _, server := range servers {
		c := DefaultConfig()
		c.DSN = server
		conn, err := Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		const list = "CREATE TABLE schema_migrations (version Int64) ENGINE = Memory COMMENT 'of shard 1'"
		if err := errors.Join(conn.Exec(t.Context(), list), conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that has lost Keeper or its disk catches up before it is used again; one that answers with a mistake of the
// statement, or that others are away, stays.
func TestAServerWithoutKeeperIsLeft(t *testing.T) {
	t.Parallel()
	type outcome struct{ left, refused bool }
	r := &replicas{nodes: []driver.Conn{nil}}
	for code, want := range map[int32]outcome{
		60: {true, true}, 62: {false, true}, 225: {true, false}, 236: {true, false}, 242: {true, false},
		244: {true, false}, 285: {}, 289: {}, 319: {}, 999: {true, false},
	} {
		r.current.Store(0)
		exception := &clickhouse.Exception{Code: code}
		r.noteError(t.Context(), nil, fmt.Errorf("insert: %w", exception))
		_, refused := Refused(exception)
		if got := (outcome{r.current.Load() < 0, refused}); got != want {
			t.Errorf("code %d: left, refused are %v, want %v", code, got, want)
		}
	}
}

// A replica without a number, as after the loss of its disk, is passed over, and so is a host without power. Both are
// seldom waited for.
func TestOnlyAWholeReplicaIsUsed(t *testing.T) {
	t.Parallel()
	servers := testkit.ClickHouseShards(t)
	off, err := url.Parse(servers[0])
	if err != nil {
		t.Fatal(err)
	}
	off.Host = testkit.SwitchedOff(t)
	numbered(t, servers[1])
	c := DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, off.String()+","+servers[0]+","+servers[1]
	conn, err := OpenLater(c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begin := time.Now()
	if err := conn.Ping(t.Context()); err != nil || time.Since(begin) > wait.Hang {
		t.Errorf("a ping of all took %s: %v", time.Since(begin), err)
	}
	for range 3 { // one of each address would be the first
		begin = time.Now()
		if err := conn.Exec(t.Context(), "SELECT 1"); err != nil || time.Since(begin) > wait.Hang {
			t.Errorf("a query took %s: %v", time.Since(begin), err)
		}
	}
	shard, err := conn.Shard(0)
	if err != nil {
		t.Fatal(err)
	}
	var tables uint64
	const question = "SELECT count() FROM system.tables WHERE database = currentDatabase()"
	if err := shard.QueryRow(t.Context(), question).Scan(&tables); err != nil || tables != 1 {
		t.Errorf("asked a server with %d tables: %v", tables, err)
	}
	if r := shard.Server.(*replicas); r.settle(t.Context()) == nil {
		t.Error("a server without tables has all rows")
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
