package tracking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/problem"
)

// surface returns a consumer surface with the providers that capture it for the organization. order is the
// organization's, or empty. Where the organization has keys of its own, also one that cannot be decrypted, no other is
// used: the owner of the environment's accounts would pay.
func (p *Platforms) surface(entry catalog.Entry, providers []Platform, order []string) Platform {
	result := Platform{Description: entry.Description, order: order}
	isOther := func(provider Platform) bool {
		account := []capture.Account{provider.captures}
		return provider.KeyFrom != FromOrganization || len(capture.Choose(entry.Slug, account, nil)) == 0
	}
	if alone := slices.DeleteFunc(slices.Clone(providers), isOther); len(alone) > 0 {
		providers, result.KeyFrom = alone, FromOrganization
	} else if len(order) == 0 {
		order = p.environment.Platform(entry.Slug).Providers
	}
	var accounts []capture.Account
	for _, provider := range providers {
		if provider.Unavailable == "" {
			accounts = append(accounts, provider.captures)
		} else if result.KeyFrom == FromOrganization {
			result.Unavailable = provider.Slug + ": " + provider.Unavailable
		}
	}
	accounts = capture.Choose(entry.Slug, accounts, order)
	for _, account := range accounts {
		provider, _ := findPlatform(providers, account.Provider)
		result.Providers = append(result.Providers, provider)
	}
	offers := capture.Offers(entry.Slug)
	if len(order) > 0 {
		offers = order
	}
	switch {
	case len(accounts) > 0:
		result.Unavailable = ""
	case result.Unavailable != "":
	case result.KeyFrom == FromOrganization:
		result.Unavailable = "the organization's own keys are of providers outside its order: want the key of one of " +
			strings.Join(order, ", ") + ", by answerscope provider set, or another order"
	default:
		result.Unavailable = keyVariables(entry.Slug, offers) + " is missing: want the API key of an account at " +
			"a provider that captures " + entry.Name
	}
	result.highestPrice = capture.HighestPrice(entry.Slug, accounts)
	if len(accounts) == 0 {
		return result
	}
	first := result.Providers[0]
	result.KeyFrom, result.KeyEnd = first.KeyFrom, first.KeyEnd
	result.LimitsInForce, result.LimitSources = first.LimitsInForce, first.LimitSources
	result.Price = capture.Price(entry.Slug, accounts[0])
	result.Connect = func(simulator.Cast) (platform.Platform, error) {
		return entry.Open(catalog.Settings{Accounts: accounts})
	}
	return result
}

// isSurface reports whether capture providers ask a platform.
func isSurface(slug string) bool { return len(capture.Offers(slug)) > 0 }

// keyVariables names the variables of keys, one of which is enough for a platform. Some want a zone, too.
func keyVariables(platform string, accounts []string) string {
	var names []string
	for _, slug := range accounts {
		env := config.Outside{}.Platform(slug)
		name := env.Variable(config.KeyVariable)
		if capture.NeedsZone(platform, slug) {
			name += " with " + env.Variable(config.ZoneVariable)
		}
		names = append(names, name)
	}
	return strings.Join(names, " or ")
}

// findAccount describes a platform or capture provider, which may have a key and limits. A surface has neither: its
// providers do.
func findAccount(slug string) (platform.Description, error) {
	if offers := capture.Offers(slug); len(offers) > 0 {
		return platform.Description{}, problem.New(problem.Invalid,
			"%s has no account of its own: want a provider that captures it: %s", slug, strings.Join(offers, ", "))
	}
	var descriptions []platform.Description
	for _, entry := range catalog.All() {
		if !isSurface(entry.Slug) {
			descriptions = append(descriptions, entry.Description)
		}
	}
	var slugs []string
	for _, d := range append(descriptions, capture.Providers()...) {
		if d.Slug == slug {
			return d, nil
		}
		slugs = append(slugs, d.Slug)
	}
	return platform.Description{}, problem.New(problem.Missing, "platform %.60q is unknown: want one of %s",
		slug, strings.Join(slugs, ", "))
}

// Validate checks the variables of surfaces and capture providers.
func (p *Platforms) Validate() error {
	var errs []error
	for _, d := range capture.Surfaces() {
		env := p.environment.Platform(d.Slug)
		if err := checkOrder(d.Slug, env.Providers); len(env.Providers) > 0 && err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", env.Variable(config.ProvidersVariable), err))
		}
	}
	for _, d := range capture.Providers() {
		env := p.environment.Platform(d.Slug)
		if env.APIKey.IsSet() && capture.HasUser(d.Slug) && !strings.Contains(env.APIKey.Reveal(), ":") {
			errs = append(errs, fmt.Errorf("%s: want user:password", env.Variable(config.KeyVariable)))
		}
	}
	return errors.Join(errs...)
}

// checkOrder returns a problem if an order names a provider twice, or one that does not capture the surface.
func checkOrder(slug string, order []string) error {
	offers := capture.Offers(slug)
	if len(offers) == 0 {
		var slugs []string
		for _, d := range capture.Surfaces() {
			slugs = append(slugs, d.Slug)
		}
		return problem.New(problem.Invalid, "%.60q is no consumer surface: want one of %s",
			slug, strings.Join(slugs, ", "))
	}
	for i, provider := range order {
		if !slices.Contains(offers, provider) || slices.Contains(order[:i], provider) {
			return problem.New(problem.Invalid, "%.60q: want some of %s, each once, such as %s",
				provider, strings.Join(offers, ", "), strings.Join(offers, ","))
		}
	}
	return nil
}

// SetOrder stores the providers that an organization asks for a surface, the first one first; none is all, by price.
func (p *Platforms) SetOrder(ctx context.Context, user, organization uuid.UUID, slug string, order []string) error {
	if err := checkOrder(slug, order); err != nil {
		return err
	}
	return p.db.SetProviderOrder(ctx, user, organization, slug, order)
}
