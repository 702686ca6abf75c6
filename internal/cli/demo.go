package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/intake"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/sql/postgres"
)

// demo is all, with something to look at.
type demo struct {
	listening  `embed:""`
	collecting `embed:""`
}

func (demo) Help() string {
	return `Runs everything, as all does, and sees to it that the data directory holds an organization, a brand with competitors
and 60 days of answers, visits and requests of AI crawlers. They are simulated, and say so wherever they appear. Once they answer queries, a new API key
(the last one is revoked) and the ready line are printed on stdout, and on stderr requests to try with their answers, and
the address of a page that shows the pixel at work.

Example:

  answerscope demo --data-dir ./var`
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
	page := &demoPage{}
	return p.everything(ctx, "demo", c.listening, &c.collecting, func(ctx context.Context, s *service) error { return showDemo(ctx, s, page) }, page.assemble)
}

// showDemo fills in what the data directory lacks, waits until it answers queries, and shows how to ask.
func showDemo(ctx context.Context, s *service, page *demoPage) error {
	sample, err := settleDemo(ctx, s)
	if err != nil {
		return fmt.Errorf("settle demo: %w", err)
	}
	text, err := renewDemoKey(ctx, s.db, sample.organization, demoEmail)
	if err != nil {
		return fmt.Errorf("renew demo key: %w", err)
	}
	v := caller{base: s.url(), key: text}
	if err := sample.await(ctx, s, v); err != nil {
		return err
	}
	if err := sample.tour(ctx, s, v); err != nil {
		return err
	}
	if err := page.settle(ctx, s); err != nil {
		return fmt.Errorf("settle demo page: %w", err)
	}
	return s.print(text)
}

// demoSample is what the demo has to show.
type demoSample struct {
	organization postgres.Organization
	brand        answer.Snapshot
	from, until  time.Time
	answers      int // of the window that are in some figure
	views        int // the same of visits
	crawls       int // and of requests of AI crawlers
}

// settleDemo makes the organization, its user and its brand, and brings in what is missing of its answers.
func settleDemo(ctx context.Context, s *service) (demoSample, error) {
	until := time.Now().UTC().Truncate(time.Millisecond)
	sample := demoSample{from: until.AddDate(0, 0, 1-demoDays).Truncate(24 * time.Hour), until: until}
	var err error
	if sample.organization, err = demoOrganization(ctx, s.db, demoName, demoSlug, demoEmail); err != nil {
		return sample, err
	}
	in, err := intake.New(intake.DefaultConfig(), s.appends, s.db, landings{s.warehouse}, time.Now)
	if err != nil {
		return sample, err
	}
	brand, _, err := intake.EnsureBrand(ctx, s.db, sample.organization.ID, simulator.DemoBrand())
	if err != nil {
		return sample, err
	}
	if sample.brand, err = answer.ReadSnapshot(ctx, s.db, brand.ID); err != nil {
		return sample, err
	}
	return sample, sample.bring(ctx, s, in)
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

// bring appends the history, of which intake leaves out what has landed.
func (d *demoSample) bring(ctx context.Context, s *service, in *intake.Intake) error {
	config := simulator.DefaultConfig()
	config.Seed = demoSeed
	config.Cast = simulator.Cast{Brand: d.brand.Brand.Entity, Competitors: d.brand.Competitors}
	platform, err := simulator.New(config)
	if err != nil {
		return err
	}
	plan := simulator.Plan{Snapshot: d.brand, Models: simulator.Models, From: d.from, Until: d.until}
	if plan.Prompts, err = demoPrompts(ctx, s.db, d.brand.Brand.ID); err != nil {
		return err
	}
	if err := d.bringAnswers(ctx, s, in, platform, plan); err != nil {
		return err
	}
	site := simulator.SitePlan{OrganizationID: d.organization.ID, Brand: d.brand.Brand.Entity, From: d.from, Until: d.until}
	return errors.Join(d.bringVisits(ctx, s, in, platform, site), d.bringCrawls(ctx, s, in, platform, site))
}

func (d *demoSample) bringAnswers(ctx context.Context, s *service, in *intake.Intake, platform *simulator.Simulator, plan simulator.Plan) error {
	meter := s.meter("simulated answers", int64(plan.Runs()))
	defer meter.end()
	_, err := in.Append(ctx, told(meter, platform.History(plan), func(a *event.Answer) {
		if a.GivenUp == nil {
			d.answers++
		}
	}))
	return err
}

// bringVisits appends all visits, of which the sink leaves out what has landed.
func (d *demoSample) bringVisits(ctx context.Context, s *service, in *intake.Intake, platform *simulator.Simulator, plan simulator.SitePlan) error {
	meter := s.meter("simulated visits", 0)
	defer meter.end()
	_, err := in.AppendVisits(ctx, told(meter, platform.Visits(plan), func(v *event.Visit) {
		if v.Event == event.VisitView {
			d.views++
		}
	}))
	return err
}

// bringCrawls appends all crawls, of which the sink leaves out what has landed.
func (d *demoSample) bringCrawls(ctx context.Context, s *service, in *intake.Intake, platform *simulator.Simulator, plan simulator.SitePlan) error {
	meter := s.meter("simulated requests of AI crawlers", 0)
	defer meter.end()
	_, err := in.AppendCrawls(ctx, told(meter, platform.Crawls(plan), func(*event.Crawl) { d.crawls++ }))
	return err
}

// told is a history whose facts are counted, and shown on a meter.
func told[T any](m *meter, history iter.Seq[T], count func(*T)) iter.Seq[T] {
	return func(yield func(T) bool) {
		n := int64(0)
		for fact := range history {
			count(&fact)
			if !yield(fact) {
				return
			}
			n++
			m.reach(n)
		}
	}
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
func renewDemoKey(ctx context.Context, db *postgres.DB, organization postgres.Organization, email string) (string, error) {
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
	minted, _, err := mint(ctx, db, organization.Slug, email, demoKey)
	return minted.Text, err
}

// await waits until the sample is in the API's figures.
func (d *demoSample) await(ctx context.Context, s *service, v caller) error {
	var summary struct {
		Totals struct {
			ResultCount int `json:"resultCount"`
		} `json:"totals"`
	}
	var traffic struct {
		TotalVisits int `json:"total_visits"`
	}
	var crawlers struct {
		TotalRequests int `json:"total_requests"`
	}
	window := fmt.Sprintf("?brand_id=%s&date_from=%s&date_to=%s", d.brand.Brand.ID, d.from.Format(time.DateOnly), d.until.Format(time.DateOnly))
	err := v.await(ctx, s.meter("answers in the API's figures", int64(d.answers)), "/api/v1/visibility-summary"+window, &summary, &summary.Totals.ResultCount, d.answers)
	if err != nil {
		return err
	}
	if err := v.await(ctx, s.meter("visits in the API's figures", int64(d.views)), "/api/v1/ai-traffic"+window, &traffic, &traffic.TotalVisits, d.views); err != nil {
		return err
	}
	return v.await(ctx, s.meter("crawls in the API's figures", int64(d.crawls)), "/api/v1/ai-crawlers"+window, &crawlers, &crawlers.TotalRequests, d.crawls)
}

// tour shows requests with their answers, and one figure by SQL.
func (d *demoSample) tour(ctx context.Context, s *service, v caller) error {
	s.say("\nAsk the API (all figures are of simulated answers):")
	for _, path := range []string{
		"/api/v1/whoami",
		"/api/v1/brands",
		"/api/v1/visibility-summary?brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/visibility-trend?granularity=week&brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/ai-traffic?brand_id=" + d.brand.Brand.ID.String(),
		"/api/v1/ai-crawlers?brand_id=" + d.brand.Brand.ID.String(),
	} {
		body, err := v.get(ctx, path)
		if err != nil {
			return err
		}
		s.say("\n  curl -H 'Authorization: Bearer %s' '%s%s'\n  %s", v.key, v.base, path, strings.TrimSpace(string(body)))
	}
	question := d.question()
	var score *float64
	if err := s.warehouse.QueryRow(ctx, question).Scan(&score); err != nil {
		return fmt.Errorf("ask the demo's question: %w", err)
	}
	s.say("\nAsk SQL, and get the API's aiVisibilityScore:\n\n  %s\n  %s\n", s.sqlClient(question), number(score))
	s.say("Let somebody ask in SQL who sees this organization and no other:\n\n  answerscope analyst add ana --org %s\n", demoSlug)
	return nil
}

// question asks SQL for the score of the API's default window.
func (d *demoSample) question() string {
	return fmt.Sprintf("SELECT ai_visibility_score FROM entity_visibility(organization_id = '%s', brand_id = '%s', "+
		"date_from = '%s', date_to = '%s', models = [], regions = [], topics = [], branded = []) WHERE is_brand",
		d.organization.ID, d.brand.Brand.ID, d.until.AddDate(0, 0, -29).Format(time.DateOnly), d.until.Format(time.DateOnly))
}

// sqlClient is a command that asks the warehouse a question: by HTTP where the engine is embedded, since everyone has
// curl, and else by the client that whoever runs the server has.
func (s *service) sqlClient(question string) string {
	if s.HasWarehouse() {
		return fmt.Sprintf("clickhouse client --query %q   # on %s", question, s.ClickHouse.Masked()+s.Shards.Masked())
	}
	address, err := url.Parse(s.set.ClickHouse())
	if err != nil {
		return question
	}
	query := url.Values{"database": {strings.TrimPrefix(address.Path, "/")}}
	web := url.URL{Scheme: "http", User: address.User, Host: s.set.ClickHouseHTTP(), Path: "/", RawQuery: query.Encode()}
	return fmt.Sprintf("curl '%s' --data-binary %q", web.String(), question)
}

func number(v *float64) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprint(*v)
}

// A caller asks the API as a client does.
type caller struct{ base, key string }

func (v caller) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+v.key)
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

// await asks until figure, a field of body, is what it should be.
func (v caller) await(ctx context.Context, meter *meter, path string, body any, figure *int, want int) error {
	defer meter.end()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		text, err := v.get(ctx, path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, body); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		meter.reach(int64(*figure))
		if *figure >= want {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}
