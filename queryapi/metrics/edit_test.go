package metrics

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// An edit is a change of a brand or of what belongs to it.
type edit struct {
	Do   string `json:"do"`   // add, rename, delete; move: give a prompt another topic
	What string `json:"what"` // brand, competitor, prompt, topic
	Of   string `json:"of"`   // the brand's slug; "" is the first brand
	Name string `json:"name"` // as the test calls it: a brand by its slug, all else by the first name or text
	To   string `json:"to"`   // the new name, text or topic; of an added competitor its domain
}

// nameColumn has the column of the name of each kind.
var nameColumn = map[string]string{"brand": "name", "competitor": "name", "prompt": "text", "topic": "name"}

// edit does what people do, and returns before the warehouse knows.
func (s *stage) edit(t *testing.T, e edit) {
	t.Helper()
	e.Of = cmp.Or(e.Of, s.brands[0])
	if e.Do == "add" {
		s.add(t, e)
		return
	}
	name := e.calledBy(s)
	id, change, values := s.id(name), "", []any{s.id(name)}
	switch e.Do {
	case "rename":
		change, values = fmt.Sprintf("UPDATE public.%ss SET %s = $2 WHERE id = $1", e.What, nameColumn[e.What]),
			append(values, e.To)
	case "delete":
		change = fmt.Sprintf("DELETE FROM public.%ss WHERE id = $1", e.What)
	case "move":
		change, values = "UPDATE public.prompts SET topic_id = nullif($2, '')::uuid WHERE id = $1",
			append(values, s.ids[s.named(e.Of, e.To)])
	}
	tag, err := s.db.Exec(t.Context(), change, values...)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatal(e, tag, err)
	}
	s.remember(e, name, id)
}

// calledBy is what the stage calls the thing that is edited.
func (e edit) calledBy(s *stage) string {
	switch e.What {
	case "brand":
		return e.Of
	case "competitor":
		return e.Name + "-of-" + e.Of
	}
	return s.named(e.Of, e.Name)
}

func (s *stage) add(t *testing.T, e edit) {
	t.Helper()
	switch e.What {
	case "competitor":
		var id uuid.UUID
		domains := []string{}
		if e.To != "" {
			domains = append(domains, e.To)
		}
		err := s.db.QueryRow(t.Context(),
			"INSERT INTO public.competitors (brand_id, name, domains) VALUES ($1, $2, $3) RETURNING id", s.id(e.Of),
			e.Name, domains).Scan(&id)
		if err != nil {
			t.Fatal(e, err)
		}
		s.call(t, e.calledBy(s), id)
	case "prompt":
		s.call(t, e.calledBy(s), idOf("prompt", s.name, e.calledBy(s)))
		s.makePrompts(t, e.Of, []answerFact{{Brand: e.Of, Prompt: e.Name, Topic: e.To}})
	case "topic":
		s.makeTopics(t, e.Of, []string{e.Name})
	}
}

// remember keeps how prompts and topics are called now.
func (s *stage) remember(e edit, name string, id uuid.UUID) {
	p := s.prompts[name]
	switch e.Do + " " + e.What {
	case "rename prompt":
		p.Text = e.To
		s.prompts[name] = p
	case "move prompt":
		if p.TopicID = nil; e.To != "" {
			p.TopicID = new(s.id(s.named(e.Of, e.To)))
		}
		s.prompts[name] = p
	case "rename topic":
		s.topics[id] = e.To
	case "delete topic":
		delete(s.topics, id)
	}
}
