package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestPromptsAreTheirTextByteForByte(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	b := added(t, db, organization(t, db, "House").ID, acme())
	wanted := []postgres.NewPrompt{
		{Text: "best anvil?", Topic: "anvils"},
		{Text: "Best anvil?"},
		{Text: "best anvil? "},
		{Text: "cafe\u0301"}, {Text: "caf\u00e9", Topic: "drinks"},
		{Text: "best anvil?", Topic: "late"},
	}
	first, err := db.EnsurePrompts(t.Context(), b.ID, wanted)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[uuid.UUID]bool{}
	for i, p := range first {
		ids[p.ID] = true
		if p.Text != wanted[i].Text || p.SetID.IsNil() || p.SetID != first[0].SetID || p.IsBranded != nil {
			t.Errorf("prompt %d is %+v, want %+v", i, p, wanted[i])
		}
		if has := p.TopicID != nil; has != (i == 0 || i == 4 || i == 5) {
			t.Errorf("prompt %d has a topic: %v", i, has)
		}
	}
	if len(ids) != 5 || first[0].ID != first[5].ID || *first[0].TopicID == *first[4].TopicID {
		t.Errorf("prompts %+v", first)
	}
	again, err := db.EnsurePrompts(t.Context(), b.ID,
		append(wanted[1:], postgres.NewPrompt{Text: "new", Topic: "anvils"}))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range first[1:] {
		if again[i].ID != p.ID {
			t.Errorf("%q got another id", p.Text)
		}
	}
	if *again[5].TopicID != *first[0].TopicID {
		t.Error("a topic was made twice")
	}
	if _, err := db.EnsurePrompts(t.Context(), uuid.Must(uuid.NewV4()), wanted); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("prompts of no brand: %v", err)
	}
	if none, err := db.EnsurePrompts(t.Context(), b.ID, nil); err != nil || len(none) > 0 {
		t.Errorf("no prompts: %v, %v", none, err)
	}
}

func TestPromptsEnsuredAtOnceAreTheSame(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	b := added(t, db, organization(t, db, "House").ID, acme())
	wanted := make([]postgres.NewPrompt, 3000)
	for i := range wanted {
		wanted[i] = postgres.NewPrompt{Text: fmt.Sprintf("question %d", i), Topic: fmt.Sprintf("topic %d", i%7)}
	}
	got := make([][]postgres.Prompt, 6)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			mine := wanted[i*100 : 2400+i*100] // they overlap
			prompts, err := db.EnsurePrompts(t.Context(), b.ID, mine)
			if err != nil {
				t.Error(err)
			}
			got[i] = prompts
		})
	}
	wg.Wait()
	ids := map[string]uuid.UUID{}
	for _, prompts := range got {
		for _, p := range prompts {
			if id, ok := ids[p.Text]; ok && id != p.ID {
				t.Fatalf("%q has two prompts", p.Text)
			}
			ids[p.Text] = p.ID
		}
	}
	var prompts, sets, topics int
	if err := db.QueryRow(t.Context(),
		`SELECT count(*), count(DISTINCT prompt_set_id), count(DISTINCT topic_id) FROM public.prompts`).Scan(&prompts,
		&sets, &topics); err != nil {
		t.Fatal(err)
	}
	if want := []int{len(ids), 1, 7}; !slices.Equal([]int{prompts, sets, topics}, want) {
		t.Errorf("%d prompts, %d sets, %d topics; want %v", prompts, sets, topics, want)
	}
}

// Once, ten thousand texts took eight seconds to find: the planner knew nothing yet
// of a table that the same import had just filled, and compared all with all.
func TestPromptsAreFoundByTheIndexBeforeThePlannerKnowsThem(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	b := added(t, db, organization(t, db, "House").ID, acme())
	wanted := make([]postgres.NewPrompt, 2000)
	texts := make([]string, len(wanted))
	for i := range wanted {
		texts[i] = fmt.Sprintf("question %d", i)
		wanted[i].Text = texts[i]
	}
	if _, err := db.EnsurePrompts(t.Context(), b.ID, wanted); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("query/prompts_by_text.sql")
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(list[string](t, connected(t, dsn), "EXPLAIN "+string(text), b.ID, texts), "\n")
	if !strings.Contains(plan, "prompts_brand_id_text_idx") ||
		!strings.Contains(plan, "AND (hashtextextended(text, '0'::bigint) = ") {
		t.Errorf("plan\n%s", plan)
	}
}

// A prompt that is off, or whose set is off, is not asked, also where it is asked for: its answers would be paid for.
func TestPromptsThatAreOffAreNotAsked(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	texts := []postgres.NewPrompt{{Text: "on"}, {Text: "off"}, {Text: "of a set that is off"}}
	all, err := db.EnsurePrompts(t.Context(), b.ID, texts)
	if err != nil {
		t.Fatal(err)
	}
	set := one[uuid.UUID](t, root,
		"INSERT INTO public.prompt_sets (brand_id, name, is_active) VALUES ($1, 'Off', false) RETURNING id", b.ID)
	one[uuid.UUID](t, root, "UPDATE public.prompts SET is_active = false WHERE id = $1 RETURNING id", all[1].ID)
	one[uuid.UUID](t, root, "UPDATE public.prompts SET prompt_set_id = $2 WHERE id = $1 RETURNING id", all[2].ID, set)
	for _, ids := range [][]uuid.UUID{nil, {all[0].ID, all[1].ID, all[2].ID}} {
		prompts, err := db.PromptsToAsk(t.Context(), b.ID, ids)
		if err != nil || len(prompts) != 1 || prompts[0].ID != all[0].ID {
			t.Errorf("of %v are asked %+v, %v", ids, prompts, err)
		}
	}
	prompts, err := db.PromptsToAsk(t.Context(), b.ID, []uuid.UUID{all[1].ID, all[2].ID})
	if err != nil || len(prompts) != 0 {
		t.Errorf("asked are %+v, %v", prompts, err)
	}
}
