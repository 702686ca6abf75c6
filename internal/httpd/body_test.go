package httpd

import (
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// Once, 400 clients that sent headers alone cost 2.5 GB: memory was taken by Content-Length. Here 40 of them would cost
// 160 MB. Of what did arrive, the budget holds all bodies but their first 64 KB, and refuses what is beyond it.
func TestMemoryGrowsWithWhatArrives(t *testing.T) {
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := New(DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	server.App.Post("/length", func(c *fiber.Ctx) error { return c.JSON(len(c.BodyRaw())) })
	server.bodies = semaphore.NewWeighted(1<<20 - smallBody)
	go func() { _ = server.Run(t.Context()) }()
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	send := func(length, bytes int) net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := fmt.Fprintf(conn, "POST /length HTTP/1.1\r\nHost: here\r\nAuthorization: x\r\n"+
			"Content-Length: %d\r\n\r\n%s", length, zeros[:bytes]); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	exchange := func(length int, want string) {
		t.Helper()
		if answer, err := readAnswer(send(length, length)); err != nil || answer != want {
			t.Errorf("%d bytes: %s, %v; want %s", length, answer, err, want)
		}
	}
	before := heap()
	for range 40 {
		send(4<<20, 0)
	}
	wait.For(t, "the connections", func() bool { return server.App.Server().GetOpenConnectionsCount() == 40 })
	exchange(1<<20, "200 1048576")
	if now := heap(); now > before+20<<20 {
		t.Errorf("%d KB are taken by 40 clients that sent no body", (now-before)>>10)
	}
	long := send(4<<20, 600<<10)
	wait.For(t, "the budget's end", func() bool {
		isFree := server.bodies.TryAcquire(1)
		if isFree {
			server.bodies.Release(1)
		}
		return !isFree
	})
	exchange(1<<20, `503 {"error":"`+errBusy.Error()+`"}`)
	exchange(64<<10, "200 65536")
	if err := long.Close(); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the budget again", func() bool {
		answer, err := readAnswer(send(1<<20, 1<<20))
		return err == nil && answer == "200 1048576"
	})
}
