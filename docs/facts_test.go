package docs_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A brandFact is a tracked brand.
type brandFact struct {
	Organization string   `json:"organization"`
	Name         string   `json:"name"`
	Slug         string   `json:"slug"`
	Domains      []string `json:"domains"`
	Competitors  []struct {
		Name    string   `json:"name"`
		Domains []string `json:"domains"`
	} `json:"competitors"`
}

// A promptFact is a prompt that is asked for every brand.
type promptFact struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Topic string `json:"topic"`
}

// An answerFact is how a run ended.
type answerFact struct {
	Brand    string          `json:"brand"` // slug; "" is the first brand
	On       string          `json:"on"`    // a day, at noon
	Prompt   string          `json:"prompt"`
	Platform string          `json:"platform"` // "" is openai
	Model    string          `json:"model"`    // "" is gpt-5, and none of a shopping platform
	Served   string          `json:"served"`
	Text     string          `json:"text"`
	Cites    []string        `json:"cites"`
	Aliases  []string        `json:"aliases"` // of the brand when it came
	Products []event.Product `json:"products"`
	GivenUp  string          `json:"given_up"` // its class
}

// A visitFact is a visit that an AI platform sent, or a goal.
type visitFact struct {
	Brand    string `json:"brand"`
	On       string `json:"on"`
	Platform string `json:"platform"` // "" is chatgpt
	Host     string `json:"host"`     // "" is lumen.example
	Path     string `json:"path"`     // "" is /
	Country  string `json:"country"`
	Begins   bool   `json:"begins"` // a session
	Goal     string `json:"goal"`   // its name; "" is a view
	Value    string `json:"value"`
	Currency string `json:"currency"`
	Times    int    `json:"times"` // so many alike; 0 is 1
}

func (f *visitFact) times() int { return f.Times }

// A crawlFact is a request of an AI crawler for lumen.example, or for the brand's first domain.
type crawlFact struct {
	Brand    string        `json:"brand"`
	On       string        `json:"on"`
	Path     string        `json:"path"` // "" is /
	Crawler  string        `json:"crawler"`
	Operator string        `json:"operator"`
	Platform string        `json:"platform"`
	Purpose  event.Purpose `json:"purpose"`
	Verified *bool         `json:"verified"`
	Times    int           `json:"times"` // so many alike; 0 is 1
}

func (f *crawlFact) times() int { return f.Times }

func (s *stage) addBrands(t *testing.T, brands []*brandFact) {
	t.Helper()
	s.brands = brands
	var rows []clickhouse.DimensionBrand
	var rivals []clickhouse.DimensionCompetitor
	for _, b := range brands {
		organization, brand := clickhouse.UUID(idOf(b.Organization)), clickhouse.UUID(idOf(b.Organization, b.Slug))
		rows = append(rows, clickhouse.DimensionBrand{
			OrganizationID: organization, ID: brand, Name: b.Name, Slug: b.Slug, Domains: b.Domains,
			IsActive: true, Version: 1,
		})
		for _, c := range b.Competitors {
			rivals = append(rivals, clickhouse.DimensionCompetitor{
				OrganizationID: organization, BrandID: brand, ID: clickhouse.UUID(idOf(b.Slug, c.Name)), Name: c.Name,
				Domains: c.Domains, Version: 1,
			})
		}
	}
	insert(t, s, clickhouse.DimensionBrands, rows)
	insert(t, s, clickhouse.DimensionCompetitors, rivals)
}

func (s *stage) addPrompts(t *testing.T, prompts []*promptFact) {
	t.Helper()
	var rows []clickhouse.DimensionPrompt
	var topics []clickhouse.DimensionTopic
	for _, b := range s.brands {
		organization, brand := clickhouse.UUID(idOf(b.Organization)), clickhouse.UUID(idOf(b.Organization, b.Slug))
		for _, p := range prompts {
			s.prompts[p.Name] = p
			topic := clickhouse.UUID(idOf(b.Slug, p.Topic))
			rows = append(rows, clickhouse.DimensionPrompt{
				OrganizationID: organization, BrandID: brand, ID: clickhouse.UUID(idOf(b.Slug, p.Text)),
				TopicID: topic, Text: p.Text, IsActive: true, Version: 1,
			})
			topics = append(topics, clickhouse.DimensionTopic{
				OrganizationID: organization, BrandID: brand, ID: topic, Name: p.Topic, IsActive: true, Version: 1,
			})
		}
	}
	insert(t, s, clickhouse.DimensionPrompts, rows)
	insert(t, s, clickhouse.DimensionTopics, topics)
}

func insert[R any](t *testing.T, s *stage, table clickhouse.Table[R], rows []R) {
	t.Helper()
	if err := table.Insert(t.Context(), s.warehouse, "facts", rows); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) brand(t *testing.T, slug string) *brandFact {
	t.Helper()
	for _, b := range s.brands {
		if b.Slug == cmp.Or(slug, s.brands[0].Slug) {
			return b
		}
	}
	t.Fatalf("there is no brand %s", slug)
	return nil
}

// record encodes the fact; equal ones differ by sample.
func (f *answerFact) record(t *testing.T, s *stage, sample int) []byte {
	t.Helper()
	b, prompt := s.brand(t, f.Brand), s.prompts[f.Prompt]
	if prompt == nil {
		t.Fatalf("there is no prompt %s", f.Prompt)
	}
	topic := idOf(b.Slug, prompt.Topic)
	a := &event.Answer{
		V: event.Version, OrganizationID: idOf(b.Organization),
		Brand: event.Brand{
			Entity: event.Entity{
				ID: idOf(b.Organization, b.Slug), Name: b.Name, Aliases: f.Aliases, Domains: b.Domains,
			}, Revision: 1,
		},
		Prompt: event.Prompt{
			ID: idOf(b.Slug, prompt.Text), Text: prompt.Text, SetID: idOf(b.Slug, "set"), TopicID: &topic,
		},
		Platform: cmp.Or(f.Platform, "openai"), Model: f.Model, ServedModel: f.Served, Sample: int64(sample),
		AnsweredAt: at(t, f.On), Attempts: 1,
	}
	if a.Platform == "openai" {
		a.Model = cmp.Or(f.Model, "gpt-5")
	}
	for _, c := range b.Competitors {
		a.Competitors = append(a.Competitors, event.Entity{ID: idOf(b.Slug, c.Name), Name: c.Name, Domains: c.Domains})
	}
	if f.GivenUp != "" {
		a.GivenUp = &event.GivenUp{Class: f.GivenUp}
	} else {
		a.Text, a.Finish, a.Products = f.Text, event.FinishComplete, f.Products
	}
	for _, u := range f.Cites {
		a.Citations = append(a.Citations, event.Citation{URL: u, Cited: true})
	}
	a.ID = event.RunID(event.Identity{
		BrandID: a.Brand.ID, PromptText: a.Prompt.Text, Platform: a.Platform, Model: a.Model, Sample: a.Sample,
		Due: a.AnsweredAt.Time,
	})
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// record encodes the fact; equal ones differ by number.
func (f *visitFact) record(t *testing.T, s *stage, number int) []byte {
	t.Helper()
	b := s.brand(t, f.Brand)
	v := &event.Visit{
		V: event.Version, OrganizationID: idOf(b.Organization), BrandID: idOf(b.Organization, b.Slug), At: at(t, f.On),
		Event:    event.VisitView,
		Platform: cmp.Or(f.Platform, "chatgpt"), PlatformBy: "referrer", Host: cmp.Or(f.Host, "lumen.example"),
		Path: cmp.Or(f.Path, "/"), Country: f.Country, NewSession: f.Begins,
	}
	if f.Goal != "" {
		v.Event, v.Goal = event.VisitGoal, &event.Goal{Name: f.Goal, Value: f.Value, Currency: f.Currency}
	}
	v.ID = event.RunID(event.Identity{BrandID: v.BrandID, Sample: int64(number), Due: v.At.Time})
	value, err := event.EncodeVisit(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// record encodes the fact; equal ones differ by number.
func (f *crawlFact) record(t *testing.T, s *stage, number int) []byte {
	t.Helper()
	b := s.brand(t, f.Brand)
	c := &event.Crawl{
		V: event.Version, OrganizationID: idOf(b.Organization), BrandID: idOf(b.Organization, b.Slug), At: at(t, f.On),
		Crawler: f.Crawler, Operator: f.Operator, Platform: f.Platform, Purpose: f.Purpose,
		Host: b.Domains[0], Path: cmp.Or(f.Path, "/"), Status: 200, Bytes: 1000, Verified: f.Verified,
	}
	c.ID = event.CrawlID(c.Host, []byte(f.Crawler), number, c.At.Time)
	value, err := event.EncodeCrawl(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func at(t *testing.T, day string) event.Time {
	t.Helper()
	midnight, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return event.At(midnight.Add(12 * time.Hour))
}
