package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/tracing"
)

// DefaultAdmin is the admin listener's address where none is chosen.
const DefaultAdmin = "127.0.0.1:9090"

// Listeners are the addresses of a server, and which traces it keeps.
type Listeners struct {
	Public     string
	Admin      string
	TraceRatio float64 // share of traces kept of those that begin here, 0 to 1
}

// traces opens the exporter of spans.
func (l Listeners) traces(p *Process) (*tracing.Traces, error) {
	cfg := tracing.Config{Endpoint: p.Settings.Traces.Endpoint(), Part: p.Command, Ratio: l.TraceRatio}
	if address, err := url.Parse(cfg.Endpoint); cfg.Endpoint != "" && err == nil {
		p.Log.Info("traces", "host", address.Host, "ratio", cfg.Ratio) // some vendors want their key in the path
	}
	return tracing.New(cfg, p.Log)
}

// listen takes the address that a flag gives.
func listen(ctx context.Context, address, flag string) (net.Listener, error) {
	listener, err := httpd.Listen(ctx, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		variable := config.Prefix + strings.ToUpper(strings.TrimPrefix(flag, "--"))
		return nil, fmt.Errorf("%w: stop what listens there, or choose another address with %s, or with "+
			"%s=127.0.0.1:0 before make, which is a free port",
			err, flag, variable)
	}
	return listener, err
}

// admin takes the operator's address; the default gives way to a free port, because one is enough to look.
func (l Listeners) admin(ctx context.Context, log *slog.Logger) (net.Listener, error) {
	listener, err := listen(ctx, l.Admin, "--admin")
	if !errors.Is(err, syscall.EADDRINUSE) || l.Admin != DefaultAdmin {
		return listener, err
	}
	if listener, err = httpd.Listen(ctx, "127.0.0.1:0"); err == nil {
		log.Warn("admin port taken", "wanted", l.Admin, "listening", listener.Addr().String(),
			"next", "nothing, unless something scrapes that port: then give --admin an address")
	}
	return listener, err
}
