package metrics

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/naive"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// Every figure has two proofs: what the API says of random answers is what the plainest computation in exact fractions
// says of the same records, whatever the filter. Few prompts and names make ties and halves frequent.
func TestFiguresEqualThePlainestComputation(t *testing.T) {
	s := newService(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			st := s.stage(t)
			random := rand.New(rand.NewPCG(seed, 1))
			st.addRivals(t, []string{"Glow", "Beam", "Dusk", "alpha", "Éclat", "Zeta", "東京"}[:2+random.IntN(6)])
			facts := make([]answerFact, 30+random.IntN(300))
			for i := range facts {
				facts[i] = randomFact(random)
			}
			readings := st.readings(t, facts)
			st.tell(t, facts...)
			st.compare(t, random, readings)
			st.deleteCompetitor(t, "Glow")
			st.compare(t, random, readings)
		})
	}
}

func (s *stage) addRivals(t *testing.T, names []string) {
	t.Helper()
	f := brandFact{Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"}}
	text := `{"competitors":[`
	for i, name := range names {
		text += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"name":%q,"domains":["rival%d.example"]}`, name, i)
	}
	if err := json.Unmarshal([]byte(text+"]}"), &f); err != nil {
		t.Fatal(err)
	}
	s.addBrand(t, f)
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

func randomFact(random *rand.Rand) answerFact {
	at := time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(40*24*60)) * time.Minute)
	f := answerFact{
		On:       at.Format(time.RFC3339),
		Prompt:   pick(random, "a", "b", "c", "d", "e", "f", "ist Lumen gut"),
		Topic:    pick(random, "", "price", "use"),
		Branded:  pick(random, nil, nil, new(true), new(false)),
		Platform: pick(random, "openai", "openai", "gemini", "perplexity", "chatgpt-shopping"),
		Model:    pick(random, "gpt", "sonar"),
		Served:   pick(random, "", "v1", "v1", "v2"),
		Region:   pick(random, "", "de", "fr"),
	}
	if random.IntN(5) == 0 {
		f.GivenUp = "timeout"
		return f
	}
	for range random.IntN(6) {
		f.Text += pick(random, "Lumen", "Lumen", "Glow", "Beam", "Dusk", "alpha", "Éclat", "Zeta", "東京", "Dazu ist nichts bekannt.", "It is a great and wonderful lamp that we love.") + pick(random, " ", ", ", ". ")
	}
	for range random.IntN(4) {
		f.Cites = append(f.Cites, "https://"+pick(random, "lumen.example", "www.lumen.example", "rival0.example", "rival1.example", "other.example")+pick(random, "/", "/a", "/b?utm_source=x"))
	}
	return f
}

// readings are the facts as the plain computation reads them. Sentiment is a method and no definition: it is extract's.
func (s *stage) readings(t *testing.T, facts []answerFact) []naive.Reading {
	t.Helper()
	s.know(t, facts...)
	snapshot := s.snapshot(t, s.brands[0])
	readings := make([]naive.Reading, len(facts))
	for i, f := range facts {
		record := f.record(t, s, snapshot)
		readings[i] = naive.Read(*record, string(extract.Read(record).Brand.Sentiment))
	}
	return readings
}

func (s *stage) compare(t *testing.T, random *rand.Rand, readings []naive.Reading) {
	t.Helper()
	brand := naive.Live{ID: s.id("lumen"), Name: "Lumen"}
	var rivals []naive.Live
	for _, c := range s.snapshot(t, "lumen").Competitors {
		rivals = append(rivals, naive.Live{ID: c.ID, Name: c.Name})
	}
	for range 8 {
		filter, query := s.randomFilter(random)
		query.Set("brand_id", brand.ID.String())
		s.wantBody(t, "/api/v1/visibility-summary?"+query.Encode(), naive.Summary(readings, filter, brand, rivals))
		granularity := pick(random, "day", "week")
		query.Set("granularity", granularity)
		s.wantBody(t, "/api/v1/visibility-trend?"+query.Encode(), naive.Trend(readings, filter, granularity, rivals))
	}
}

func (s *stage) randomFilter(random *rand.Rand) (naive.Filter, url.Values) {
	from := time.Date(2026, 2, 18+random.IntN(20), 0, 0, 0, 0, time.UTC)
	f := naive.Filter{From: dayText(from), To: dayText(from.AddDate(0, 0, random.IntN(40)))}
	query := url.Values{"date_from": {f.From}, "date_to": {f.To}}
	if f.Models = pick(random, nil, nil, []string{"gpt"}, []string{"sonar", "gpt"}, []string{"none"}); f.Models != nil {
		query.Set("model", strings.Join(f.Models, ","))
	}
	if f.Region = pick(random, nil, nil, new("de"), new("xx")); f.Region != nil {
		query.Set("region", *f.Region)
	}
	if topic := pick(random, "", "", "price", "use"); topic != "" {
		f.Topic = new(s.id(topic))
		query.Set("topic_id", f.Topic.String())
	}
	if f.Branded = pick(random, nil, nil, new(true), new(false)); f.Branded != nil {
		query.Set("branded", fmt.Sprint(*f.Branded))
	}
	return f, query
}

// wantBody asks with acme's key and compares the values of the whole body, not their layout.
func (s *stage) wantBody(t *testing.T, target string, want any) {
	t.Helper()
	s.wantBodyOf(t, "acme", target, want)
}

func (s *stage) wantBodyOf(t *testing.T, organization, target string, want any) {
	t.Helper()
	status, body := s.get(t, organization, target)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err, body)
	}
	if err := json.Unmarshal(text, &wanted); err != nil {
		t.Fatal(err)
	}
	if status != 200 || !reflect.DeepEqual(got, wanted) {
		t.Errorf("%s: %d\ngot  %s\nwant %s", target, status, body, text)
	}
}
