package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/service"
)

// listenFlags are the flags of every command that serves /api/v1.
type listenFlags struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" help:"{public_listen}"`
	apiFlags
	adminFlags
	proxyFlags
}

// proxyFlags are the flags of every command that limits or logs the addresses of its clients.
type proxyFlags struct {
	TrustedProxies []string `placeholder:"CIDR" help:"{trusted_proxies}"`
}

func (p proxyFlags) proxies() (httpd.Proxies, error) {
	list, err := httpd.ParseProxies(p.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("ANSWERSCOPE_TRUSTED_PROXIES has %w", err)
	}
	return list, nil
}

// adminFlags are the flags of every server.
type adminFlags struct {
	Admin      string  `default:"127.0.0.1:9090" placeholder:"ADDR" help:"{admin_listen}"`
	TraceRatio float64 `default:"1" placeholder:"SHARE" help:"{admin_trace_ratio}"`
}

func (l listenFlags) validate(s config.Settings) error {
	_, err := l.proxies()
	return errors.Join(l.adminFlags.validate(l.Listen), l.apiFlags.config().Validate(), l.validateOAuth(s), err)
}

// validate checks them and the address of the public listener.
func (a adminFlags) validate(listen string) error {
	err := errors.Join(checkAddress("LISTEN", listen), checkAddress("ADMIN", a.Admin))
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

func (a adminFlags) listeners(public string) service.Listeners {
	return service.Listeners{Public: public, Admin: a.Admin, TraceRatio: a.TraceRatio}
}

// serve runs a spec, unless its flags are wrong, and prints the ready line once everything is ready.
func (p *process) serve(ctx context.Context, wrong error, spec service.Spec) error {
	if err := errors.Join(p.Settings.Validate(), wrong); err != nil {
		return usageError{err}
	}
	level := slog.LevelInfo
	if p.Command == "demo" {
		level = slog.LevelWarn // its closing lines are to be read
	}
	p.Log = p.logger(level)
	if err := p.checkEngines(spec); err != nil {
		return usageError{err}
	}
	prepare := spec.Ready
	spec.Ready = func(ctx context.Context, url string) error {
		if prepare != nil {
			if err := prepare(ctx, url); err != nil {
				return err
			}
		}
		return p.print("ready " + url)
	}
	return service.Run(ctx, &p.Process, spec, thisBuild().metric())
}

// checkEngines warns of variables that name no setting. If some engines of a server are given and others are not, one
// of the variables may be a misspelt address of an engine, and an empty engine would be started instead.
func (p *process) checkEngines(spec service.Spec) error {
	for _, unknown := range p.unknown {
		p.Log.Warn("a variable has no effect", "cause", unknown, "next", "correct its name, or remove it")
	}
	embedded := p.Embedded(spec.Needs)
	if spec.Exclusive || embedded == (service.Needs{}) || embedded == spec.Needs {
		return nil
	}
	if len(p.unknown) > 0 {
		return fmt.Errorf("some engines are given and others are not, and %w", errors.Join(p.unknown...))
	}
	p.Log.Warn("some engines are given, and the others are started in the data directory", "directory",
		p.Settings.DataDir,
		"next", "nothing, if that is meant; else give the addresses of all")
	return nil
}
