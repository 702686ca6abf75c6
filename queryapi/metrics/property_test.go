package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/naive"
)

// Every figure has two proofs: what the API says of random answers is what the plainest computation in exact fractions
// says of the same records, whatever the filter, while people edit names and answers are read again.
func TestFiguresEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, 0) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			h := newHistory(t, s.stage(t), rand.New(rand.NewPCG(seed, 1)))
			for range 2 {
				for _, step := range []func(*testing.T){h.answers, h.edits, h.corrections} {
					if step(t); testkit.All {
						h.compare(t)
					}
				}
				h.compare(t)
			}
			for _, table := range []string{"answer_daily", "entity_prompt_daily"} {
				h.exec(t, "OPTIMIZE TABLE "+table+" FINAL")
			}
			h.compare(t)
		})
	}
}

// addRivals adds Lumen with competitors of these names.
func (s *stage) addRivals(t *testing.T, names []string) {
	t.Helper()
	s.addBrandAmong(t, brandFact{Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"}}, names)
}

// addBrandAmong adds a brand with competitors of these names, each with a domain.
func (s *stage) addBrandAmong(t *testing.T, f brandFact, names []string) {
	t.Helper()
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
		Prompt:   pick(random, promptTexts...),
		Topic:    pick(random, append(topicNames, "")...),
		Branded:  pick(random, nil, nil, new(true), new(false)),
		Platform: pick(random, "openai", "openai", "gemini", "perplexity", "chatgpt-shopping"),
		Model:    pick(random, "gpt", "GPT", "sonar"),
		Served:   pick(random, "", "v1", "v1", "v2"),
		Provider: pick(random, "", "", "", "cloro", "oxylabs"),
		Region:   pick(random, "", "de", "DE", "fr"),
	}
	if random.IntN(6) == 0 {
		f.NotShown = true
		return f
	}
	if random.IntN(5) == 0 {
		f.GivenUp = "timeout"
		return f
	}
	for range random.IntN(6) {
		f.Text += pick(random, "Lumen", "Lumen", "Glow", "Beam", "Dusk", "alpha", "Éclat", "Zeta", "東京",
			"Dazu ist nichts bekannt.", "It is a great and wonderful lamp that we love.") +
			pick(random, " ", ", ", ". ")
	}
	for range random.IntN(3) {
		f.Searches = append(f.Searches, pick(random, "ist Lumen gut", "Ist LUMEN gut?", "a", "a é b 2026",
			"Éclat site:a.example", "e b c d", "best AT&T’s t–fal", "東京 ラ"))
	}
	for range random.IntN(4) {
		f.Cites = append(f.Cites,
			"https://"+pick(random, "lumen.example", "www.lumen.example", "rival0.example", "rival1.example",
				"other.example")+pick(random, "/", "/a", "/b?utm_source=x"))
	}
	return f
}

// randomFilter is of a brand, which has topics of its own.
func (s *stage) randomFilter(random *rand.Rand, slug string) (naive.Filter, url.Values) {
	from := time.Date(2026, 2, 18+random.IntN(20), 0, 0, 0, 0, time.UTC)
	f := naive.Filter{From: dayText(from), To: dayText(from.AddDate(0, 0, random.IntN(40)))}
	query := url.Values{"date_from": {f.From}, "date_to": {f.To}}
	if f.Platforms = pick(random, nil, nil, []string{"OpenAI"},
		[]string{"openai", "Gemini", "chatgpt", "chatgpt-shopping"}, []string{"none"}); f.Platforms != nil {
		query.Set("platform", strings.Join(f.Platforms, ","))
	}
	if f.Models = pick(random, nil, nil, []string{"gpt"}, []string{"sonar", "GPT"}, []string{"none"}); f.Models != nil {
		query.Set("model", strings.Join(f.Models, ","))
	}
	if f.Region = pick(random, nil, nil, new("de"), new("DE"), new("xx"), new("")); f.Region != nil {
		query.Set("region", cmp.Or(*f.Region, "none"))
	}
	if topic := pick(random, "", "", "price", "use"); topic != "" {
		f.Topic = new(s.id(s.named(slug, topic)))
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

func (s *stage) wantBodyOf(t *testing.T, organization, target string, want any) (body string) {
	t.Helper()
	status, body := s.get(t, organization, target)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	shown := body
	if strings.Contains(target, "/prompt-") {
		shown = string(naive.WithoutCursor([]byte(body)))
	}
	got, wanted := exactly(t, shown), exactly(t, string(text))
	path, _, _ := strings.Cut(target, "?")
	s.compared[path] += figuresIn(wanted, false)
	if status != 200 || !reflect.DeepEqual(got, wanted) {
		t.Errorf("%s: %d\ngot  %s\nwant %s", target, status, body, text)
	}
	return body
}

// figuresIn counts the numbers in lists of a body that are not 0, and the words that a list has.
func figuresIn(body any, isListed bool) (figures int) {
	switch value := body.(type) {
	case map[string]any:
		for _, member := range value {
			if _, isWord := member.(string); !isWord {
				figures += figuresIn(member, isListed)
			}
		}
	case []any:
		for _, member := range value {
			figures += figuresIn(member, true)
		}
	case json.Number:
		if isListed && strings.ContainsAny(value.String(), "123456789") {
			figures++
		}
	case string:
		figures++
	}
	return figures
}

// exactly reads a body with its numbers as they are written: a sum of decimals has more digits than a float.
func exactly(t *testing.T, body string) (read any) {
	t.Helper()
	from := json.NewDecoder(strings.NewReader(body))
	from.UseNumber()
	if err := from.Decode(&read); err != nil {
		t.Fatal(err, body)
	}
	return read
}
