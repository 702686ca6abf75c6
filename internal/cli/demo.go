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

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	demodata "github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/sql/postgres"
)

// demoCmd is all, with sample data.
type demoCmd struct {
	allFlags `embed:""`
}

// A demoService is the process of a demo.
type demoService struct {
	*allParts
	p *process
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
	open := func(ctx context.Context, all *allParts) error { return page.open(ctx, all.Service) }
	return p.serve(ctx, c.validate(), c.plan(p, open, func(ctx context.Context, all *allParts) error {
		return showDemo(ctx, &demoService{all, p}, page)
	}))
}

// showDemo appends what the data directory lacks, waits until it answers queries, and shows how to ask.
func showDemo(ctx context.Context, s *demoService, page *demoPage) error {
	sample, err := fillDemo(ctx, s)
	if err != nil {
		return fmt.Errorf("fill demo: %w", err)
	}
	key, err := keptDemoKey(ctx, s, sample.organization)
	if err != nil {
		return fmt.Errorf("demo key: %w", err)
	}
	api := apiClient{base: s.URL(), key: key}
	if err := sample.awaitTracking(ctx, s); err != nil {
		return err
	}
	if err := sample.await(ctx, s, api); err != nil {
		return err
	}
	if err := page.fill(ctx, s); err != nil {
		return fmt.Errorf("fill demo page: %w", err)
	}
	signIn, err := keptDemoPassword(ctx, s)
	if err != nil {
		return fmt.Errorf("demo sign-in: %w", err)
	}
	if err := sample.tour(ctx, s, api, page.url(), signIn); err != nil {
		return err
	}
	return s.p.print(key)
}

// demoSample is the data of the demo.
type demoSample struct {
	organization           postgres.Organization
	brand                  answer.Snapshot
	from, until            time.Time
	answers, views, crawls int // of the window that are in some figure
}

// fillDemo creates the organization, its user and its brand, and appends the history, of which duplicates are dropped.
func fillDemo(ctx context.Context, s *demoService) (*demoSample, error) {
	until := time.Now().UTC().Truncate(time.Millisecond)
	d := &demoSample{from: until.AddDate(0, 0, 1-demoDays).Truncate(24 * time.Hour), until: until}
	var err error
	if d.organization, err = demoOrganization(ctx, s.DB, demoName, demoSlug, demoEmail); err != nil {
		return nil, err
	}
	brand, _, err := s.DB.AddBrand(ctx, d.organization.ID, demodata.Brand())
	if err != nil {
		return nil, err
	}
	if d.brand, err = answer.ReadSnapshot(ctx, s.DB, brand.ID); err != nil {
		return nil, err
	}
	prompts, err := demoPrompts(ctx, s.DB, brand.ID)
	if err != nil {
		return nil, err
	}
	// The schedule asks at once what was never asked.
	if err := s.DB.EnsureBrandPlatform(ctx, brand.ID, platform.Simulator, "hourly"); err != nil {
		return nil, err
	}
	in := newImporter(s.Engines, s.producer)
	return d, d.append(ctx, s, in, prompts)
}

func (d *demoSample) append(ctx context.Context, s *demoService, in *imports.Importer, prompts []demodata.TrackedPrompt) error {
	config := simulator.DefaultConfig()
	config.Seed = demoSeed
	config.Cast = simulator.Cast{Brand: d.brand.Brand.Entity, Competitors: d.brand.Competitors}
	platforms, err := simulator.New(config)
	if err != nil {
		return err
	}
	config.Shopping = true
	shop, err := simulator.New(config)
	if err != nil {
		return err
	}
	isAnswer := func(a *event.Answer) bool { return a.GivenUp == nil }
	history := demodata.History{Snapshot: d.brand, From: d.from, Until: d.until, Prompts: prompts}
	history.Models, history.Platforms = simulator.Models[:1], demodata.ShoppingPlatforms()
	if _, err = simulate(ctx, s, "shopping answers", history.Runs(), history.Answers(shop), in.Append, isAnswer); err != nil {
		return err
	}
	history.Models, history.Platforms = simulator.Models, demodata.Platforms()
	if d.answers, err = simulate(ctx, s, "answers", history.Runs(), history.Answers(platforms), in.Append, isAnswer); err != nil {
		return err
	}
	site := demodata.Site{OrganizationID: d.organization.ID, Brand: d.brand.Brand.Entity, From: d.from, Until: d.until}
	isView := func(v *event.Visit) bool { return v.Event == event.VisitView }
	if d.views, err = simulate(ctx, s, "visits", 0, site.Visits(platforms), in.AppendVisits, isView); err != nil {
		return err
	}
	d.crawls, err = simulate(ctx, s, "requests of AI crawlers", 0, site.Crawls(platforms), in.AppendCrawls, func(*event.Crawl) bool { return true })
	return err
}

// simulate appends facts, shows on a meter how many of total, and counts those that are in some figure.
func simulate[T, R any](
	ctx context.Context, s *demoService, what string, total int, facts iter.Seq[T],
	appendAll func(context.Context, iter.Seq[T]) (R, error), counts func(*T) bool,
) (n int, err error) {
	progress := s.p.newMeter("simulated "+what, int64(total))
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

// awaitTracking waits until what the schedule has asked is in the figures.
func (d *demoSample) awaitTracking(ctx context.Context, s *demoService) error {
	for {
		jobs, err := s.DB.TrackingJobs(ctx, d.organization.ID, &d.brand.Brand.ID, nil, 1)
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			if jobs[0].Finished() {
				return nil
			}
			done, err := follow(ctx, s.p, s.DB, d.organization.ID, jobs[0].ID)
			if err == nil {
				s.p.say("tracking, now and every hour, on the simulator: %s", summary(done))
			}
			return err
		}
		if err := lifecycle.Pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
}

func demoOrganization(ctx context.Context, db *postgres.DB, name, slug, email string) (postgres.Organization, error) {
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
			Email: email, PasswordHash: password.Hash(password.Generate()), OrganizationID: organization.ID, Role: "owner",
		})
	}
	return organization, err
}

func demoPrompts(ctx context.Context, db *postgres.DB, brand uuid.UUID) ([]demodata.TrackedPrompt, error) {
	list := demodata.Prompts()
	specs := make([]postgres.NewPrompt, len(list))
	for i, p := range list {
		specs[i] = postgres.NewPrompt{Text: p.Text, Topic: p.Topic}
	}
	stored, err := db.EnsurePrompts(ctx, brand, specs)
	if err != nil {
		return nil, err
	}
	tracked := make([]demodata.TrackedPrompt, len(list))
	for i, p := range list {
		tracked[i] = p.Tracked(answer.Prompt(stored[i]))
	}
	return tracked, nil
}

// keptDemoKey is the key of the last run, which the data directory keeps so that a request that was copied goes on
// working; a new one where that is not valid any more.
func keptDemoKey(ctx context.Context, s *demoService, organization postgres.Organization) (string, error) {
	path := filepath.Join(s.Settings.DataDir, "demo.key")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read demo key: %w", err)
	}
	kept := strings.TrimSpace(string(text))
	if hash, ok := apikey.Parse(kept); ok {
		holder, err := s.DB.ResolveKey(ctx, hash)
		if err == nil && holder.OrganizationID == organization.ID {
			return kept, nil
		}
		if err != nil && !errors.Is(err, postgres.ErrNotFound) {
			return "", err
		}
	}
	key, err := renewDemoKey(ctx, s, organization, demoEmail)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep demo key: %w", err)
	}
	return key, nil
}

// keptDemoPassword is the password of the demo's user, which the data directory keeps; "" where nobody can sign in.
func keptDemoPassword(ctx context.Context, s *demoService) (string, error) {
	if ring, err := s.Settings.SecretRing(); err != nil || !ring.IsSet() {
		return "", err
	}
	path := filepath.Join(s.Settings.DataDir, "demo.password")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read demo password: %w", err)
	}
	user, err := s.DB.UserByEmail(ctx, demoEmail)
	if err != nil {
		return "", err
	}
	kept := strings.TrimSpace(string(text))
	if right, err := password.Verify(user.PasswordHash, kept); err == nil && right {
		return kept, nil
	}
	kept = password.Generate()
	if err := s.DB.SetPassword(ctx, demoEmail, password.Hash(kept)); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(kept+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep demo password: %w", err)
	}
	return kept, nil
}

// renewDemoKey revokes the last key of that name and makes another: the database has its hash alone.
func renewDemoKey(ctx context.Context, s *demoService, organization postgres.Organization, email string) (string, error) {
	list, err := s.DB.ListKeys(ctx, organization.ID)
	if err != nil {
		return "", err
	}
	for _, k := range list {
		if k.Name == demoKey && k.RevokedAt == nil {
			if err := s.DB.RevokeKey(ctx, k.ID); err != nil {
				return "", err
			}
		}
	}
	minted, _, err := mintKey(ctx, s.DB, organization, email, postgres.NewKey{Name: demoKey})
	return minted.Text, err
}

// await waits until the sample is in the API's figures.
func (d *demoSample) await(ctx context.Context, s *demoService, api apiClient) error {
	for _, f := range []struct {
		of, endpoint, field string
		want                int
	}{
		{"answers", "visibility-summary", "resultCount", d.answers}, {"visits", "ai-traffic", "total_visits", d.views},
		{"crawls", "ai-crawlers", "total_requests", d.crawls}, {"shopping cards", "shopping-cards", "position", 1},
	} {
		progress := s.p.newMeter(f.of+" in the API's figures", int64(f.want))
		path := fmt.Sprintf("/api/v1/%s?brand_id=%s&date_from=%s&date_to=%s", f.endpoint, d.brand.Brand.ID, d.from.Format(time.DateOnly), d.until.Format(time.DateOnly))
		err := api.await(ctx, path, f.field, f.want, progress)
		progress.end()
		if err != nil {
			return err
		}
	}
	return nil
}
