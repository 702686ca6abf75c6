package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/intake"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// demo is all, with sample data.
type demo struct {
	listening  `embed:""`
	collecting `embed:""`
}

const (
	demoName  = "Demo (simulated)"
	demoSlug  = "demo"
	demoEmail = "demo@answerscope.example"
	demoKey   = "demo"
	demoDays  = 60
	demoSeed  = 1
)

func (c *demo) Run(ctx context.Context, p *process) error {
	p.say("answerscope demo: every answer in it is simulated; no platform is asked")
	page, plan := &demoPage{}, planAll(c.listening, &c.collecting)
	plan.assemble = append(plan.assemble, page.assemble)
	plan.settled = func(ctx context.Context, s *service) error { return showDemo(ctx, s, page) }
	return p.serve(ctx, plan)
}

// showDemo appends what the data directory lacks, waits until it answers queries, and shows how to ask.
func showDemo(ctx context.Context, s *service, page *demoPage) error {
	sample, err := fillDemo(ctx, s)
	if err != nil {
		return fmt.Errorf("fill demo: %w", err)
	}
	key, err := renewDemoKey(ctx, s, sample.organization, demoEmail)
	if err != nil {
		return fmt.Errorf("renew demo key: %w", err)
	}
	api := apiClient{base: s.url(), key: key}
	if err := sample.await(ctx, s, api); err != nil {
		return err
	}
	if err := sample.tour(ctx, s, api); err != nil {
		return err
	}
	if err := page.fill(ctx, s); err != nil {
		return fmt.Errorf("fill demo page: %w", err)
	}
	return s.print(key)
}

// demoSample is the data of the demo.
type demoSample struct {
	organization           postgres.Organization
	brand                  answer.Snapshot
	from, until            time.Time
	answers, views, crawls int // of the window that are in some figure
}

// fillDemo creates the organization, its user and its brand, and appends the history, of which duplicates are dropped.
func fillDemo(ctx context.Context, s *service) (*demoSample, error) {
	until := time.Now().UTC().Truncate(time.Millisecond)
	d := &demoSample{from: until.AddDate(0, 0, 1-demoDays).Truncate(24 * time.Hour), until: until}
	var err error
	if d.organization, err = demoOrganization(ctx, s.db, demoName, demoSlug, demoEmail); err != nil {
		return nil, err
	}
	brand, _, err := s.db.AddBrand(ctx, d.organization.ID, simulator.DemoBrand())
	if err != nil {
		return nil, err
	}
	if d.brand, err = answer.ReadSnapshot(ctx, s.db, brand.ID); err != nil {
		return nil, err
	}
	prompts, err := demoPrompts(ctx, s.db, brand.ID)
	if err != nil {
		return nil, err
	}
	in := intake.New(s.appends, s.db, landings(s.warehouse, clickhouse.LandedAnswers), time.Now)
	return d, d.append(ctx, s, in, prompts)
}

func (d *demoSample) append(ctx context.Context, s *service, in *intake.Intake, prompts []simulator.Asked) error {
	config := simulator.DefaultConfig()
	config.Seed = demoSeed
	config.Cast = simulator.Cast{Brand: d.brand.Brand.Entity, Competitors: d.brand.Competitors}
	platform, err := simulator.New(config)
	if err != nil {
		return err
	}
	plan := simulator.Plan{Snapshot: d.brand, Models: simulator.Models, From: d.from, Until: d.until, Prompts: prompts}
	isAnswer := func(a *event.Answer) bool { return a.GivenUp == nil }
	if d.answers, err = simulate(ctx, s, "answers", plan.Runs(), platform.History(plan), in.Append, isAnswer); err != nil {
		return err
	}
	site := simulator.SitePlan{OrganizationID: d.organization.ID, Brand: d.brand.Brand.Entity, From: d.from, Until: d.until}
	isView := func(v *event.Visit) bool { return v.Event == event.VisitView }
	if d.views, err = simulate(ctx, s, "visits", 0, platform.Visits(site), in.AppendVisits, isView); err != nil {
		return err
	}
	d.crawls, err = simulate(ctx, s, "requests of AI crawlers", 0, platform.Crawls(site), in.AppendCrawls, func(*event.Crawl) bool { return true })
	return err
}

// simulate appends facts, shows on a meter how many of total, and counts those that are in some figure.
func simulate[T, R any](
	ctx context.Context, s *service, what string, total int, facts iter.Seq[T],
	appendAll func(context.Context, iter.Seq[T]) (R, error), counts func(*T) bool,
) (n int, err error) {
	progress := s.newMeter("simulated "+what, int64(total))
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

func demoPrompts(ctx context.Context, db *postgres.DB, brand uuid.UUID) ([]simulator.Asked, error) {
	list := simulator.DemoPrompts()
	wanted := make([]postgres.NewPrompt, len(list))
	for i, l := range list {
		wanted[i] = postgres.NewPrompt{Text: l.Text, Topic: l.Topic}
	}
	kept, err := db.EnsurePrompts(ctx, brand, wanted)
	if err != nil {
		return nil, err
	}
	asked := make([]simulator.Asked, len(list))
	for i, l := range list {
		asked[i] = simulator.Asked{Prompt: answer.Prompt(kept[i]), Region: l.Region, Language: l.Language, Samples: l.Samples}
	}
	return asked, nil
}

// renewDemoKey revokes the demo's last key and makes another: only its hash is kept, so it could not be shown again.
func renewDemoKey(ctx context.Context, s *service, organization postgres.Organization, email string) (string, error) {
	list, err := s.db.ListKeys(ctx, organization.ID)
	if err != nil {
		return "", err
	}
	for _, k := range list {
		if k.Name == demoKey && k.RevokedAt == nil {
			if err := s.db.RevokeKey(ctx, k.ID); err != nil {
				return "", err
			}
		}
	}
	minted, _, err := s.mint(ctx, organization.Slug, email, demoKey)
	return minted.Text, err
}

// await waits until the sample is in the API's figures.
func (d *demoSample) await(ctx context.Context, s *service, api apiClient) error {
	for _, f := range []struct {
		of, endpoint, field string
		want                int
	}{
		{"answers", "visibility-summary", "resultCount", d.answers}, {"visits", "ai-traffic", "total_visits", d.views},
		{"crawls", "ai-crawlers", "total_requests", d.crawls},
	} {
		progress := s.newMeter(f.of+" in the API's figures", int64(f.want))
		path := fmt.Sprintf("/api/v1/%s?brand_id=%s&date_from=%s&date_to=%s", f.endpoint, d.brand.Brand.ID, d.from.Format(time.DateOnly), d.until.Format(time.DateOnly))
		err := api.await(ctx, path, f.field, f.want, progress)
		progress.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// tour shows requests with their answers, and one figure by SQL.
func (d *demoSample) tour(ctx context.Context, s *service, api apiClient) error {
	s.say("\nAsk the API (all figures are of simulated answers):")
	for _, path := range []string{
		"/api/v1/whoami",
		"/api/v1/brands",
		"/api/v1/visibility-summary?brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/visibility-trend?granularity=week&brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/ai-traffic?brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/ai-crawlers?brand_id=" + d.brand.Brand.ID.String(),
	} {
		body, err := api.get(ctx, path)
		if err != nil {
			return err
		}
		s.say("\n  curl -H 'Authorization: Bearer %s' '%s%s'\n  %s", api.key, api.base, path, strings.TrimSpace(string(body)))
	}
	question := d.question()
	var score *float64
	if err := s.warehouse.QueryRow(ctx, question).Scan(&score); err != nil {
		return fmt.Errorf("ask the demo's question: %w", err)
	}
	shown := "NULL"
	if score != nil {
		shown = fmt.Sprint(*score)
	}
	s.say("\nAsk SQL, and get the API's aiVisibilityScore:\n\n  %s\n  %s\n", s.sqlClient(question), shown)
	s.say("Add an analyst, who asks in SQL and sees this organization alone:\n\n  answerscope analyst add ana --org %s\n", demoSlug)
	return nil
}

// question asks SQL for the score of the API's default window.
func (d *demoSample) question() string {
	return fmt.Sprintf("SELECT ai_visibility_score FROM entity_visibility(organization_id = '%s', brand_id = '%s', "+
		"date_from = '%s', date_to = '%s', models = [], regions = [], topics = [], branded = []) WHERE is_brand",
		d.organization.ID, d.brand.Brand.ID, d.until.AddDate(0, 0, -29).Format(time.DateOnly), d.until.Format(time.DateOnly))
}

// sqlClient is a command that asks the warehouse a question: by curl where the engine is embedded, and else by the client of
// the server's operator.
func (s *service) sqlClient(question string) string {
	if s.settings.HasWarehouse() {
		return fmt.Sprintf("clickhouse client --query %q   # on %s", question, s.settings.ClickHouse.Masked()+s.settings.Shards.Masked())
	}
	address, err := url.Parse(s.running.ClickHouse())
	if err != nil {
		return question
	}
	query := url.Values{"database": {strings.TrimPrefix(address.Path, "/")}}
	web := url.URL{Scheme: "http", User: address.User, Host: s.running.ClickHouseHTTP(), Path: "/", RawQuery: query.Encode()}
	return fmt.Sprintf("curl '%s' --data-binary %q", web.String(), question)
}

// An apiClient asks the API as its users do.
type apiClient struct{ base, key string }

func (c apiClient) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: %s", path, response.Status, body)
	}
	return body, nil
}

// await asks until the first field of that name is at least what it should be.
func (c apiClient) await(ctx context.Context, path, field string, want int, progress *meter) error {
	figure := regexp.MustCompile(`"` + field + `":(\d+)`)
	for {
		body, err := c.get(ctx, path)
		if err != nil {
			return err
		}
		m := figure.FindSubmatch(body)
		if m == nil {
			return fmt.Errorf("GET %s: no %s in %s", path, field, body)
		}
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
		progress.reach(int64(n))
		if n >= want {
			return nil
		}
		if err := lifecycle.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
