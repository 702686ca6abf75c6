package tracking

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Platforms finds which AI platforms an organization can ask, and with which key: its own, or else the environment's.
// It is safe for concurrent use.
type Platforms struct {
	environment config.Outside
	db          *postgres.DB
	ring        secret.Ring
}

// NewPlatforms returns the platforms of the catalog. ring decrypts the organizations' keys in db; without a database
// there are only the environment's.
func NewPlatforms(environment config.Outside, db *postgres.DB, ring secret.Ring) *Platforms {
	return &Platforms{environment, db, ring}
}

// Sources of a platform's key.
const (
	FromEnvironment  = "environment"
	FromOrganization = "organization"
)

// Platform is a platform for one organization.
type Platform struct {
	platform.Description        // with the models of the environment, if it names any
	KeyFrom              string // FromEnvironment or FromOrganization; "": it has or needs none
	KeyEnd               string // the last characters of the organization's own key, by which people recognize it
	Unavailable          string // why it cannot be asked, and how to change that; "": it can
	Account              string // shares the limits: the platform's name and a digest of the key; "": it has no key

	LimitsInForce platform.Limits // of the account, in place of the described ones
	LimitSources  LimitSources

	Providers []Platform // of a consumer surface: those that capture it, in the order in which they are asked

	order             []string        // of a consumer surface: the providers that the organization named
	highestPrice      *platform.Price // of a consumer surface: what a capture costs at most at one of its providers
	environmentLimits config.AccountLimits
	captures          capture.Account // account of a capture provider

	// Connect makes the client of a platform that is not unavailable. The simulator's answers name the cast.
	Connect func(cast simulator.Cast) (platform.Platform, error)
}

// Open returns the client of the platform. One that cannot be asked is a problem of kind Missing.
func (p Platform) Open(cast simulator.Cast) (platform.Platform, error) {
	if p.Unavailable != "" {
		return nil, problem.New(problem.Missing, "%s is unavailable: %s", p.Slug, p.Unavailable)
	}
	client, err := p.Connect(cast)
	if err != nil {
		return nil, problem.New(problem.Missing, "%s cannot be opened: %v", p.Slug, err)
	}
	return client, nil
}

// View shows a platform to people and clients, without its key.
type View struct {
	Platform    string           `json:"platform"`
	Name        string           `json:"name"`
	Available   bool             `json:"available"`
	Reason      string           `json:"reason,omitempty"`   // why it is unavailable
	KeyFrom     string           `json:"key_from,omitempty"` // environment or organization
	KeyEnd      string           `json:"key_ends_with,omitempty"`
	TakesRegion bool             `json:"takes_region"`
	Models      []platform.Model `json:"models"` // the first is the default
	Limits      platform.Limits  `json:"limits"`
	LimitsFrom  LimitSources     `json:"limits_from"`

	Price     *platform.Price `json:"price,omitempty"`     // of an answer, where there is no choice of models
	Providers []ProviderView  `json:"providers,omitempty"` // of a consumer surface, the first one asked first
}

// ProviderView shows an account that captures a surface.
type ProviderView struct {
	Provider string `json:"provider"`
	KeyFrom  string `json:"key_from"`
}

// View returns the platform without its key.
func (p Platform) View() View {
	var providers []ProviderView
	for _, provider := range p.Providers {
		providers = append(providers, ProviderView{provider.Slug, provider.KeyFrom})
	}
	return View{
		Platform: p.Slug, Name: p.Name, Available: p.Unavailable == "", Reason: p.Unavailable,
		KeyFrom: p.KeyFrom, KeyEnd: p.KeyEnd, TakesRegion: p.TakesRegion, Limits: p.LimitsInForce,
		LimitsFrom: p.LimitSources, Price: p.Price, Providers: providers,
		Models: append([]platform.Model{}, p.Models...),
	}
}

// List returns every platform of the catalog for an organization; uuid.Nil is none, which has the environment's keys.
func (p *Platforms) List(ctx context.Context, organizationID uuid.UUID) ([]Platform, error) {
	platforms, _, err := p.All(ctx, organizationID)
	return platforms, err
}

// All returns what List returns, and every capture provider.
func (p *Platforms) All(ctx context.Context, organizationID uuid.UUID) (platforms, providers []Platform, err error) {
	keys := map[string]postgres.ProviderKey{}
	orders := map[string][]string{}
	if p.db != nil {
		stored, err := p.db.ProviderKeys(ctx, organizationID)
		if err != nil {
			return nil, nil, err
		}
		for _, key := range stored {
			keys[key.Platform] = key
		}
		if orders, err = p.db.ProviderOrders(ctx, organizationID); err != nil {
			return nil, nil, err
		}
	}
	entries := catalog.All()
	for _, d := range capture.Providers() {
		providers = append(providers, p.platform(catalog.Entry{Description: d}, keys))
	}
	for _, entry := range entries {
		if !isSurface(entry.Slug) {
			platforms = append(platforms, p.platform(entry, keys))
		}
	}
	all := slices.Concat(providers, platforms)
	if err := p.addLimits(ctx, organizationID, all); err != nil {
		return nil, nil, err
	}
	providers, platforms = all[:len(providers)], all[len(providers):]
	for i, entry := range entries {
		if isSurface(entry.Slug) {
			platforms = slices.Insert(platforms, i, p.surface(entry, providers, orders[entry.Slug]))
		}
	}
	return platforms, providers, nil
}

// addLimits adds the limits in force of the accounts.
func (p *Platforms) addLimits(ctx context.Context, organizationID uuid.UUID, platforms []Platform) (err error) {
	var settings []postgres.ProviderLimits
	stored := map[string]postgres.PlatformAccount{}
	if p.db != nil {
		if settings, err = p.db.ProviderLimits(ctx, []uuid.UUID{organizationID}); err != nil {
			return err
		}
		var accounts []string
		for _, listed := range platforms {
			accounts = append(accounts, listed.limitsAccount())
		}
		rows, err := p.db.PlatformAccounts(ctx, accounts)
		if err != nil {
			return err
		}
		for _, row := range rows {
			stored[row.Account] = row
		}
	}
	for i, listed := range platforms {
		limits := findLimits(settings, organizationID, listed.Slug)
		platforms[i].LimitsInForce, platforms[i].LimitSources = listed.limits(limits, stored[listed.limitsAccount()])
	}
	return nil
}

// limitsAccount names the account of the limits; a platform without a key has one of its own.
func (p Platform) limitsAccount() string { return cmp.Or(p.Account, p.Slug) }

// platform prefers the organization's key, even one that cannot be decrypted: with the environment's the owner of the
// other account would pay.
func (p *Platforms) platform(entry catalog.Entry, keys map[string]postgres.ProviderKey) Platform {
	organizationKey, hasKey := keys[entry.Slug]
	env := p.environment.Platform(entry.Slug)
	result := Platform{Description: entry.Description, environmentLimits: env.Limits()}
	if len(env.Models) > 0 {
		result.Models = selectModels(entry.Models, env.Models)
	}
	settings := catalog.Settings{Key: env.APIKey.Reveal(), BaseURL: env.BaseURL}
	switch {
	case hasKey:
		result.KeyFrom, result.KeyEnd = FromOrganization, organizationKey.LastCharacters
		plain, err := p.ring.Open(organizationKey.Sealed, sealedName(organizationKey.OrganizationID, entry.Slug))
		if err != nil {
			result.Unavailable = "the organization's key cannot be decrypted: want the key of " +
				"ANSWERSCOPE_SECRET_KEYS that encrypted it, or the platform's key again, " +
				"by answerscope provider set " + entry.Slug
		}
		settings.Key = string(plain)
	case !entry.NeedsKey:
	case env.APIKey.IsSet():
		result.KeyFrom = FromEnvironment
	default:
		variable := env.Variable(config.KeyVariable)
		result.Unavailable = variable + " is missing: want the API key of an account at " + entry.Name
	}
	result.Account = account(entry.Slug, settings.Key)
	result.captures = capture.Account{Provider: entry.Slug, Key: settings.Key, BaseURL: env.BaseURL}
	if !hasKey { // they are those of the environment's account
		result.captures.Zone, result.captures.CreditUSD = env.Zone, env.CreditUSD
	}
	result.Connect = func(cast simulator.Cast) (platform.Platform, error) {
		settings := settings
		settings.Cast = cast
		return entry.Open(settings)
	}
	return result
}

// selectModels returns the models of these slugs. One that the platform does not declare has no price, and the typical
// usage of the default model.
func selectModels(declared []platform.Model, slugs []string) []platform.Model {
	var models []platform.Model
	for _, slug := range slugs {
		model := platform.Model{Slug: slug}
		if i := slices.IndexFunc(declared, func(m platform.Model) bool { return m.Slug == slug }); i >= 0 {
			model = declared[i]
		} else if len(declared) > 0 {
			model.Typical = declared[0].Typical
		}
		models = append(models, model)
	}
	return models
}

// account names the account of a key. Too many keys share the digest's 48 bits for anybody to find the key by trying.
func account(slug, key string) string {
	if key == "" {
		return ""
	}
	digest := sha256.Sum256([]byte("account at " + slug + ": " + key))
	return fmt.Sprintf("%s %x", slug, digest[:6])
}

// WithKeyStatus returns the platform for a process whose environment has a key of it, or none.
func (p Platform) WithKeyStatus(hasKey bool) Platform {
	switch {
	case !p.NeedsKey || p.KeyFrom == FromOrganization:
	case hasKey:
		p.KeyFrom, p.Unavailable = FromEnvironment, ""
	case p.Unavailable == "":
		accounts := []string{p.Slug}
		if len(p.Providers) > 0 {
			accounts = capture.Offers(p.Slug)
		}
		p.Unavailable = keyVariables(p.Slug, accounts) + " is missing where tracking jobs are worked on: start " +
			"answerscope all (or ingest) again with it, or give the organization a key by answerscope provider set " +
			strings.Join(accounts, " or ")
	}
	return p
}

// Find returns the organization's platform or capture provider of that slug, or a problem of kind Missing.
func (p *Platforms) Find(ctx context.Context, organizationID uuid.UUID, slug string) (Platform, error) {
	platforms, providers, err := p.All(ctx, organizationID)
	if err != nil {
		return Platform{}, err
	}
	result, ok := findPlatform(append(platforms, providers...), slug)
	if !ok {
		return Platform{}, unknownPlatform(slug)
	}
	return result, nil
}

func findPlatform(platforms []Platform, slug string) (Platform, bool) {
	for _, p := range platforms {
		if p.Slug == slug {
			return p, true
		}
	}
	return Platform{}, false
}

func unknownPlatform(slug string) error {
	return problem.New(problem.Missing, "platform %.60q is unknown: want one of %s", slug, catalog.Slugs())
}

const (
	maxKeyLength = 2000
	keyEndLength = 4
	minShownKey  = 16 // characters of the shortest key whose end is shown
)

// SetKey stores an organization's key of a platform in place of its previous one. user is in the audit log; nil is the
// command line. A wrong key or platform is a problem, whose text does not show the key.
func (p *Platforms) SetKey(ctx context.Context, user, organizationID uuid.UUID, slug, key string) error {
	if err := CheckNeedsKey(slug); err != nil {
		return err
	}
	key = strings.TrimSpace(key)
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if key == "" || len(key) > maxKeyLength || strings.ContainsFunc(key, invisible) {
		return problem.New(problem.Invalid, "the key of %s: want 1 to %d letters, digits and signs, without spaces",
			slug, maxKeyLength)
	}
	if !p.ring.IsSet() {
		return problem.New(problem.Invalid,
			"ANSWERSCOPE_SECRET_KEYS is missing: want that of all processes, which encrypts keys of platforms")
	}
	if capture.HasUser(slug) && !strings.Contains(key, ":") {
		return problem.New(problem.Unprocessable, "the key of %s: want user:password", slug)
	}
	end := ""
	if len(key) >= minShownKey {
		end = key[len(key)-keyEndLength:]
	}
	return p.db.SetProviderKey(ctx, user, postgres.ProviderKey{
		OrganizationID: organizationID, Platform: slug, LastCharacters: end,
		Sealed: p.ring.Seal([]byte(key), sealedName(organizationID, slug)),
	})
}

// RemoveKey deletes an organization's key of a platform. Without one it is a problem of kind Missing.
func (p *Platforms) RemoveKey(ctx context.Context, user, organizationID uuid.UUID, slug string) error {
	if err := CheckNeedsKey(slug); err != nil {
		return err
	}
	err := p.db.RemoveProviderKey(ctx, user, organizationID, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		return problem.New(problem.Missing, "the organization has no key of its own of %s", slug)
	}
	return err
}

// CheckNeedsKey refuses a platform that is unknown or needs no key, and a surface: its providers have keys.
func CheckNeedsKey(slug string) error {
	account, err := findAccount(slug)
	if err == nil && !account.NeedsKey {
		err = problem.New(problem.Invalid, "%s needs no key", slug)
	}
	return err
}

// sealedName binds an encrypted key to its row.
func sealedName(organizationID uuid.UUID, slug string) string {
	return "provider key " + organizationID.String() + " " + slug
}
