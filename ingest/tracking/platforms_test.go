package tracking_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestThePlatformsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	p := tracking.NewPlatforms(config.FromEnvironment([]string{
		"ANSWERSCOPE_PLATFORM_SIMULATOR_SHOPPING_MODELS=sim-cirrus, other", "ANSWERSCOPE_PLATFORM_XAI_API_KEY=key",
	}), nil, secret.Ring{})
	shopping, err := p.Find(t.Context(), uuid.Nil, platform.SimulatorShopping)
	var slugs []string
	for _, m := range shopping.Models {
		slugs = append(slugs, m.Slug)
	}
	if err != nil || !slices.Equal(slugs, []string{"sim-cirrus", "other"}) || shopping.Models[0].Price == nil ||
		shopping.Models[1].Price != nil || shopping.Models[1].Typical.OutputTokens == 0 {
		t.Errorf("with other models: %+v, %v", shopping.Models, err)
	}
	if shopping.Unavailable != "" || shopping.KeyFrom != "" {
		t.Errorf("unavailable %q, key from %q; it needs none", shopping.Unavailable, shopping.KeyFrom)
	}
	if xai, err := p.Find(t.Context(), uuid.Nil, "xai"); err != nil || xai.KeyFrom != tracking.FromEnvironment ||
		xai.Unavailable != "" {
		t.Errorf("%+v, %v", xai, err)
	}
	other := tracking.NewPlatforms(config.FromEnvironment([]string{"ANSWERSCOPE_PLATFORM_XAI_API_KEY=other",
		"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=key"}), nil, secret.Ring{})
	accounts := map[string]bool{}
	for _, platforms := range []*tracking.Platforms{p, other, p} {
		for _, slug := range []string{"xai", "openai"} {
			p, err := platforms.Find(t.Context(), uuid.Nil, slug)
			if err != nil || strings.Contains(p.Account, "key") {
				t.Errorf("%+v, %v", p, err)
			}
			accounts[p.Account] = true
		}
	}
	if len(accounts) != 4 || !accounts[""] { // two keys of xai, one of openai, none
		t.Errorf("accounts %v", accounts)
	}
	if _, err := open(t, p, uuid.Nil, platform.Simulator,
		simulator.Cast{Brand: event.Entity{Name: "Fernwood"}}); err != nil {
		t.Error(err)
	}
	for slug, want := range map[string]string{
		"openai": "openai is unavailable: ANSWERSCOPE_PLATFORM_OPENAI_API_KEY is missing: want the API key of an " +
			"account at OpenAI",
		"elsewhere": `platform "elsewhere" is unknown: want one of ` + catalog.Slugs(),
	} {
		_, err = open(t, p, uuid.Nil, slug, simulator.Cast{})
		if kind, public := problem.Of(err); kind != problem.Missing || public != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func open(t *testing.T, platforms *tracking.Platforms, organization uuid.UUID, slug string,
	cast simulator.Cast) (platform.Platform, error) {
	t.Helper()
	found, err := platforms.Find(t.Context(), organization, slug)
	if err != nil {
		return nil, err
	}
	return found.Open(cast)
}

const (
	envKey = "key-of-the-environment"
	ownKey = "sk-own-hunter2-0123456789wxyz"
)

func ring(t *testing.T, ids ...string) secret.Ring {
	t.Helper()
	var entries []string
	for _, id := range ids {
		entries = append(entries, id+":"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id), 32)[:32]))
	}
	r, err := secret.ParseRing(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var fromEnvironment = config.FromEnvironment([]string{"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=" + envKey})

// keyOf is what a provider would be asked with: where it comes from and its last characters.
func keyOf(t *testing.T, p *organizations, organization uuid.UUID) string {
	t.Helper()
	found, err := p.Find(t.Context(), organization, "openai")
	if err != nil {
		t.Fatal(err)
	}
	return found.KeyFrom + " " + found.KeyEnd + " " + found.Unavailable
}

// organizations has the platforms of two organizations.
type organizations struct {
	*tracking.Platforms
	db         *postgres.DB
	own, other postgres.Organization
}

func newOrganizations(t *testing.T) *organizations {
	t.Helper()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	p := &organizations{Platforms: tracking.NewPlatforms(fromEnvironment, db, ring(t, "a")), db: db}
	for name, o := range map[string]*postgres.Organization{"Own": &p.own, "Other": &p.other} {
		var err error
		if *o, err = db.AddOrganization(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// An organization's key wins over the environment's, is encrypted in the database, and is no other organization's.
func TestAnOrganizationsKeyWins(t *testing.T) {
	t.Parallel()
	p := newOrganizations(t)
	if got := keyOf(t, p, p.own.ID); got != "environment  " {
		t.Errorf("before: %q", got)
	}
	if err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, "openai", " "+ownKey+"\n"); err != nil {
		t.Fatal(err)
	}
	if own, other := keyOf(t, p, p.own.ID), keyOf(t, p, p.other.ID); own != "organization wxyz " ||
		other != "environment  " {
		t.Errorf("own %q, other %q", own, other)
	}
	rows, err := p.db.ProviderKeys(t.Context(), p.own.ID)
	if err != nil || len(rows) != 1 || !strings.HasPrefix(rows[0].Sealed, "a:") ||
		strings.Contains(rows[0].Sealed, "hunter2") {
		t.Errorf("%+v, %v", rows, err)
	}
	// Of another row, it does not open.
	if err := p.db.SetProviderKey(t.Context(), uuid.Nil, postgres.ProviderKey{OrganizationID: p.other.ID,
		Platform: "openai", Sealed: rows[0].Sealed}); err != nil {
		t.Fatal(err)
	}
	if got := keyOf(t, p, p.other.ID); !strings.Contains(got, "cannot be decrypted") {
		t.Errorf("a copied row: %q", got)
	}
	if _, err := open(t, p.Platforms, p.other.ID, "openai", simulator.Cast{}); err == nil {
		t.Error("it is opened with the environment's key, which is another account")
	}
	for range 2 {
		err = p.RemoveKey(t.Context(), uuid.Nil, p.own.ID, "openai")
	}
	if kind, _ := problem.Of(err); kind != problem.Missing || keyOf(t, p, p.own.ID) != "environment  " {
		t.Errorf("removed twice: %v; then %q", err, keyOf(t, p, p.own.ID))
	}
	log, err := p.db.AuditLog(t.Context(), 2)
	if err != nil || len(log) != 2 || log[0].Action != "provider key removed" || log[0].Organization != "own" ||
		log[1].Action != "provider key set" || log[1].Subject != "openai" {
		t.Errorf("log %+v, %v", log, err)
	}
}

func TestKeysAreEncryptedAnew(t *testing.T) {
	t.Parallel()
	p := newOrganizations(t)
	if err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, "openai", ownKey); err != nil {
		t.Fatal(err)
	}
	if n, err := p.db.Reseal(t.Context(), ring(t, "b").Reseal); n != 0 || err == nil {
		t.Errorf("without the old key: %d, %v", n, err)
	}
	if n, err := p.db.Reseal(t.Context(), ring(t, "b", "a").Reseal); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := keyOf(t, p, p.own.ID); !strings.Contains(got, "cannot be decrypted") {
		t.Errorf("with the old key alone: %q", got)
	}
	p.Platforms = tracking.NewPlatforms(fromEnvironment, p.db, ring(t, "b"))
	if got := keyOf(t, p, p.own.ID); got != "organization wxyz " {
		t.Errorf("with the new key: %q", got)
	}
	if log, err := p.db.AuditLog(t.Context(), 100); err != nil || len(log) != 3 { // two organizations and the key
		t.Errorf("encrypting anew is logged: %+v, %v", log, err)
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	t.Parallel()
	p := newOrganizations(t)
	for _, c := range []struct{ slug, key, want string }{
		{"openai", "", "the key of openai: want 1 to 2000 letters, digits and signs, without spaces"},
		{"openai", "two words", "the key of openai: want 1 to 2000 letters, digits and signs, without spaces"},
		{"openai", strings.Repeat("k", 2001), "the key of openai: want 1 to 2000 letters, digits and signs, without " +
			"spaces"},
		{"simulator", ownKey, "simulator needs no key"},
		{"elsewhere", ownKey, `platform "elsewhere" is unknown: want one of openai, anthropic, gemini, perplexity, ` +
			`xai, mistral, simulator, simulator-shopping, simulator-overview, serpapi, oxylabs, brightdata, ` +
			`dataforseo, cloro`},
		{"grok-web", ownKey, "grok-web has no account of its own: want a provider that captures it: cloro"},
	} {
		err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, c.slug, c.key)
		if _, public := problem.Of(err); public != c.want {
			t.Errorf("%s: %v, want %s", c.slug, err, c.want)
		}
	}
	if err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, "openai", "short"); err != nil ||
		keyOf(t, p, p.own.ID) != "organization  " {
		t.Errorf("a short key: %v, %q", err, keyOf(t, p, p.own.ID))
	}
	bare := tracking.NewPlatforms(fromEnvironment, p.db, secret.Ring{})
	if err := bare.SetKey(t.Context(), uuid.Nil, p.own.ID, "openai", ownKey); err == nil ||
		!strings.Contains(err.Error(), "ANSWERSCOPE_SECRET_KEYS is missing") {
		t.Errorf("without a ring: %v", err)
	}
}

// Where an organization has a key of its own that captures a surface, no account of the environment does: its owner
// would pay. A key that cannot be decrypted makes the surface unavailable.
func TestOwnKeysCaptureAlone(t *testing.T) {
	t.Parallel()
	p := newOrganizations(t)
	environment := config.FromEnvironment([]string{
		"ANSWERSCOPE_PLATFORM_OXYLABS_API_KEY=user:password", "ANSWERSCOPE_PLATFORM_SERPAPI_API_KEY=key",
		"ANSWERSCOPE_PLATFORM_CHATGPT_WEB_PROVIDERS=oxylabs",
	})
	p.Platforms = tracking.NewPlatforms(environment, p.db, ring(t, "a"))
	providers := func(slug string) string {
		t.Helper()
		found, err := p.Find(t.Context(), p.own.ID, slug)
		if err != nil {
			t.Fatal(err)
		}
		found = found.WithKeyStatus(true) // all workers have the environment's keys
		if found.Unavailable != "" {
			return found.Unavailable
		}
		var names []string
		for _, provider := range found.Providers {
			names = append(names, provider.KeyFrom+" "+provider.Slug)
		}
		return strings.Join(names, ", ")
	}
	if got := providers("chatgpt-web"); got != "environment oxylabs" {
		t.Errorf("before: %s", got)
	}
	if err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, "cloro", ownKey); err != nil {
		t.Fatal(err)
	}
	if web, bing := providers("chatgpt-web"), providers("bing-copilot"); web != "organization cloro" ||
		bing != "environment serpapi" {
		t.Errorf("with a key of its own: %s; of a surface that it does not capture: %s", web, bing)
	}
	if err := p.SetOrder(t.Context(), uuid.Nil, p.own.ID, "chatgpt-web", []string{"oxylabs"}); err != nil {
		t.Fatal(err)
	}
	if got := providers("chatgpt-web"); !strings.Contains(got, "want the key of one of oxylabs") {
		t.Errorf("in an order without it: %s", got)
	}
	if err := p.SetOrder(t.Context(), uuid.Nil, p.own.ID, "chatgpt-web", nil); err != nil {
		t.Fatal(err)
	}
	p.Platforms = tracking.NewPlatforms(environment, p.db, ring(t, "b"))
	if got := providers("chatgpt-web"); !strings.HasPrefix(got, "cloro: the organization's key cannot be decrypted") {
		t.Errorf("with another ring: %s", got)
	}
}

// The zone of Bright Data and the price of Cloro's credits are those of the environment's accounts. They were taken for
// an organization's, too: a zone that its account does not have, and a price that it does not pay.
func TestZonesAndCreditsAreTheEnvironments(t *testing.T) {
	t.Parallel()
	p := newOrganizations(t)
	environment := []string{"ANSWERSCOPE_PLATFORM_BRIGHTDATA_API_KEY=key",
		"ANSWERSCOPE_PLATFORM_CLORO_CREDIT_USD=0.0001"}
	show := func(slug string) string {
		t.Helper()
		found, err := p.Find(t.Context(), p.own.ID, slug)
		if err != nil || found.Unavailable != "" {
			return fmt.Sprint(found.Unavailable, err)
		}
		return found.Providers[0].KeyFrom + " " + found.Providers[0].Slug + " " + found.Price.PerThousandRequests
	}
	for _, c := range []struct{ variable, key, slug, want string }{
		{"", "", "copilot-web", "environment brightdata 1.5"},
		{"", "", "google-ai-overview", "ANSWERSCOPE_PLATFORM_BRIGHTDATA_API_KEY with " +
			"ANSWERSCOPE_PLATFORM_BRIGHTDATA_ZONE or"},
		{"ANSWERSCOPE_PLATFORM_BRIGHTDATA_ZONE=serp1", "", "google-ai-overview", "environment brightdata 1.5"},
		{"ANSWERSCOPE_PLATFORM_CLORO_API_KEY=key", "", "grok-web", "environment cloro 0.6"},
		{"", "cloro", "grok-web", "organization cloro 4.8"},
		{"", "brightdata", "google-ai-overview", "organization cloro 4"},
		{"", "", "copilot-web", "organization brightdata 1.5"},
	} {
		if c.key != "" {
			p.Platforms = tracking.NewPlatforms(config.FromEnvironment(environment), p.db, ring(t, "a"))
			if err := p.SetKey(t.Context(), uuid.Nil, p.own.ID, c.key, ownKey); err != nil {
				t.Fatal(err)
			}
		}
		environment = append(environment, c.variable)
		p.Platforms = tracking.NewPlatforms(config.FromEnvironment(environment), p.db, ring(t, "a"))
		if got := show(c.slug); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.slug, got, c.want)
		}
	}
}
