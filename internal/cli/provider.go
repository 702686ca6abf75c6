package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/term"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/service"
)

type providerCmd struct {
	Set    providerSet    `cmd:"" help:"Give an organization a key of its own for an AI platform; it is read from stdin."`
	List   providerList   `cmd:"" help:"List the AI platforms: which can be asked, their models, prices and limits."`
	Remove providerRemove `cmd:"" help:"Take an organization's key of an AI platform from it."`
}

type providerSet struct {
	Platform string `arg:"" help:"${platforms}."`
	Org      string `required:"" placeholder:"SLUG" help:"Whose key it is."`
}

func (c *providerSet) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		known, organization, err := on.providers(ctx, c.Org)
		if err != nil {
			return err
		}
		key, err := p.readKey(ctx, c.Platform)
		if err != nil {
			return err
		}
		if err := asUsage(known.SetKey(ctx, uuid.Nil, organization, c.Platform, key)); err != nil {
			return err
		}
		p.say("%s is asked with the key of %s from now on", c.Platform, c.Org)
		return nil
	})
}

type providerRemove struct {
	Platform string `arg:"" help:"Of the key."`
	Org      string `required:"" placeholder:"SLUG" help:"Whose key it is."`
}

func (c *providerRemove) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		known, organization, err := on.providers(ctx, c.Org)
		if err != nil {
			return err
		}
		return asUsage(known.RemoveKey(ctx, uuid.Nil, organization, c.Platform))
	})
}

// asUsage makes a wrong argument the usage error that it is.
func asUsage(err error) error {
	if kind, _ := problem.Of(err); kind == problem.Invalid {
		return usageError{err}
	}
	return err
}

type providerList struct {
	Org  string `placeholder:"SLUG" help:"As that organization has them, with keys of its own; without it, as the environment says."`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

func (c *providerList) Run(ctx context.Context, p *process) error {
	if c.Org == "" {
		if err := p.Settings.Validate(); err != nil {
			return usageError{err}
		}
		return c.print(ctx, p, tracking.NewPlatforms(p.Settings.Outside, nil, secret.Ring{}), uuid.Nil)
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		known, organization, err := on.providers(ctx, c.Org)
		if err != nil {
			return err
		}
		return c.print(ctx, p, known, organization)
	})
}

func (c *providerList) print(ctx context.Context, p *process, known *tracking.Platforms, organization uuid.UUID) error {
	list, err := known.List(ctx, organization)
	if err != nil {
		return err
	}
	var views []tracking.View
	for _, found := range list {
		views = append(views, found.View())
	}
	if c.JSON {
		return printList(p, true, views, func(tracking.View) string { return "" })
	}
	var lines []string
	for _, v := range views {
		lines = append(lines, providerLines(v)...)
	}
	columns := []string{"PLATFORM", "KEY", "MODEL", "PER MILLION TOKENS IN, OUT", "PER 1000 SEARCHES", "PRICE OF", "LIMITS"}
	if err := printList(p, false, lines, func(line string) string { return line }, columns...); err != nil {
		return err
	}
	for _, v := range views {
		if v.Reason == "" {
			continue
		}
		if err := p.print(v.Platform + ": " + v.Reason); err != nil {
			return err
		}
	}
	return nil
}

// providerLines are a provider in a table, a line a model.
func providerLines(v tracking.View) []string {
	key := cmp.Or(v.KeyFrom, "none needed")
	if v.KeyEnd != "" {
		key += " …" + v.KeyEnd
	}
	if !v.Available {
		key = "unavailable"
	}
	limits := v.Limits.String()
	var lines []string
	for i, m := range v.Models {
		start, end := v.Platform+"\t"+key, limits
		if i > 0 {
			start, end = "\t", ""
		}
		price := "not known\t\t"
		if m.Price != nil {
			price = fmt.Sprintf("%s, %s %s\t%s\t%s", m.Price.PerMillionInputTokens, m.Price.PerMillionOutputTokens, m.Price.Currency, m.Price.PerThousandSearches, m.Price.Date)
		}
		lines = append(lines, start+"\t"+m.Slug+"\t"+price+"\t"+end)
	}
	return lines
}

// providers are the AI platforms as an organization has them.
func (e *engines) providers(ctx context.Context, org string) (*tracking.Platforms, uuid.UUID, error) {
	known, err := newPlatforms(e.Engines)
	if err != nil {
		return nil, uuid.Nil, err
	}
	organization, err := e.organization(ctx, org)
	return known, organization.ID, err
}

// readKey reads a key: from a terminal without showing it, or the first line of stdin.
func (p *process) readKey(ctx context.Context, platform string) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		if file, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			fmt.Fprintf(p.stderr, "API key of %s: ", platform)
			text, err := term.ReadPassword(int(file.Fd()))
			fmt.Fprintln(p.stderr)
			done <- read{string(text), err}
			return
		}
		text, err := bufio.NewReader(p.stdin).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read key: %w", r.err)
		}
		return strings.TrimSpace(r.text), nil
	}
}
