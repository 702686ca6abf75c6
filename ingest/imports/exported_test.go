package imports

import (
	"errors"
	"fmt"
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
	exportedView = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","event":"view",` +
		`"platform":"chatgpt","platform_by":"utm","host":"acme.example","path":"/a b","referrer_host":"",` +
		`"country":"DE","country_by":"database","language":"de","screen":"1x1","time_zone":"Europe/Berlin",` +
		`"session":"s","new_session":true,"visitor":"18446744073709551615","goal_name":"","goal_value":null,` +
		`"goal_currency":"","simulated":false,"log_topic":"visits","log_partition":1,"log_offset":7}`
	exportedGoal = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","event":"goal",` +
		`"platform":"chatgpt","host":"acme.example","path":"/","visitor":"0","goal_name":"purchase",` +
		`"goal_value":"-1.5","goal_currency":"EUR","simulated":true}`
	exportedBot = `{"id":"019cae6b-6600-7abc-8def-0123456789ab","at":"2026-03-02T12:00:00.000Z","crawler":"GPTBot",` +
		`"operator":"OpenAI","platform":"chatgpt","purpose":"training","host":"acme.example","path":"/",` +
		`"status":200,"bytes":10,"verified":null,"simulated":false,"log_topic":"crawls"}`
)

// exported is an exported line as it comes to the log: one of both, the other nil.
type exported struct {
	visit *event.Visit
	crawl *event.Crawl
}

var organization, brand = uuid.UUID{7}, uuid.UUID{8}

// readExported reads a line as an import does, and the record that it becomes.
func readExported(text string) (e exported, err error) {
	topic, f, err := parseLine([]byte(text), now)
	if err != nil {
		return e, err
	}
	if topic == event.TopicAnswers {
		return e, errNotExported
	}
	value, err := f.encode(organization, brand)
	if err != nil {
		return e, fmt.Errorf("%w: encode: %w", errUnreadable, err)
	}
	if topic == event.TopicVisits {
		e.visit = &event.Visit{}
		err = event.DecodeVisit(value, e.visit)
	} else {
		e.crawl = &event.Crawl{}
		err = event.DecodeCrawl(value, e.crawl)
	}
	if err != nil {
		return e, fmt.Errorf("%w: %s: %w", errUnreadable, value, err)
	}
	return e, nil
}

var (
	errNotExported = &event.MalformedError{Want: "an exported line"}
	errUnreadable  = errors.New("no readable record")
)

func TestExportedFactsAreRead(t *testing.T) {
	t.Parallel()
	view, err := readExported(exportedView)
	if err != nil || view.visit == nil || view.visit.Visitor != 1<<64-1 || !view.visit.NewSession ||
		view.visit.Goal != nil || view.visit.Path != "/a b" {
		t.Errorf("%+v, %v", view.visit, err)
	}
	goal, err := readExported(exportedGoal)
	if err != nil || goal.visit == nil ||
		*goal.visit.Goal != (event.Goal{Name: "purchase", Value: "-1.5", Currency: "EUR"}) || !goal.visit.Simulated {
		t.Errorf("%+v, %v", goal.visit, err)
	}
	bot, err := readExported(exportedBot)
	if err != nil || bot.crawl == nil || bot.crawl.Verified != nil || bot.crawl.Status != 200 ||
		bot.crawl.Purpose != event.PurposeTraining {
		t.Errorf("%+v, %v", bot.crawl, err)
	}
	// An answer may have any other field.
	if _, err := readExported(`{` + least + `,"event":"x","crawler":1}`); !errors.Is(err, errNotExported) {
		t.Errorf("an answer with event and crawler: %v", err)
	}
}

// An exported fact is of the brand that it is imported for, even if its line names another one.
func TestExportedFactGetsTheBrandOfTheImport(t *testing.T) {
	t.Parallel()
	for _, others := range []string{
		`"organization_id":"019cae6b-6600-7abc-8def-00000000000a","brand_id":"019cae6b-6600-7abc-8def-00000000000b",`,
		`"organization_id":7,"brand_id":[],"v":"x",`,
	} {
		for _, text := range []string{exportedGoal, exportedBot} {
			e, err := readExported("{" + others + text[1:])
			if err != nil {
				t.Fatal(err)
			}
			var v event.Visit
			if e.visit != nil {
				v = *e.visit
			} else {
				v.OrganizationID, v.BrandID, v.ID = e.crawl.OrganizationID, e.crawl.BrandID, e.crawl.ID
			}
			if v.OrganizationID != organization ||
				v.BrandID != brand || v.ID.String() != "019cae6b-6600-7abc-8def-0123456789ab" {
				t.Errorf("%+v", v)
			}
		}
	}
}

func TestWrongExportedLinesAreRefusedWithAReason(t *testing.T) {
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
		{exportedView, `"host":"acme.example"`, `"host":"` + strings.Repeat("x", 254) + `"`,
			`host: want at most 253 bytes, got 254`},
		{exportedView, `"path":"/a b"`, `"path":"a"`, `path: want a path that begins with /`},
		{exportedView, `"path":"/a b"`, `"path":"/\u202e"`, `path and goal_name: want text without control characters`},
		{exportedView, `"path":"/a b"`, `"path":"/` + strings.Repeat("x", 1<<20) + `"`,
			`path: want at most 4096 bytes`},
		{exportedView, `"visitor":"18446744073709551615"`, `"visitor":"-1"`, `visitor: want`},
		{exportedView, `"visitor":"18446744073709551615"`, `"visitor":1`, `visitor: want`},
		{exportedView, `"country":"DE"`, `"country":"Germany"`, `country: want two capital letters`},
		{exportedView, `"goal_name":""`, `"goal_name":"x"`, `goal: want a goal exactly where event is "goal"`},
		{exportedGoal, `"goal_name":"purchase"`, `"goal_name":""`, `goal_name: want text that is not empty`},
		{exportedGoal, `"goal_value":"-1.5"`, `"goal_value":-1.5`, `goal_value: want a string, got a number`},
		{exportedGoal, `"goal_value":"-1.5"`, `"goal_value":"1e3"`, `goal_value: want a decimal number as text`},
		{exportedGoal, `"goal_currency":"EUR"`, `"goal_currency":"eur"`, `goal_currency: want three capital letters`},
		{exportedBot, `"at":"2026-03-02T12:00:00.000Z"`, `"at":"2026-03-02T12:00:01.000Z"`,
			`at: want the time in the record's id`},
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
		_, err := readExported(strings.Replace(c.line, c.old, c.new, 1))
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500) {
			t.Errorf("%.100s: got %v, want %s", c.new, err, c.want)
		}
	}
	tomorrow := strings.NewReplacer("019cae6b-6600",
		event.RunID(event.Identity{Due: now.Add(25 * time.Hour)}).String()[:13], "2026-03-02T12",
		"2026-03-03T13").Replace(exportedBot)
	if _, err := readExported(tomorrow); err == nil ||
		!strings.Contains(err.Error(), "at: want a time up to a day from now") {
		t.Errorf("a crawl to come: %v", err)
	}
}

// A hostile line of 8 MB costs a small multiple of itself.
func TestHostileLineTakesLittleMemory(t *testing.T) {
	for _, text := range []string{
		`{"event":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"path":"/` +
			strings.Repeat("x", 7<<20) + `"}`,
		`{"event":[` + strings.Repeat(`{},`, 2<<20) + `{}]}`,
		`{"crawler":"x"` + strings.Repeat(`,"x":1`, 1<<20) + `}`,
		`{"event":"` + strings.Repeat(`\u0000`, 1<<20) + `"}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readExported(text)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; err == nil || len(err.Error()) > 1000 || grown > 32<<20 {
			t.Errorf("%.40s…: %.200v, allocated %d bytes", text, err, grown)
		}
	}
}

// An accepted line can be appended, and a refusal names the right value.
func FuzzExported(f *testing.F) {
	for _, text := range []string{
		exportedView, exportedGoal, exportedBot, `{"event":1}`, `{"crawler":null,"event":"goal"}`,
		`{"event":"view","visitor":"1.0"}`,
		`{"event":"goal","goal_name":"\ud800"}`, `{"crawler":"\u0000","id":"{019cae6b-6600-7abc-8def-0123456789ab}"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readExported(text)
		if errors.Is(err, errUnreadable) || err != nil && !strings.Contains(err.Error(), "want") ||
			err != nil && !utf8.ValidString(err.Error()) {
			t.Fatalf("reason %q", err)
		}
	})
}
