package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/tracing"
)

// listenFlags are the flags of every command that serves.
type listenFlags struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the public surfaces (default 127.0.0.1:8080)."`
	apiFlags
	adminFlags
	proxyFlags
}

// proxyFlags are the flags of every command that wants to know where its clients are.
type proxyFlags struct {
	TrustedProxies []string `placeholder:"CIDR" help:"Addresses of proxies whose X-Forwarded-For is believed, and the collector's country header, such as 10.0.0.0/8; none by default."`
}

func (p proxyFlags) proxies() (httpd.Proxies, error) {
	list, err := httpd.ParseProxies(p.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("ANSWERSCOPE_TRUSTED_PROXIES has %w", err)
	}
	return list, nil
}

// adminFlags are the flags of a command that an operator looks into.
type adminFlags struct {
	Admin      string  `default:"127.0.0.1:9090" placeholder:"ADDR" help:"Address of /readyz, /metrics and pprof (default 127.0.0.1:9090, or a free port if that is taken)."`
	TraceRatio float64 `default:"1" placeholder:"SHARE" help:"Share of traces kept of those that begin here, 0 to 1 (default 1); they go to ANSWERSCOPE_OTLP_ENDPOINT, if that is set."`
}

const defaultAdmin = "127.0.0.1:9090"

func (l listenFlags) validate() error {
	_, err := l.proxies()
	return errors.Join(checkAddress("LISTEN", l.Listen), l.apiFlags.config().Validate(), l.adminFlags.validate(), err)
}

func (a adminFlags) validate() error {
	err := checkAddress("ADMIN", a.Admin)
	if !(a.TraceRatio >= 0 && a.TraceRatio <= 1) { // NaN is neither
		err = errors.Join(err, fmt.Errorf("ANSWERSCOPE_TRACE_RATIO is %v: want 0 to 1", a.TraceRatio))
	}
	return err
}

func checkAddress(name, address string) error {
	if err := config.Address(address); err != nil {
		return fmt.Errorf("ANSWERSCOPE_%s is %q: %w", name, address, err)
	}
	return nil
}

// traces opens what the spans of a command go to.
func (a adminFlags) traces(p *process) (*tracing.Traces, error) {
	cfg := tracing.DefaultConfig()
	cfg.Endpoint, cfg.Part, cfg.Ratio = p.settings.Traces.Endpoint(), p.command, a.TraceRatio
	if address, err := url.Parse(cfg.Endpoint); cfg.Endpoint != "" && err == nil {
		p.log.Info("traces", "host", address.Host, "ratio", cfg.Ratio) // some vendors want their key in the path
	}
	return tracing.New(cfg, p.log)
}

// listen takes the address that a flag gives.
func listen(ctx context.Context, address, flag string) (net.Listener, error) {
	listener, err := httpd.Listen(ctx, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		variable := config.Prefix + strings.ToUpper(strings.TrimPrefix(flag, "--"))
		return nil, fmt.Errorf("%w: stop what listens there, or choose another address with %s, or with %s=127.0.0.1:0 before make, which is a free port",
			err, flag, variable)
	}
	return listener, err
}

// operator takes the operator's address; the default gives way to a free port, because one is enough to look.
func (a adminFlags) operator(ctx context.Context, p *process) (net.Listener, error) {
	listener, err := listen(ctx, a.Admin, "--admin")
	if !errors.Is(err, syscall.EADDRINUSE) || a.Admin != defaultAdmin {
		return listener, err
	}
	if listener, err = httpd.Listen(ctx, "127.0.0.1:0"); err == nil {
		p.log.Warn("admin port taken", "wanted", a.Admin, "listening", listener.Addr().String(),
			"next", "nothing, unless something scrapes that port: then give --admin an address")
	}
	return listener, err
}
