package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

type providerCmd struct {
	Set    providerSet    `cmd:"" help:"Give an organization a key of its own, read from stdin."`
	List   providerList   `cmd:"" help:"List what can be asked, with whose key, models, prices and limits."`
	Remove providerRemove `cmd:"" help:"Take an organization's key from it."`
	Limits providerLimits `cmd:"" help:"Set or show how much an organization's account may be asked."`
	Order  providerOrder  `cmd:"" help:"Set which providers capture a consumer surface for an organization."`
}

type providerOrder struct {
	Surface   string   `arg:"" help:"A consumer surface, such as google-ai-mode."`
	Providers []string `arg:"" optional:"" placeholder:"P" help:"{provider_order}"`
	orgFlags
}

func (c *providerOrder) Run(
	ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization,
) error {
	platforms, err := newPlatforms(p.Settings, db)
	if err != nil {
		return err
	}
	if err := asUsage(platforms.SetOrder(ctx, uuid.Nil, organization.ID, c.Surface, c.Providers)); err != nil {
		return err
	}
	listed, err := platforms.Find(ctx, organization.ID, c.Surface)
	if err != nil {
		return err
	}
	return p.print(c.Surface + ": " + providersText(listed.View()))
}

// providersText names the providers of a surface in their order, each with the source of its key.
func providersText(v tracking.View) string {
	var names []string
	for _, provider := range v.Providers {
		names = append(names, provider.Provider+" ("+provider.KeyFrom+")")
	}
	return cmp.Or(strings.Join(names, ", "), "unavailable: "+v.Reason)
}

type providerSet struct {
	Platform string `arg:"" help:"{key_platform}"`
	orgFlags
}

func (c *providerSet) Run(ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization) error {
	platforms, err := newPlatforms(p.Settings, db)
	if err != nil {
		return err
	}
	key, err := p.readLine(ctx, "API key of "+c.Platform)
	if err != nil {
		return err
	}
	if err := asUsage(platforms.SetKey(ctx, uuid.Nil, organization.ID, c.Platform,
		strings.TrimSpace(key))); err != nil {
		return err
	}
	p.say("%s is asked with the key of %s from now on", c.Platform, c.Org)
	return nil
}

type providerRemove struct {
	Platform string `arg:"" help:"{key_platform}"`
	orgFlags
}

func (c *providerRemove) Run(
	ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization,
) error {
	platforms, err := newPlatforms(p.Settings, db)
	if err != nil {
		return err
	}
	return asUsage(platforms.RemoveKey(ctx, uuid.Nil, organization.ID, c.Platform))
}

type providerLimits struct {
	Platform string `arg:"" help:"{key_platform}"`
	orgFlags
	Requests *int `placeholder:"N" help:"Requests a minute, 1 to 1000000."`
	Tokens   *int `placeholder:"N" help:"Tokens a minute, up to 1000000000; 0: no limit."`
	InFlight *int `placeholder:"N" help:"Requests at one time, 1 to 1000000."`
	Reset    bool `help:"Remove the limits that the organization has set."`
}

func (c *providerLimits) limits() postgres.AccountLimits {
	return postgres.AccountLimits{RequestsPerMinute: c.Requests, TokensPerMinute: c.Tokens, InFlight: c.InFlight}
}

// Validate checks the limits.
func (c *providerLimits) Validate() error {
	if c.Reset && c.limits() != (postgres.AccountLimits{}) {
		return errors.New("want either limits or --reset")
	}
	return tracking.CheckLimits(c.limits())
}

func (c *providerLimits) Run(
	ctx context.Context, p *process, db *postgres.DB, organization postgres.Organization,
) error {
	platforms, err := newPlatforms(p.Settings, db)
	if err != nil {
		return err
	}
	limits := postgres.ProviderLimits{
		OrganizationID: organization.ID, Platform: c.Platform, AccountLimits: c.limits(),
	}
	if c.Reset || limits.AccountLimits != (postgres.AccountLimits{}) {
		err = platforms.SetLimits(ctx, uuid.Nil, limits)
	} else {
		_, err = platforms.OwnLimits(ctx, organization.ID, c.Platform) // refuses what has no account
	}
	if err != nil {
		return asUsage(err)
	}
	listed, err := platforms.Find(ctx, organization.ID, c.Platform)
	if err != nil {
		return err
	}
	return p.print(c.Platform + ": " + limitsText(listed.View()))
}

// limitsText describes limits with the source of each.
func limitsText(v tracking.View) string {
	from := v.LimitsFrom
	source := from.RequestsPerMinute
	if from.TokensPerMinute != source || from.InFlight != source {
		source = fmt.Sprintf("requests: %s, tokens: %s, at a time: %s",
			from.RequestsPerMinute, from.TokensPerMinute, from.InFlight)
	}
	return v.Limits.String() + " (" + source + ")"
}

// asUsage makes a wrong argument the usage error that it is.
func asUsage(err error) error {
	_, refused := errors.AsType[postgres.ErrValue](err)
	if kind, _ := problem.Of(err); refused || kind == problem.Invalid || kind == problem.Unprocessable {
		return usageError{err}
	}
	return err
}

type providerList struct {
	Org  string `placeholder:"SLUG" help:"{provider_org}"`
	JSON bool   `name:"json" help:"One JSON object a line."`
}

func (c *providerList) Run(ctx context.Context, p *process) error {
	platforms, organization, err := c.platforms(ctx, p)
	if err != nil {
		return err
	}
	list, providers, err := platforms.All(ctx, organization)
	if err != nil {
		return err
	}
	var views []tracking.View
	var lines []string
	for _, listed := range append(list, providers...) {
		view := listed.View()
		views, lines = append(views, view), append(lines, providerLines(view)...)
	}
	if c.JSON {
		return printList(p, true, views, nil)
	}
	columns := []string{"PLATFORM", "KEY", "MODEL", "PER MILLION TOKENS IN, OUT", "PER 1000 SEARCHES", "PRICE OF",
		"LIMITS"}
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

// platforms returns the AI platforms of the environment, or as an organization has them.
func (c *providerList) platforms(ctx context.Context, p *process) (*tracking.Platforms, uuid.UUID, error) {
	if c.Org == "" {
		if err := p.Settings.Validate(); err != nil {
			return nil, uuid.Nil, usageError{err}
		}
		platforms := tracking.NewPlatforms(p.Settings.Outside, nil, secret.Ring{})
		return platforms, uuid.Nil, asUsage(platforms.Validate())
	}
	e, err := p.connect(ctx, service.Control)
	if err != nil {
		return nil, uuid.Nil, err
	}
	platforms, err := newPlatforms(p.Settings, e.DB)
	if err != nil {
		return nil, uuid.Nil, err
	}
	organization, err := findOrganization(ctx, e.DB, c.Org)
	return platforms, organization.ID, err
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
	limits := limitsText(v)
	switch {
	case v.Price != nil && !v.Available: // a consumer surface
		return []string{v.Platform + "\t" + key + "\t\t\t\t\t"}
	case v.Price != nil:
		price := v.Price.PerThousandRequests + " " + v.Price.Currency + " per 1000 captures"
		return []string{strings.Join([]string{v.Platform, providersText(v), "", price, "", v.Price.Date, limits}, "\t")}
	case len(v.Models) == 0: // a capture provider
		return []string{v.Platform + "\t" + key + "\t\t\t\t\t" + limits}
	}
	var lines []string
	for i, m := range v.Models {
		start, end := v.Platform+"\t"+key, limits
		if i > 0 {
			start, end = "\t", ""
		}
		price := "not known\t\t"
		if m.Price != nil {
			price = fmt.Sprintf("%s, %s %s\t%s\t%s", m.Price.PerMillionInputTokens, m.Price.PerMillionOutputTokens,
				m.Price.Currency, m.Price.PerThousandSearches, m.Price.Date)
		}
		lines = append(lines, start+"\t"+m.Slug+"\t"+price+"\t"+end)
	}
	return lines
}
