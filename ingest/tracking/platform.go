package tracking

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

// Platforms are the platforms of the catalog, with what the environment says of each. It is safe for concurrent use.
type Platforms struct {
	outside config.Outside
	db      *postgres.DB
	ring    secret.Ring
}

// NewPlatforms returns the providers. ring decrypts the keys in db. Without a database there are the environment's keys alone.
func NewPlatforms(outside config.Outside, db *postgres.DB, ring secret.Ring) *Platforms {
	return &Platforms{outside, db, ring}
}

// Where a platform's key comes from.
const (
	FromEnvironment  = "environment"
	FromOrganization = "organization"
)

// Platform is a platform as one organization has it.
type Platform struct {
	platform.Description        // with the models of the environment, if it names any
	KeyFrom              string // FromEnvironment, FromOrganization; "": it has or needs none
	KeyEnd               string // the last characters of the organization's own key, by which people know it
	Unavailable          string // why it cannot be asked, and what would be right; "": it can
	Account              string // whose limits requests share: the platform's name and a digest of the key; "": it has none

	entry    catalog.Entry
	settings catalog.Settings
}

// List is every platform of the catalog as that organization has it.
func (p *Platforms) List(ctx context.Context, organizationID uuid.UUID) ([]Platform, error) {
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
	var list []Platform
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
func (p *Platforms) Find(ctx context.Context, organizationID uuid.UUID, slug string) (Platform, error) {
	list, err := p.List(ctx, organizationID)
	if err != nil {
		return Platform{}, err
	}
	i := slices.IndexFunc(list, func(known Platform) bool { return known.Slug == slug })
	if i < 0 {
		return Platform{}, unknown(slug)
	}
	return list[i], nil
}

func unknown(slug string) error {
	return problem.New(problem.Missing, "platform %.60q is unknown: want one of %s", slug, catalog.Slugs())
}

// Open opens the platform of that slug for the organization; cast is whom the simulator's answers name. A platform that
// is unknown, or cannot be asked, is a problem of kind Missing.
func (p *Platforms) Open(ctx context.Context, organizationID uuid.UUID, slug string, cast simulator.Cast) (platform.Platform, error) {
	found, err := p.Find(ctx, organizationID, slug)
	if err != nil {
		return nil, err
	}
	return found.Open(cast)
}

// Open opens the platform. One that cannot be asked is a problem of kind Missing.
func (p Platform) Open(cast simulator.Cast) (platform.Platform, error) {
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
func (p Platform) Where(hasKey bool) Platform {
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
func (p *Platforms) of(entry catalog.Entry) Platform {
	set := p.outside.Platform(entry.Slug)
	found := Platform{Description: entry.Description, entry: entry, settings: catalog.Settings{Key: set.APIKey.Reveal(), BaseURL: set.BaseURL}}
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
func (p *Platforms) withOwn(found Platform, key postgres.ProviderKey) Platform {
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

// A View is a provider as people and clients see it; never its key.
type View struct {
	Platform    string  `json:"platform"`
	Name        string  `json:"name"`
	Available   bool    `json:"available"`
	Reason      string  `json:"reason,omitempty"`   // why it is not
	KeyFrom     string  `json:"key_from,omitempty"` // environment or organization
	KeyEnd      string  `json:"key_ends_with,omitempty"`
	TakesRegion bool    `json:"takes_region"`
	Models      []Model `json:"models"` // the first is the default
	Limits      Limits  `json:"limits"`
}

// Model is a model of a View.
type Model struct {
	Model string `json:"model"`
	Price *Price `json:"price"` // null: not known
}

// Price is what a model costs, by the platform's list of a day.
type Price struct {
	Currency               string `json:"currency"`
	Date                   string `json:"date"`
	PerMillionInputTokens  string `json:"per_million_input_tokens,omitempty"`
	PerMillionOutputTokens string `json:"per_million_output_tokens,omitempty"`
	PerThousandSearches    string `json:"per_thousand_searches,omitempty"`
	PerThousandRequests    string `json:"per_thousand_requests,omitempty"`
}

// Limits are those of one account.
type Limits struct {
	RequestsPerMinute int `json:"requests_per_minute"` // 0: none
	TokensPerMinute   int `json:"tokens_per_minute"`
	InFlight          int `json:"in_flight"`
}

// View is the provider without what is secret.
func (p Platform) View() View {
	v := View{
		Platform: p.Slug, Name: p.Name, Available: p.Unavailable == "", Reason: p.Unavailable, KeyFrom: p.KeyFrom, KeyEnd: p.KeyEnd,
		TakesRegion: p.TakesRegion, Models: []Model{}, Limits: Limits(p.Limits),
	}
	for _, m := range p.Models {
		v.Models = append(v.Models, Model{m.Slug, (*Price)(m.Price)})
	}
	return v
}
