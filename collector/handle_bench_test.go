package collector

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/internal/httpd"
)

// BenchmarkHandle is what a beacon costs between its request's having been read and its answer's being written, without
// its append: the hot path without the server and the log.
func BenchmarkHandle(b *testing.B) {
	s := &environment{metrics: prometheus.NewRegistry()}
	sites, visitors := s.sites(b, slog.New(slog.DiscardHandler))
	cfg := DefaultConfig()
	cfg.SiteLimit = 10_000_000
	c, err := New(cfg, Parts{
		Sites: sites, Visitors: visitors, Append: func(context.Context, string, ...[]byte) error { return nil },
	}, s.metrics, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	listener, err := httpd.Listen(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	server := httpd.New(Listener(), listener, slog.New(slog.DiscardHandler), s.metrics)
	c.Mount(server)
	handle := server.App.Handler()
	request := benchRequest(b, s.lumen)
	b.ReportAllocs()
	b.ResetTimer() // the sites are those of a database
	b.RunParallel(func(next *testing.PB) {
		var ctx fasthttp.RequestCtx
		for next.Next() {
			ctx.Init(request, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 40000}, nil)
			handle(&ctx)
			if status := ctx.Response.StatusCode(); status != 204 {
				b.Errorf("status %d: %s", status, ctx.Response.Body())
				return
			}
			ctx.Response.Reset()
		}
	})
}

// benchRequest is a first view, as Chromium sends it.
func benchRequest(b *testing.B, of brandOf) *fasthttp.Request {
	b.Helper()
	body := fmt.Sprintf(`{"b":"%s","u":"https://www.lumen.example/shop/espresso-machines?utm_source=chatgpt.com",`+
		`"r":"https://chatgpt.com/",`+
		`"i":"chatgpt0.0123456789012345","n":1,"s":"chatgpt","l":"en-US","d":"1920x1080","z":"Europe/Berlin"}`,
		of.brand)
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: t.example\r\nContent-Length: %d\r\nUser-Agent: "+
		"%s\r\nContent-Type: text/plain;charset=UTF-8\r\n"+
		"Accept: */*\r\nOrigin: https://www.lumen.example\r\nSec-Fetch-Site: cross-site\r\nReferer: "+
		"https://www.lumen.example/\r\n\r\n%s", Path, len(body), chrome, body)
	request := new(fasthttp.Request)
	if err := request.Read(bufio.NewReader(strings.NewReader(text))); err != nil {
		b.Fatal(err)
	}
	return request
}
