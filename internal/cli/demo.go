package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	demodata "github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/postgres"
)

// demoCmd is all, with sample data.
type demoCmd struct {
	allFlags `embed:""`
}

const (
	demoName  = "Demo (simulated)"
	demoSlug  = "demo"
	demoEmail = "demo@answerscope.example"
	demoKey   = "demo"
	demoDays  = 60
	demoSeed  = 1
)

func (c *demoCmd) Run(ctx context.Context, p *process) error {
	p.say("answerscope demo: every answer in it is simulated; no platform is asked")
	page := &demoPage{}
	return p.serve(ctx, c.validate(p.Settings), c.spec(p, page.open, func(ctx context.Context, all *allParts) error {
		return (&demo{allParts: all, p: p}).show(ctx, page)
	}))
}

// A demo is the process of a demo with its sample data.
type demo struct {
	*allParts
	p *process

	organization           postgres.Organization
	stored                 postgres.Brand // it dates the changes, so that a later start repeats what has landed
	brand                  answer.Snapshot
	from, until            time.Time
	answers, views, crawls int // of the window that are in some figure
}

// show appends what the data directory lacks, waits until it answers queries, and prints how to ask.
func (d *demo) show(ctx context.Context, page *demoPage) error {
	if err := d.fill(ctx); err != nil {
		return fmt.Errorf("fill demo: %w", err)
	}
	key, err := d.key(ctx)
	if err != nil {
		return fmt.Errorf("demo key: %w", err)
	}
	api := apiClient{base: d.URL(), key: key}
	if err := d.awaitTracking(ctx); err != nil {
		return err
	}
	if err := d.awaitFigures(ctx, api); err != nil {
		return err
	}
	if err := advice.New(d.DB, d.Warehouse, time.Now, d.Log).Advise(ctx, d.brand.Brand.ID); err != nil {
		return fmt.Errorf("compute the demo's opportunities: %w", err)
	}
	if err := page.fill(ctx, d); err != nil {
		return fmt.Errorf("fill demo page: %w", err)
	}
	signIn, err := d.password(ctx)
	if err != nil {
		return fmt.Errorf("demo sign-in: %w", err)
	}
	if err := d.notify(ctx, page); err != nil {
		return fmt.Errorf("demo report: %w", err)
	}
	if err := d.explain(ctx, api, page.url(), signIn); err != nil {
		return err
	}
	return d.p.print(key)
}

// fill creates the organization, its user and its brand, and appends the history, of which duplicates are dropped.
func (d *demo) fill(ctx context.Context) (err error) {
	d.until = time.Now().UTC().Truncate(time.Millisecond)
	d.from = d.until.AddDate(0, 0, 1-demoDays).Truncate(24 * time.Hour)
	if d.organization, err = addDemoOrganization(ctx, d.DB, demoName, demoSlug, demoEmail); err != nil {
		return err
	}
	if d.stored, _, err = d.DB.AddBrand(ctx, d.organization.ID, demodata.Brand()); err != nil {
		return err
	}
	if d.brand, err = answer.ReadSnapshot(ctx, d.DB, d.stored.ID); err != nil {
		return err
	}
	prompts, err := d.addPrompts(ctx)
	if err != nil {
		return err
	}
	// The schedule asks a new brand at once.
	for _, slug := range []string{platform.Simulator, platform.SimulatorOverview} {
		if err := d.DB.EnsureBrandPlatform(ctx, d.stored.ID, slug, "daily"); err != nil {
			return err
		}
	}
	return d.append(ctx, newImporter(d.Engines, d.producer), prompts)
}

func (d *demo) append(ctx context.Context, in *imports.Importer, prompts []demodata.TrackedPrompt) error {
	config := simulator.DefaultConfig()
	config.Seed = demoSeed
	config.Cast = simulator.Cast{Brand: d.brand.Brand.Entity, Competitors: d.brand.Competitors}
	config.Changes = demodata.Changes(d.stored.CreatedAt)
	platforms, err := simulator.New(config)
	if err != nil {
		return err
	}
	config.Slug = platform.SimulatorShopping
	shop, err := simulator.New(config)
	if err != nil {
		return err
	}
	isAnswer := func(a *event.Answer) bool { return a.GivenUp == nil }
	history := demodata.History{Snapshot: d.brand, From: d.from, Until: d.until, Prompts: prompts}
	history.Models, history.Platforms = simulator.Models[:1], demodata.ShoppingPlatforms()
	if _, err = appendFacts(ctx, d.p, "shopping answers", history.Runs(), history.Answers(shop), in.Append,
		isAnswer); err != nil {
		return err
	}
	history.Models, history.Platforms = simulator.Models, demodata.Platforms()
	if d.answers, err = appendFacts(ctx, d.p, "answers", history.Runs(), history.Answers(platforms), in.Append,
		isAnswer); err != nil {
		return err
	}
	site := demodata.Site{OrganizationID: d.organization.ID, Brand: d.brand.Brand.Entity, From: d.from, Until: d.until}
	isView := func(v *event.Visit) bool { return v.Event == event.VisitView }
	if d.views, err = appendFacts(ctx, d.p, "visits", 0, site.Visits(platforms), in.AppendVisits, isView); err != nil {
		return err
	}
	isCrawl := func(*event.Crawl) bool { return true }
	d.crawls, err = appendFacts(ctx, d.p, "requests of AI crawlers", 0, site.Crawls(platforms), in.AppendCrawls,
		isCrawl)
	return err
}

// appendFacts appends simulated facts, shows its progress, and counts the facts that are in some figure.
func appendFacts[T, R any](
	ctx context.Context, p *process, kind string, total int, facts iter.Seq[T],
	appendAll func(context.Context, iter.Seq[T]) (R, error), counts func(*T) bool,
) (n int, err error) {
	progress := p.newMeter("simulated "+kind, int64(total))
	defer progress.end()
	_, err = appendAll(ctx, func(yield func(T) bool) {
		done := int64(0)
		for fact := range facts {
			if counts(&fact) {
				n++
			}
			if !yield(fact) {
				return
			}
			done++
			progress.reach(done)
		}
	})
	return n, err
}

// awaitTracking waits until the answers that the schedule has asked for are in the figures.
func (d *demo) awaitTracking(ctx context.Context) error {
	for {
		jobs, err := d.DB.TrackingJobs(ctx, d.organization.ID, &d.brand.Brand.ID, nil, 1)
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			if jobs[0].Finished() {
				return nil
			}
			done, err := follow(ctx, d.p, d.DB, d.organization.ID, jobs[0].ID)
			if err == nil {
				d.p.say("tracking, now and every day, on the simulator: %s", summary(done))
			}
			return err
		}
		if err := lifecycle.Pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
}

// awaitFigures waits until the sample is in the API's figures.
func (d *demo) awaitFigures(ctx context.Context, api apiClient) error {
	for _, f := range []struct {
		facts, endpoint, field string
		want                   int
	}{
		{"answers", "visibility-summary", "resultCount", d.answers}, {"visits", "ai-traffic", "total_visits", d.views},
		{"crawls", "ai-crawlers", "total_requests", d.crawls}, {"shopping cards", "shopping-cards", "position", 1},
	} {
		progress := d.p.newMeter(f.facts+" in the API's figures", int64(f.want))
		path := fmt.Sprintf("/api/v1/%s?brand_id=%s&date_from=%s&date_to=%s",
			f.endpoint, d.brand.Brand.ID, d.from.Format(time.DateOnly), d.until.Format(time.DateOnly))
		err := api.await(ctx, path, f.field, f.want, progress)
		progress.end()
		if err != nil {
			return err
		}
	}
	return nil
}

func addDemoOrganization(
	ctx context.Context, db *postgres.DB, name, slug, email string,
) (postgres.Organization, error) {
	organization, err := db.OrganizationBySlug(ctx, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		organization, err = db.AddOrganization(ctx, name, slug)
	}
	if err != nil {
		return organization, err
	}
	_, err = db.UserByEmail(ctx, email)
	if errors.Is(err, postgres.ErrNotFound) {
		_, err = db.AddUser(ctx, postgres.NewUser{
			Email: email, PasswordHash: auth.HashPassword(auth.GeneratePassword()), OrganizationID: organization.ID,
			Role: "owner",
		})
	}
	return organization, err
}

func (d *demo) addPrompts(ctx context.Context) ([]demodata.TrackedPrompt, error) {
	list := demodata.Prompts()
	specs := make([]postgres.NewPrompt, len(list))
	for i, p := range list {
		specs[i] = postgres.NewPrompt{Text: p.Text, Topic: p.Topic}
	}
	stored, err := d.DB.EnsurePrompts(ctx, d.brand.Brand.ID, specs)
	if err != nil {
		return nil, err
	}
	tracked := make([]demodata.TrackedPrompt, len(list))
	for i, p := range list {
		tracked[i] = p.Tracked(answer.Prompt(stored[i]))
	}
	return tracked, nil
}

// key returns the demo's API key.
func (d *demo) key(ctx context.Context) (string, error) {
	valid := func(text string) (bool, error) {
		hash, ok := auth.ParseKey(text)
		if !ok {
			return false, nil
		}
		holder, err := d.DB.ResolveKey(ctx, hash)
		if errors.Is(err, postgres.ErrNotFound) {
			return false, nil
		}
		return err == nil && holder.OrganizationID == d.organization.ID, err
	}
	return d.storedSecret("demo.key", valid,
		func() (string, error) { return renewDemoKey(ctx, d.DB, d.organization, demoEmail) })
}

// renewDemoKey revokes the last key of that name and mints another: the database has its hash alone.
func renewDemoKey(
	ctx context.Context, db *postgres.DB, organization postgres.Organization, email string,
) (string, error) {
	list, err := db.ListKeys(ctx, organization.ID)
	if err != nil {
		return "", err
	}
	for _, k := range list {
		if k.Name == demoKey && k.RevokedAt == nil {
			if err := db.RevokeKey(ctx, k.ID); err != nil {
				return "", err
			}
		}
	}
	minted, _, err := mintKey(ctx, db, organization, email, postgres.NewKey{Name: demoKey})
	return minted.Text, err
}

// password returns the password of the demo's user; "" where there is no sign-in.
func (d *demo) password(ctx context.Context) (string, error) {
	if ring, err := d.Settings.SecretRing(); err != nil || !ring.IsSet() {
		return "", err
	}
	user, err := d.DB.UserByEmail(ctx, demoEmail)
	if err != nil {
		return "", err
	}
	valid := func(text string) (bool, error) {
		right, err := auth.VerifyPassword(user.PasswordHash, text)
		return err == nil && right, nil
	}
	return d.storedSecret("demo.password", valid, func() (string, error) {
		text := auth.GeneratePassword()
		return text, d.DB.SetPassword(ctx, demoEmail, auth.HashPassword(text))
	})
}

// storedSecret returns the secret in a file of the data directory while it is valid, so that a copied request keeps
// working, and else a new one.
func (d *demo) storedSecret(
	name string, valid func(text string) (bool, error), renew func() (string, error),
) (string, error) {
	path := filepath.Join(d.Settings.DataDir, name)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	secret := strings.TrimSpace(string(text))
	if ok, err := valid(secret); ok || err != nil {
		return secret, err
	}
	if secret, err = renew(); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("store %s: %w", name, err)
	}
	return secret, nil
}
