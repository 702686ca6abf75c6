package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/tracing"
)

// listening are the flags of every command that serves.
type listening struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the public surfaces (default 127.0.0.1:8080)."`
	administered
}

// administered are the flags of a command that an operator looks into.
type administered struct {
	Admin      string  `default:"127.0.0.1:9090" placeholder:"ADDR" help:"Address of /readyz, /metrics and pprof (default 127.0.0.1:9090, or a free port if that is taken)."`
	TraceRatio float64 `default:"1" placeholder:"SHARE" help:"Share of traces kept of those that begin here, 0 to 1 (default 1); they go to ANSWERSCOPE_OTLP_ENDPOINT, if that is set."`
}

const defaultAdmin = "127.0.0.1:9090"

func (l listening) validate() error {
	var errs []error
	if err := config.Address(l.Listen); err != nil {
		errs = append(errs, fmt.Errorf("ANSWERSCOPE_LISTEN is %q: %w", l.Listen, err))
	}
	return errors.Join(append(errs, l.administered.validate())...)
}

func (a administered) validate() error {
	var errs []error
	if err := config.Address(a.Admin); err != nil {
		errs = append(errs, fmt.Errorf("ANSWERSCOPE_ADMIN is %q: %w", a.Admin, err))
	}
	if !(a.TraceRatio >= 0 && a.TraceRatio <= 1) { // NaN is neither
		errs = append(errs, fmt.Errorf("ANSWERSCOPE_TRACE_RATIO is %v: want 0 to 1", a.TraceRatio))
	}
	return errors.Join(errs...)
}

// traces opens what the spans of a command go to.
func (a administered) traces(p *process, command string) (*tracing.Traces, error) {
	cfg := tracing.DefaultConfig()
	cfg.Endpoint, cfg.Part, cfg.Ratio = p.Traces.Endpoint(), command, a.TraceRatio
	if cfg.Endpoint != "" {
		p.log.Info("traces", "host", hostOf(cfg.Endpoint), "ratio", cfg.Ratio) // some vendors want their key in the path
	}
	return tracing.New(cfg, p.log)
}

// public takes the address of the public surfaces.
func (l listening) public(ctx context.Context) (net.Listener, error) {
	listener, err := httpd.Listen(ctx, l.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: stop what listens there, or choose another address with --listen", err)
	}
	return listener, err
}

// operator takes the operator's address; the default gives way to a free port, because one is enough to look.
func (a administered) operator(ctx context.Context, p *process) (net.Listener, error) {
	listener, err := httpd.Listen(ctx, a.Admin)
	if errors.Is(err, syscall.EADDRINUSE) && a.Admin == defaultAdmin {
		listener, err = httpd.Listen(ctx, "127.0.0.1:0")
		if err == nil {
			p.log.Warn("admin port taken", "wanted", a.Admin, "listening", listener.Addr().String(),
				"next", "nothing, unless something scrapes that port: then give --admin an address")
		}
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: stop what listens there, or choose another address with --admin", err)
	}
	return listener, err
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
