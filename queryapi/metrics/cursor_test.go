package metrics

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

var (
	aCard = clickhouse.Card{
		ID: clickhouse.UUID{1}, AnsweredAt: time.Date(2026, 3, 2, 9, 0, 0, 5e8, time.UTC),
		AnswerID: clickhouse.UUID{2}, Position: 3,
	}
	ofCards = digest("cards", clickhouse.Filter{BrandID: clickhouse.UUID{4}})
	aCursor = cursor[cardPosition]{cursorVersion, ofCards, positionOfCard(aCard)}
)

func cardCursor(q *query) clickhouse.CardCursor {
	after := readCursor[cardPosition](q, ofCards)
	if after == nil {
		return clickhouse.CardCursor{}
	}
	return after.cursor()
}

func TestACursorIsThePositionOfACard(t *testing.T) {
	q := parseQuery("cursor=" + aCursor.encode())
	got := cardCursor(q)
	want := clickhouse.CardCursor{
		AnsweredAt: "2026-03-02 09:00:00.500", AnswerID: "02000000-0000-0000-0000-000000000000", Position: 3,
		ID: "01000000-0000-0000-0000-000000000000",
	}
	if q.check() != nil || got != want {
		t.Errorf("got %+v, %v", got, q.check())
	}
}

func TestInvalidCursorsAreRefused(t *testing.T) {
	valid := aCursor.encode()
	decoded, err := base64.RawURLEncoding.DecodeString(valid)
	if err != nil {
		t.Fatal(err)
	}
	with := func(part, other string) string {
		if !strings.Contains(string(decoded), part) {
			t.Fatalf("%s has no %s", decoded, part)
		}
		return base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(decoded), part, other, 1)))
	}
	for name, text := range map[string]string{
		"text": "x", "cut": valid[:len(valid)-1], "longer": valid + "A", "padded": valid + "=",
		"no base64": "!" + valid[1:], "a line end": valid[:4] + "\n" + valid[4:],
		"another version": with(`"v":2`, `"v":3`), "no version": with(`"v":2,`, ""),
		"a time that no card has": with("2026", "2150"), "before all times": with("2026", "1969"),
		"a year of six digits": with("2026", "202600"), "another digest": with(ofCards[:2], "zz"),
		"no id":                 with(`"id":"01000000-0000-0000-0000-000000000000"`, `"id":"1"`),
		"an id in another form": with("01000000-0000-0000-0000-000000000000", "{01000000-0000-0000-0000-000000000000}"),
		"null":                  with("3", "null"),
		"a negative position":   with(`"position":3`, `"position":-3`), "another member": with(`"v"`, `"w":1,"v"`),
		"a space": with(`"v":2`, `"v": 2`), "two objects": with("}}", "}}{}"),
		"another list's": cursor[answerPosition]{
			cursorVersion, ofCards, answerPosition{AnsweredAt: instant(aCard.AnsweredAt), ID: aCard.ID},
		}.encode(),
	} {
		q := parseQuery("cursor=" + url.QueryEscape(text))
		if position := cardCursor(q); q.check() == nil || position != (clickhouse.CardCursor{}) {
			t.Errorf("%s: accepted as %+v", name, position)
		}
	}
	for _, query := range []string{"cursor=", "cursor=" + valid + "&cursor=" + valid} {
		if q := parseQuery(query); cardCursor(q) != (clickhouse.CardCursor{}) || q.check() == nil {
			t.Errorf("%s is accepted", query)
		}
	}
}

// Every accepted text is a cursor that the warehouse can read.
func FuzzCursor(f *testing.F) {
	f.Add(aCursor.encode())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := decodeCursor[cardPosition](text)
		if err != nil {
			return
		}
		after := c.Position.cursor()
		if _, err := time.Parse("2006-01-02 15:04:05.000", after.AnsweredAt); err != nil ||
			len(after.AnswerID) != 36 || len(after.ID) != 36 || c.encode() != text {
			t.Fatalf("accepted %+v, %v", after, err)
		}
	})
}

// A list goes on where it was left, for the question that it answers alone: each common filter, the role, the platform
// and the brand make another one. The days and the limit do not.
func TestACursorBelongsToItsQuestion(t *testing.T) {
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	s.addBrand(t, brandFact{Name: "Lamp", Slug: "lamp"})
	s.addFacts(t, answerFact{On: "2026-03-30", Products: []event.Product{{Title: "a"}, {Title: "b"}}})
	target := "/api/v1/shopping-cards?brand_id=" + s.ids["lumen"] + "&limit=1"
	_, body := s.get(t, "acme", target)
	s.keepCursor(t, body)
	for more, want := range map[string]int{
		"": 200, "&date_from=2026-03-01": 200, "&date_to=2026-03-29": 200, "&branded=all": 200,
		"&model=gpt": 400, "&region=de": 400, "&topic_id=" + s.ids["lumen"]: 400, "&branded=true": 400,
		"&role=other": 400, "&platform=openai": 400,
	} {
		if status, body := s.get(t, "acme", target+more+"&cursor="+s.ids["next"]); status != want ||
			want == 400 && !strings.HasPrefix(body, `{"error":"cursor: want the next_cursor of a page`) {
			t.Errorf("%s: %d %s, want %d", more, status, body, want)
		}
	}
	for query, want := range map[string]int{
		"&limit=200&brand_id=" + s.ids["lumen"]: 200, "&brand_id=" + s.ids["lamp"]: 400,
	} {
		if r := s.ask(t, http.MethodGet, "/api/v1/shopping-cards?cursor="+s.ids["next"]+query,
			s.bearer("acme")); r.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", query, r.StatusCode, r.body, want)
		}
	}
}

// A cursor is refused with each filter that its page was asked without: with every parameter of every list but the
// days, the size and form of a page, and compare, which adds figures to rows. What a list reads is what is described,
// as "names" shows.
func aCursorIsRefusedWithAnotherFilter(t *testing.T, s *stage) {
	lists := 0
	for path, o := range contractOf(t).operations {
		if !o.reads("cursor") {
			continue
		}
		lists++
		delete(s.ids, "next")
		_, body := s.get(t, "acme", s.target(o, "lumen", "limit", "1"))
		s.keepCursor(t, body)
		if status, body := s.get(t, "acme",
			s.target(o, "lumen", "limit", "2", "cursor", s.ids["next"])); status != 200 {
			t.Errorf("%s: the second page is %d %s", path, status, body)
		}
		for _, p := range o.parameters {
			if slices.Contains([]string{"brand_id", "date_from", "date_to", "limit", "format", "table", "cursor",
				"compare"}, p.Name) {
				continue
			}
			value := p.unusual()
			status, body := s.get(t, "acme", s.target(o, "lumen", "limit", "1", "cursor", s.ids["next"], p.Name, value))
			if refusal := refusalOf(t, path, body); status != 400 ||
				!strings.HasPrefix(refusal, "cursor: want the next_cursor") {
				t.Errorf("%s, %s=%s with a cursor of a page without it: %d %s", path, p.Name, value, status, body)
			}
		}
	}
	if want := 5; lists != want {
		t.Errorf("%d lists have pages, want %d", lists, want)
	}
}

// unusual is a right value that is not the default.
func (p parameter) unusual() string {
	if p.format() == "uuid" {
		return brandText
	}
	right, _ := p.examples()
	return right[slices.IndexFunc(right, func(value string) bool {
		return p.schema.Default == nil && value != "new" ||
			p.schema.Default != nil && value != fmt.Sprint(*p.schema.Default)
	})]
}

// Pages of one card are read while others come in, of the same instant, newer and older: every card that was there at
// first comes once, in the order in which it was, and none comes twice.
func TestPagesAreStableUnderInserts(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	come := func(at string, n int) {
		facts := make([]answerFact, n)
		for i := range facts {
			facts[i] = answerFact{
				On: at, Products: []event.Product{{Title: "a", Position: 2}, {Title: "b", Position: 2}, {Title: "c"}},
			}
		}
		s.addFacts(t, facts...)
	}
	come("2026-03-20T10:00:00Z", 4)
	come("2026-03-20T09:59:59.999Z", 2)
	first := s.cards(t, "")
	if len(first) != 18 {
		t.Fatalf("%d cards", len(first))
	}
	var read []string
	for cursor := ""; ; {
		_, body := s.get(t, "acme", "/api/v1/shopping-cards?limit=1&brand_id="+s.ids["lumen"]+cursor)
		read = append(read, idsOf(t, body)...)
		delete(s.ids, "next")
		if s.keepCursor(t, body); s.ids["next"] == "" {
			break
		}
		cursor = "&cursor=" + s.ids["next"]
		if len(read)%5 == 1 && len(read) < 20 {
			come("2026-03-20T10:00:00Z", 1)
			come("2026-03-21T10:00:00Z", 1)
			come("2026-03-19T10:00:00Z", 1)
		}
	}
	seen, next := map[string]int{}, 0
	for _, id := range read {
		if seen[id]++; seen[id] > 1 {
			t.Errorf("%s came %d times", id, seen[id])
		}
		if next < len(first) && id == first[next] {
			next++
		}
	}
	if next != len(first) {
		t.Errorf("of the cards that were there at first, %d came in their order, want %d", next, len(first))
	}
	all := s.cards(t, "&date_to=2026-03-20")
	if last := all[len(all)-3:]; fmt.Sprint(last) != fmt.Sprint(read[len(read)-3:]) {
		t.Errorf("the last cards are %v, of all %v", read[len(read)-3:], last)
	}
}

// cards are the ids of up to 200 cards.
func (s *stage) cards(t *testing.T, more string) []string {
	t.Helper()
	_, body := s.get(t, "acme", "/api/v1/shopping-cards?limit=200&brand_id="+s.ids["lumen"]+more)
	return idsOf(t, body)
}

func idsOf(t *testing.T, body string) []string {
	t.Helper()
	var page struct {
		Cards []struct {
			ID string `json:"id"`
		} `json:"cards"`
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range page.Cards {
		ids = append(ids, c.ID)
	}
	return ids
}
