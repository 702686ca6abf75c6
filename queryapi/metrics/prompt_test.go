package metrics

import (
	"cmp"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// named is what the test calls a competitor, prompt or topic of a brand: of the first brand a prompt by its first text and
// a topic by its first name.
func (s *stage) named(slug, text string) string {
	if slug == s.brands[0] {
		return text
	}
	return text + "-of-" + slug
}

// know makes the prompts and topics of facts that Postgres lacks, and waits until the warehouse has them. Of facts that
// have one prompt the first says which topic it has; an answer keeps the topic that its fact names.
func (s *stage) know(t *testing.T, facts ...answerFact) {
	t.Helper()
	prompts, topics := map[string][]postgres.NewPrompt{}, map[string][]string{}
	for _, f := range facts {
		slug, text := cmp.Or(f.Brand, s.brands[0]), cmp.Or(f.Prompt, "p1")
		if _, ok := s.prompts[s.named(slug, text)]; !ok {
			prompts[slug] = append(prompts[slug], postgres.NewPrompt{Text: text, Topic: f.Topic})
		}
		if _, ok := s.ids[s.named(slug, f.Topic)]; !ok && f.Topic != "" {
			topics[slug] = append(topics[slug], f.Topic)
		}
	}
	for slug, wanted := range prompts {
		made, err := s.db.EnsurePrompts(t.Context(), s.id(slug), wanted)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range made {
			name := s.named(slug, wanted[i].Text)
			if _, known := s.prompts[name]; known {
				continue
			}
			s.call(t, name, p.ID)
			s.prompts[name] = p
			if p.TopicID != nil {
				s.topics[*p.TopicID] = wanted[i].Topic // which may be a new one: the first of that name was renamed or deleted
			}
		}
	}
	for slug, names := range topics {
		s.makeTopics(t, slug, names)
	}
	if len(prompts)+len(topics) > 0 {
		s.awaitMirror(t)
	}
}

func (s *stage) makeTopics(t *testing.T, slug string, names []string) {
	t.Helper()
	rows, err := s.db.Query(t.Context(), `
		WITH made AS (
			INSERT INTO public.topics (brand_id, name)
			SELECT DISTINCT $1::uuid, name FROM unnest($2::text[]) AS given (name)
			ON CONFLICT (brand_id, name) DO NOTHING
			RETURNING id, name)
		SELECT id, name FROM made
		UNION ALL
		SELECT id, name FROM public.topics WHERE brand_id = $1 AND name = ANY ($2)`, s.id(slug), names)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			t.Fatal(err)
		}
		s.call(t, s.named(slug, name), id)
		s.topics[id] = name
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
