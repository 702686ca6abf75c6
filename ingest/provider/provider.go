// Package provider says which AI platforms an organization can ask, and with whose key: its own, or else that of the
// environment. It answers /api/providers.
package provider

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Providers are the platforms of the catalog, with what the environment says of each. It is safe for concurrent use.
type Providers struct {
	outside config.Outside
	db      *postgres.DB
	ring    secret.Ring
}

// New returns the providers. ring decrypts the keys in db. Without a database there are the environment's keys alone.
func New(outside config.Outside, db *postgres.DB, ring secret.Ring) *Providers {
	return &Providers{outside, db, ring}
}

// Where a platform's key comes from.
const (
	FromEnvironment  = "environment"
	FromOrganization = "organization"
)

// Provider is a platform as one organization has it.
type Provider struct {
	platform.Description        // with the models of the environment, if it names any
	KeyFrom              string // FromEnvironment, FromOrganization; "": it has or needs none
	KeyEnd               string // the last characters of the organization's own key, by which people know it
	Unavailable          string // why it cannot be asked, and what would be right; "": it can
	Account              string // whose limits requests share: the platform's name and a digest of the key; "": it has none

	entry    catalog.Entry
	settings catalog.Settings
}

// List is every platform of the catalog as that organization has it.
func (p *Providers) List(ctx context.Context, organizationID uuid.UUID) ([]Provider, error) {
	own := map[string]postgres.ProviderKey{}
	if p.db != nil {
		keys, err := p.db.ProviderKeys(ctx, organizationID)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			own[key.Platform] = key
		}
	}
	var list []Provider
	for _, entry := range catalog.All() {
		found := p.of(entry)
		if key, has := own[entry.Slug]; has {
			found = p.withOwn(found, key)
		}
		found.Account = accountOf(found.Slug, found.settings.Key)
		list = append(list, found)
	}
	return list, nil
}

// accountOf names the account of a key. Its 48 bits are too few to try out which key it was: many have the same.
func accountOf(slug, key string) string {
	if key == "" {
		return ""
	}
	digest := sha256.Sum256([]byte("account at " + slug + ": " + key))
	return fmt.Sprintf("%s %x", slug, digest[:6])
}

// Find is the platform of that slug as the organization has it. It is a problem of kind Missing if there is none.
func (p *Providers) Find(ctx context.Context, organizationID uuid.UUID, slug string) (Provider, error) {
	list, err := p.List(ctx, organizationID)
	if err != nil {
		return Provider{}, err
	}
	i := slices.IndexFunc(list, func(known Provider) bool { return known.Slug == slug })
	if i < 0 {
		return Provider{}, unknown(slug)
	}
	return list[i], nil
}

func unknown(slug string) error {
	return problem.New(problem.Missing, "platform %.60q is unknown: want one of %s", slug, catalog.Slugs())
}

// Open opens the platform of that slug for the organization; cast is whom the simulator's answers name. A platform that
// is unknown, or cannot be asked, is a problem of kind Missing.
func (p *Providers) Open(ctx context.Context, organizationID uuid.UUID, slug string, cast simulator.Cast) (platform.Platform, error) {
	found, err := p.Find(ctx, organizationID, slug)
	if err != nil {
		return nil, err
	}
	return found.Open(cast)
}

// Open opens the platform. One that cannot be asked is a problem of kind Missing.
func (p Provider) Open(cast simulator.Cast) (platform.Platform, error) {
	if p.Unavailable != "" {
		return nil, problem.New(problem.Missing, "%s is unavailable: %s", p.Slug, p.Unavailable)
	}
	settings := p.settings
	settings.Cast = cast
	opened, err := p.entry.Open(settings)
	if err != nil {
		return nil, problem.New(problem.Missing, "%s cannot be opened: %v", p.Slug, err)
	}
	return opened, nil
}

// Where is the platform in processes whose environment has a key of it, or has none.
func (p Provider) Where(hasKey bool) Provider {
	switch {
	case !p.NeedsKey || p.KeyFrom == FromOrganization:
	case hasKey:
		p.KeyFrom, p.Unavailable = FromEnvironment, ""
	case p.Unavailable == "":
		p.Unavailable = fmt.Sprintf("%s is missing where tracking jobs are worked on: start answerscope all (or ingest) again with it, or give the "+
			"organization a key by answerscope provider set %s", config.Outside{}.Platform(p.Slug).Variable(config.KeyVariable), p.Slug)
	}
	return p
}

// of is a platform with what the environment says of it.
func (p *Providers) of(entry catalog.Entry) Provider {
	set := p.outside.Platform(entry.Slug)
	found := Provider{Description: entry.Description, entry: entry, settings: catalog.Settings{Key: set.APIKey.Reveal(), BaseURL: set.BaseURL}}
	if len(set.Models) > 0 {
		found.Models = models(entry.Models, set.Models)
	}
	switch {
	case !entry.NeedsKey:
	case set.APIKey.IsSet():
		found.KeyFrom = FromEnvironment
	default:
		found.Unavailable = fmt.Sprintf("%s is missing: want the API key of an account at %s", set.Variable(config.KeyVariable), entry.Name)
	}
	return found
}

// withOwn is a platform with the organization's own key, which wins over the environment's even where it cannot be
// decrypted: the other account's owner would pay.
func (p *Providers) withOwn(found Provider, key postgres.ProviderKey) Provider {
	found.KeyFrom, found.KeyEnd, found.Unavailable = FromOrganization, key.LastCharacters, ""
	plain, err := p.ring.Open(key.Sealed, sealedName(key.OrganizationID, key.Platform))
	if err != nil {
		found.Unavailable = fmt.Sprintf("the organization's key cannot be decrypted: want the key of ANSWERSCOPE_SECRET_KEYS that encrypted it, or the "+
			"platform's key again, by answerscope provider set %s", key.Platform)
	}
	found.settings.Key = string(plain)
	return found
}

// models are those of slugs; what the platform does not declare has no known price, and the usage of its default.
func models(declared []platform.Model, slugs []string) []platform.Model {
	var list []platform.Model
	for _, slug := range slugs {
		i := slices.IndexFunc(declared, func(m platform.Model) bool { return m.Slug == slug })
		switch {
		case i >= 0:
			list = append(list, declared[i])
		case len(declared) > 0:
			list = append(list, platform.Model{Slug: slug, Typical: declared[0].Typical})
		default:
			list = append(list, platform.Model{Slug: slug})
		}
	}
	return list
}
