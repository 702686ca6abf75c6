package metrics

import (
	"cmp"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// named is what the test calls a competitor, prompt or topic of a brand: of the first brand a prompt by its first text
// and a topic by its first name.
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
	prompts, topics := map[string][]answerFact{}, map[string][]string{}
	for _, f := range facts {
		slug := cmp.Or(f.Brand, s.brands[0])
		if _, ok := s.ids[s.named(slug, f.Topic)]; !ok && f.Topic != "" {
			topics[slug] = append(topics[slug], f.Topic)
		}
		name := s.named(slug, cmp.Or(f.Prompt, "p1"))
		if _, ok := s.ids[name]; !ok {
			prompts[slug] = append(prompts[slug], f)
			// the same in every run: of equals in a list the first by id comes first
			s.call(t, name, idOf("prompt", s.name, name))
		}
	}
	for slug, names := range topics {
		s.makeTopics(t, slug, names)
	}
	for slug, facts := range prompts {
		s.makePrompts(t, slug, facts)
	}
	if len(prompts)+len(topics) > 0 {
		s.awaitMirror(t)
	}
}

func (s *stage) makePrompts(t *testing.T, slug string, facts []answerFact) {
	t.Helper()
	set := uuid.Must(uuid.NewV4())
	if _, err := s.db.Exec(t.Context(), "INSERT INTO public.prompt_sets (id, brand_id, name) VALUES ($1, $2, 'Asked')",
		set, s.id(slug)); err != nil {
		t.Fatal(err)
	}
	var ids, texts, topics []string
	for _, f := range facts {
		text := cmp.Or(f.Prompt, "p1")
		p, topic := postgres.Prompt{ID: s.id(s.named(slug, text)), Text: text, SetID: set}, ""
		if id := s.id(s.named(slug, f.Topic)); s.topics[id] != "" { // else it was deleted
			p.TopicID, topic = &id, id.String()
		}
		s.prompts[s.named(slug, text)] = p
		ids, texts, topics = append(ids, p.ID.String()), append(texts, text), append(topics, topic)
	}
	_, err := s.db.Exec(t.Context(), `
		INSERT INTO public.prompts (id, brand_id, prompt_set_id, text, topic_id)
		SELECT id::uuid, $1, $2, text, nullif(topic, '')::uuid FROM unnest($3::text[], $4::text[], $5::text[])
			AS given (id, text, topic)`,
		s.id(slug), set, ids, texts, topics)
	if err != nil {
		t.Fatal(err)
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
