package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A stage is where one test plays: organizations, brands and answers of its own. Stages share a service's databases,
// so that whatever forgets whose question it answers shows in all of them.
type stage struct {
	*service
	name string // in the slugs and addresses that all stages share

	// what the test calls by name → its id: brands by slug, organizations, prompts, topics, users
	ids     map[string]string
	prompts map[string]postgres.Prompt // by the same names, as they are now or were last
	topics  map[uuid.UUID]string       // how those that live are called now
	brands  []string                   // slugs in the order in which they were added
	keys    map[string]string          // organization → a key of its user
	facts   int                        // answers so far

	answered map[string]uuid.UUID // the last answer of a brand, by its slug

	batches  int   // that have landed, or corrections
	appended int64 // records of answers so far, repeated ones too

	corrections int // so far

	visited int   // visits so far
	landed  int64 // records of visits so far

	crawled      int   // crawls so far
	landedCrawls int64 // records of crawls so far

	compared map[string]int // figures of the bodies that were compared with the naive computation, by path
}

func (s *service) stage(t *testing.T) *stage {
	name := strings.ToLower(strings.ReplaceAll(t.Name()[strings.LastIndex(t.Name(), "/")+1:], "_", "-"))
	st := &stage{
		service: s, name: name, ids: map[string]string{}, prompts: map[string]postgres.Prompt{},
		topics: map[uuid.UUID]string{}, keys: map[string]string{}, answered: map[string]uuid.UUID{},
		compared: map[string]int{},
	}
	t.Cleanup(func() {
		for path, figures := range st.compared {
			t.Logf("%s: %d figures were compared", path, figures)
			if figures == 0 && !testkit.All { // its other seeds are drawn
				t.Errorf("%s: no body that was compared has a figure: the comparison proves nothing", path)
			}
		}
	})
	return st
}

// call gives a thing its name; two things of one name are a mistake in the test.
func (s *stage) call(t *testing.T, name string, id uuid.UUID) {
	t.Helper()
	if known, ok := s.ids[name]; ok && known != id.String() {
		t.Fatalf("two things are called %s", name)
	}
	s.ids[name] = id.String()
}

func (s *stage) id(name string) uuid.UUID { return uuid.FromStringOrNil(s.ids[name]) }

// withIDs replaces each $name by its id, the longer of two names first.
func (s *stage) withIDs(text string) string {
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s.ids))) {
		pairs = append(pairs, "$"+name, s.ids[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// withNames replaces each id by its $name.
func (s *stage) withNames(text string) string {
	var pairs []string
	for name, id := range s.ids {
		pairs = append(pairs, id, "$"+name)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// organization makes one with a user and a key, or returns its id if it is there.
func (s *stage) organization(t *testing.T, name string) uuid.UUID {
	t.Helper()
	if _, ok := s.ids[name]; ok {
		return s.id(name)
	}
	o, err := s.db.AddOrganization(t.Context(), name, name+"-"+s.name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.db.AddUser(t.Context(), postgres.NewUser{
		Email: "ann@" + name + "." + s.name + ".example", OrganizationID: o.ID, Role: "owner",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.call(t, name, o.ID)
	s.call(t, "ann-of-"+name, u.ID)
	s.keys[name] = s.mint(t, name)
	return o.ID
}

// mint makes a key of an organization's user.
func (s *stage) mint(t *testing.T, organization string, scopes ...string) string {
	t.Helper()
	key := auth.MintKey()
	_, err := s.db.AddKey(t.Context(), postgres.NewKey{
		OrganizationID: s.id(organization), UserID: s.id("ann-of-" + organization), Name: "test", Hash: key.Hash,
		Prefix: key.Prefix, Scopes: scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return key.Text
}

// addBrand makes a brand with its competitors, known to the warehouse too.
func (s *stage) addBrand(t *testing.T, f brandFact) {
	t.Helper()
	if f.Organization == "" {
		f.Organization = "acme"
	}
	made := postgres.NewBrand{Name: f.Name, Slug: f.Slug, Industry: f.Industry, Region: f.Region, Domains: f.Domains}
	for _, c := range f.Competitors {
		made.Competitors = append(made.Competitors, postgres.NewCompetitor{Name: c.Name, Domains: c.Domains})
	}
	brand, added, err := s.db.AddBrand(t.Context(), s.organization(t, f.Organization), made)
	if err != nil || !added {
		t.Fatal(added, err)
	}
	s.date(t, brand.ID)
	s.call(t, brand.Slug, brand.ID)
	s.brands = append(s.brands, brand.Slug)
	s.awaitMirror(t)
	for _, c := range s.snapshot(t, brand.Slug).Competitors {
		s.ids[c.Name+"-of-"+brand.Slug] = c.ID.String()
	}
}

// date says when a brand was made, which only a superuser may; half of its last millisecond is not shown.
func (s *stage) date(t *testing.T, brand uuid.UUID) {
	t.Helper()
	_, err := s.db.Exec(t.Context(), fmt.Sprintf(`
		BEGIN;
		SET LOCAL ROLE NONE;
		SET LOCAL session_replication_role = replica;
		UPDATE public.brands SET created_at = '2026-01-02 03:04:05.6785+00' WHERE id = '%s';
		COMMIT`, brand))
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) snapshot(t *testing.T, slug string) postgres.Snapshot {
	t.Helper()
	snapshot, err := s.db.Snapshot(t.Context(), s.id(slug))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// awaitMirror returns once the warehouse knows all that people have edited.
func (s *stage) awaitMirror(t *testing.T) {
	t.Helper()
	wait.For(t, "the warehouse to have every edit", func() (empty bool) {
		if err := s.db.QueryRow(t.Context(), "SELECT count(*) = 0 FROM private.outbox").Scan(&empty); err != nil {
			t.Fatal(err)
		}
		return empty
	})
}

// expireAnswers deletes the answers up to the end of a month, as retention does.
func (s *stage) expireAnswers(t *testing.T, month string) {
	t.Helper()
	first, err := time.Parse("2006-01", month)
	if err != nil {
		t.Fatal(err)
	}
	before := first.AddDate(0, 1, 0)
	if err := clickhouse.Expire(t.Context(), s.warehouse, clickhouse.ExpiringLanding("answers"), before); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the month to expire", func() bool {
		var left uint64
		if err := s.warehouse.QueryRow(t.Context(),
			"SELECT count() FROM answers WHERE day < toDate('"+before.Format(time.DateOnly)+"')").
			Scan(&left); err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
}

// addFacts inserts facts as one batch.
func (s *stage) addFacts(t *testing.T, facts ...answerFact) {
	t.Helper()
	s.append(t, s.records(t, facts...))
	if slices.ContainsFunc(facts, func(f answerFact) bool { return len(f.Products) > 0 }) {
		s.callCards(t)
	}
}

// records are the records of facts, each read by the names that its brand has now.
func (s *stage) records(t *testing.T, facts ...answerFact) []*event.Answer {
	t.Helper()
	s.know(t, facts...)
	var records []*event.Answer
	for _, f := range facts {
		snapshot := s.snapshot(t, cmp.Or(f.Brand, s.brands[0]))
		for range max(f.Times, 1) {
			records = append(records, f.record(t, s, snapshot))
			s.facts++
			s.ids[fmt.Sprintf("answer-%d", s.facts)] = records[len(records)-1].ID.String()
			if f.GivenUp == "" && !f.NotShown {
				s.answered[cmp.Or(f.Brand, s.brands[0])] = records[len(records)-1].ID
			}
		}
	}
	return records
}

// append inserts records: through the codec, the extractor and the sink, as one batch.
func (s *stage) append(t *testing.T, records []*event.Answer) {
	t.Helper()
	target := sink.NewAnswers(s.shard(t), prometheus.NewRegistry(), logTo(t))
	batch := &consume.Batch[sink.Answer]{Topic: s.name, First: s.appended}
	for _, record := range records {
		value, err := event.EncodeAnswer(nil, record)
		if err != nil {
			t.Fatal(err)
		}
		item, _, err := target.Decode(target.Version(), consume.Record{
			Topic: batch.Topic, Offset: s.appended, Value: value, Time: today,
		})
		if err != nil {
			t.Fatal(err)
		}
		batch.Items = append(batch.Items, item)
		s.appended++
	}
	batch.Last = s.appended - 1
	if err := target.Insert(t.Context(), batch, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) bearer(organization string) string {
	return "Authorization: Bearer " + s.keys[organization]
}

// get asks with the key of an organization and returns status and body.
func (s *stage) get(t *testing.T, organization, target string) (int, string) {
	t.Helper()
	r := s.ask(t, http.MethodGet, target, s.bearer(organization))
	return r.StatusCode, r.body
}
