package imports

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Lines as export writes them.
const (
	exportedView = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","event":"view","platform":"chatgpt","platform_by":"utm","host":"acme.example","path":"/a b","referrer_host":"","country":"DE","country_by":"database","language":"de","screen":"1x1","time_zone":"Europe/Berlin","session":"s","new_session":true,"visitor":"18446744073709551615","goal_name":"","goal_value":null,"goal_currency":"","simulated":false,"log_topic":"visits","log_partition":1,"log_offset":7}`
	exportedGoal = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","event":"goal","platform":"chatgpt","host":"acme.example","path":"/","visitor":"0","goal_name":"purchase","goal_value":"-1.5","goal_currency":"EUR","simulated":true}`
	exportedBot  = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","crawler":"GPTBot","operator":"OpenAI","platform":"chatgpt","purpose":"training","host":"acme.example","path":"/","status":200,"bytes":10,"verified":null,"simulated":false,"log_topic":"crawls"}`
)

// readFact reads a line as an import does.
func readFact(text string) (fact, error) {
	var l line
	if err := decode([]byte(text), &l); err != nil {
		return fact{}, err
	}
	if !l.isFact() {
		return fact{}, errNoFact
	}
	return parseFact(&l, []byte(text), now)
}

var errNoFact = &event.MalformedError{Want: "a fact"}

func TestExportedFactsAreRead(t *testing.T) {
	t.Parallel()
	view, err := readFact(exportedView)
	if err != nil || view.visit == nil || view.visit.Visitor != 1<<64-1 || !view.visit.NewSession || view.visit.Goal != nil || view.visit.Path != "/a b" {
		t.Errorf("%+v, %v", view.visit, err)
	}
	goal, err := readFact(exportedGoal)
	if err != nil || goal.visit == nil || *goal.visit.Goal != (event.Goal{Name: "purchase", Value: "-1.5", Currency: "EUR"}) || !goal.visit.Simulated {
		t.Errorf("%+v, %v", goal.visit, err)
	}
	bot, err := readFact(exportedBot)
	if err != nil || bot.crawl == nil || bot.crawl.Verified != nil || bot.crawl.Status != 200 || bot.crawl.Purpose != event.PurposeTraining {
		t.Errorf("%+v, %v", bot.crawl, err)
	}
	// An answer may have any other field.
	if _, err := readFact(`{` + least + `,"event":"x","crawler":1}`); !errors.Is(err, errNoFact) {
		t.Errorf("an answer with event and crawler: %v", err)
	}
}

// A fact is of the brand that it is imported for, whatever its line says.
func TestAFactIsOfTheBrandThatItIsImportedFor(t *testing.T) {
	t.Parallel()
	stolen := `"organization_id":"019cae6b-6600-7abc-8def-00000000000a","brand_id":"019cae6b-6600-7abc-8def-00000000000b",`
	organization, brand := uuid.UUID{7}, uuid.UUID{8}
	for _, text := range []string{exportedGoal, exportedBot} {
		f, err := readFact("{" + stolen + text[1:])
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.record(organization, brand)
		if err != nil {
			t.Fatal(err)
		}
		var v event.Visit
		var c event.Crawl
		if f.visit != nil {
			err = event.DecodeVisit(r.Value, &v)
		} else {
			err = event.DecodeCrawl(r.Value, &c)
			v.OrganizationID, v.BrandID, v.ID = c.OrganizationID, c.BrandID, c.ID
		}
		if err != nil || v.OrganizationID != organization || v.BrandID != brand || v.ID != f.id() || string(r.Key) != string(event.BrandKey(brand)) {
			t.Errorf("%s, %v", r.Value, err)
		}
	}
}

func TestWrongFactsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, old, new, want string }{
		{exportedView, `"id":"019cae6b-`, `"id":"`, `id: want a UUID such as`},
		{exportedView, `"id":"019cae6b-6600-7abc-8def-0123456789ab",`, ``, `id: want a UUID that is not nil`},
		{exportedView, `"at":"2026-03-02T12:00:00.000Z",`, ``, `at: want RFC 3339`},
		{exportedView, `"at":"2026-03-02T`, `"at":"2026-03-04T`, `at: want within 24 h of the time in the record's id`},
		{exportedView, `"event":"view"`, `"event":"click"`, `event: want one of ["view" "goal"], got "click"`},
		{exportedView, `"event":"view"`, `"event":null`, `event: want one of`},
		{exportedView, `"event":"view"`, `"event":["view"]`, `event: want a string, got a list`},
		{exportedView, `"event":"view"`, `"event":"view","event":"goal"`, `event is there twice`},
		{exportedView, `"platform":"chatgpt"`, `"platform":"Chat GPT"`, `platform: want a slug`},
		{exportedView, `"host":"acme.example"`, `"host":"` + strings.Repeat("x", 254) + `"`, `host: want at most 253 bytes, got 254`},
		{exportedView, `"path":"/a b"`, `"path":"a"`, `path: want a path that begins with /`},
		{exportedView, `"path":"/a b"`, `"path":"/\u202e"`, `path and goal_name: want text without control characters`},
		{exportedView, `"path":"/a b"`, `"path":"/` + strings.Repeat("x", 1<<20) + `"`, `path: want at most 4096 bytes`},
		{exportedView, `"visitor":"18446744073709551615"`, `"visitor":"-1"`, `visitor: want`},
		{exportedView, `"visitor":"18446744073709551615"`, `"visitor":1`, `visitor: want`},
		{exportedView, `"country":"DE"`, `"country":"Germany"`, `country: want two capital letters`},
		{exportedView, `"goal_name":""`, `"goal_name":"x"`, `goal: want a goal exactly where event is "goal"`},
		{exportedGoal, `"goal_name":"purchase"`, `"goal_name":""`, `goal_name: want text that is not empty`},
		{exportedGoal, `"goal_value":"-1.5"`, `"goal_value":-1.5`, `goal_value: want a string, got a number`},
		{exportedGoal, `"goal_value":"-1.5"`, `"goal_value":"1e3"`, `goal_value: want a decimal number as text`},
		{exportedGoal, `"goal_currency":"EUR"`, `"goal_currency":"eur"`, `goal_currency: want three capital letters`},
		{exportedBot, `"at":"2026-03-02T12:00:00.000Z"`, `"at":"2026-03-02T12:00:01.000Z"`, `at: want the time in the record's id`},
		{exportedBot, `"purpose":"training"`, `"purpose":"fun"`, `purpose: want one of`},
		{exportedBot, `"crawler":"GPTBot"`, `"crawler":""`, `crawler: want text that is not empty`},
		{exportedBot, `"status":200`, `"status":"200"`, `status: want an integer of 64 bits`},
		{exportedBot, `"status":200`, `"status":1000`, `status: want a status of HTTP, 0 to 999, got 1000`},
		{exportedBot, `"bytes":10`, `"bytes":-1`, `bytes: want 0 or more, got -1`},
		{exportedBot, `"verified":null`, `"verified":"yes"`, `verified: want true or false`},
		{exportedBot, `"path":"/"`, `"path":"/\u0007"`, `path and goal_name: want text without control characters`},
		{exportedBot, `"simulated":false`, `"simulated":false`, ``},
	} {
		if strings.Count(c.line, c.old) != 1 {
			t.Fatalf("%s is not once in %s", c.old, c.line)
		}
		_, err := readFact(strings.Replace(c.line, c.old, c.new, 1))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500) {
			t.Errorf("%.100s: got %v, want %s", c.new, err, c.want)
		}
	}
	tomorrow := strings.NewReplacer("019cae6b-6600", event.RunID(event.Identity{Due: now.Add(25 * time.Hour)}).String()[:13], "2026-03-02T12", "2026-03-03T13").Replace(exportedBot)
	if _, err := readFact(tomorrow); err == nil || !strings.Contains(err.Error(), "at: want a time up to a day from now") {
		t.Errorf("a crawl to come: %v", err)
	}
}

// A hostile line of 8 MB costs a small multiple of itself.
func TestAHostileFactTakesLittleMemory(t *testing.T) {
	for _, text := range []string{
		`{"event":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"path":"/` + strings.Repeat("x", 7<<20) + `"}`,
		`{"event":[` + strings.Repeat(`{},`, 2<<20) + `{}]}`,
		`{"crawler":"x"` + strings.Repeat(`,"x":1`, 1<<20) + `}`,
		`{"event":"` + strings.Repeat(`\u0000`, 1<<20) + `"}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readFact(text)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; err == nil || len(err.Error()) > 1000 || grown > 32<<20 {
			t.Errorf("%.40s…: %.200v, allocated %d bytes", text, err, grown)
		}
	}
}

// What is accepted can be appended, and a refusal says what would be right.
func FuzzFact(f *testing.F) {
	for _, text := range []string{
		exportedView, exportedGoal, exportedBot, `{"event":1}`, `{"crawler":null,"event":"goal"}`, `{"event":"view","visitor":"1.0"}`,
		`{"event":"goal","goal_name":"\ud800"}`, `{"crawler":"\u0000","id":"{019cae6b-6600-7abc-8def-0123456789ab}"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readFact(text)
		if err != nil {
			if !strings.Contains(err.Error(), "want") && !errors.Is(err, errNoFact) || !utf8.ValidString(err.Error()) {
				t.Fatalf("reason %q", err)
			}
			return
		}
		r, err := got.record(uuid.UUID{1}, uuid.UUID{2})
		if err != nil {
			t.Fatal(err)
		}
		var v event.Visit
		var c event.Crawl
		if got.visit != nil {
			err = event.DecodeVisit(r.Value, &v)
		} else {
			err = event.DecodeCrawl(r.Value, &c)
		}
		if err != nil {
			t.Fatalf("%s cannot be read: %v", r.Value, err)
		}
	})
}
