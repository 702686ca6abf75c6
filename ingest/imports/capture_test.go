package imports

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const least = `"platform":"chatgpt-web","prompt":"best laptop?","answered_at":"2026-03-01T08:00:00Z",` +
	`"text":"A ThinkPad."`

func TestParseReadsEveryField(t *testing.T) {
	got, err := Parse(
		[]byte(
			`{"platform":"chatgpt-shopping","prompt":" best laptop? ","topic":"electronics","model":"gpt",
			"surface":"consumer",
		"region":"us","language":"en","sample":2.0,"answered_at":"2026-03-01T09:30:00.1239+01:00",
		"text":"A “ThinkPad”.","served_model":"gpt-2026",
		"citations":[{"url":"https://a.example/","title":null},{"url":"https://b.example/","title":"B",
		"cited":false},{"url":""}],
		"products":[{"title":"X1","brand":"Lenovo","price_amount":1299.90,"price_currency":"USD","position":3,
		"url":"https://shop.example/x1",
		"image_url":"https://shop.example/x1.png","rating":4.5,"review_count":12},{"title":"T14",
		"price_amount":"899.00"}],
		"Text":"another","unknown":{"a":[1,"]",{"b":"}"}]}}`), now)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 8, 30, 0, 123e6, time.UTC)
	want := Capture{
		Run: answer.Run{
			Platform: "chatgpt-shopping", Prompt: event.Prompt{Text: " best laptop? "}, Model: "gpt", Region: "us",
			Language: "en", Sample: 2, Due: at, EndedAt: at,
		},
		Topic: "electronics",
		Reply: platform.Reply{
			ServedModel: "gpt-2026", Surface: event.SurfaceConsumer, Text: "A “ThinkPad”.",
			Citations: []platform.Citation{
				{Citation: event.Citation{URL: "https://a.example/", Cited: true}},
				{Citation: event.Citation{URL: "https://b.example/", Title: "B"}},
			},
			Products: []event.Product{
				{Position: 3, Title: "X1", Brand: "Lenovo", PriceAmount: "1299.90", PriceCurrency: "USD",
					URL:      "https://shop.example/x1",
					ImageURL: "https://shop.example/x1.png", Rating: 4.5, ReviewCount: 12},
				{Title: "T14", PriceAmount: "899.00"},
			},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A surface that was seen without an answer has no text; it is an observation, and no given-up run.
func TestParseReadsWhatWasNotShown(t *testing.T) {
	const line = `{"platform":"google-ai-overview","prompt":"best laptop?","answered_at":"2026-03-01T08:00:00Z",` +
		`"finish":"not_shown","provider":"serpapi"`
	got, err := Parse([]byte(line+`,"text":""}`), now)
	if err != nil || got.GivenUp != nil || got.Reply.Finish != event.FinishNotShown ||
		got.Reply.Provider != "serpapi" || got.Reply.Text != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	for more, want := range map[string]string{
		`,"text":"hello"}`: `finish: want no text, citations, products or given_up beside "not_shown"`,
		`,"citations":[{"url":"https://a.example/"}]}`: `finish: want no text, citations, products or given_up ` +
			`beside "not_shown"`,
	} {
		if _, err := Parse([]byte(line+more), now); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
	if _, err := Parse([]byte("{"+least+`,"finish":"stop"}`), now); err == nil ||
		!strings.HasPrefix(err.Error(), `finish: want one of`) {
		t.Errorf("of another finish: %v", err)
	}
}

func TestParseDefaults(t *testing.T) {
	got, err := Parse([]byte("{"+least+`,"sample":null,"citations":null,"products":[]}`), now)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	want := Capture{
		Run: answer.Run{
			Platform: "chatgpt-web", Prompt: event.Prompt{Text: "best laptop?"}, Sample: 1, Due: at, EndedAt: at,
		},
		Reply: platform.Reply{Text: "A ThinkPad."},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What a page adds to an answer is no part of it: each recorded answer of AI Mode ends so, and would name Google. Other
// texts stay byte for byte.
func TestParseLeavesOutFurniture(t *testing.T) {
	const end = "AI responses may include mistakes. Learn more\n\nThank you\n\nYour feedback helps Google improve."
	for text, want := range map[string]string{
		"A ThinkPad.\n\n" + end:            "A ThinkPad.",
		" A ThinkPad.\n":                   " A ThinkPad.\n",
		"Google says: " + end + " Not so.": "Google says: " + end + " Not so.",
	} {
		line, err := json.Marshal(map[string]string{
			"platform": "google-ai-mode", "prompt": "best laptop?", "answered_at": "2026-03-01T08:00:00Z", "text": text,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(line, now); err != nil || got.Reply.Text != want {
			t.Errorf("%q is read as %q (%v), want %q", text, got.Reply.Text, err, want)
		}
	}
	line := `{"platform":"google-ai-mode","prompt":"best laptop?","answered_at":"2026-03-01T08:00:00Z",
		"text":"Your feedback helps Google improve."}`
	if _, err := Parse([]byte(line), now); err == nil || err.Error() != "text: want the answer's text" {
		t.Errorf("nothing but furniture: %v", err)
	}
}

// Each line breaks one thing; the reason must name it and say what would be right.
func TestParseRefusesWithAReason(t *testing.T) {
	with := func(field string) string {
		name, _, _ := strings.Cut(field, ":")
		var fields []string
		for f := range strings.SplitSeq(least, `,"`) {
			if f = `"` + strings.TrimPrefix(f, `"`); !strings.HasPrefix(f, name+":") {
				fields = append(fields, f)
			}
		}
		if strings.HasSuffix(field, ":") {
			return "{" + strings.Join(fields, ",") + "}"
		}
		return "{" + strings.Join(append(fields, field), ",") + "}"
	}
	cases := []struct{ line, want string }{
		{``, "want one JSON object a line"},
		{`{"platform":"x"`, "not JSON at byte 16"},
		{`{` + least + `} {}`, "want one JSON object a line"},
		{`[1]`, "not an object: want one JSON object a line"},
		{"{\"platform\":\"\xff\"}", "byte 14 is not UTF-8"},
		{`{` + least + `,"text":"again"}`, "text is there twice: want it once"},
		{with(`"platform":`), "platform: want a slug such as"},
		{with(`"prompt":null`), "prompt: want what was asked"},
		{with(`"answered_at":`), "answered_at: want RFC 3339"},
		{with(`"text":`), "text: want the answer's text"},
		{with(`"text":" \n"`), "text: want the answer's text"},
		{with(`"text":["a"]`), `text: want a string, got a list`},
		{with(`"prompt":"a\u0000b"`), "prompt: want text without U+0000"},
		{with(`"topic":"a\nb"`), "topic: want at most 512 bytes without control characters"},
		{with(`"model":7`), "model: want a string, got a number"},
		{with(`"platform":"` + strings.Repeat("x", 65) + `"`), "platform: want a slug: up to 64"},
		{with(`"platform":"ChatGPT web"`),
			`platform: want a slug: up to 64 lower-case letters, digits, - _ and ., got "ChatGPT web"`},
		{with(`"products":[{"title":"X","price_currency":"$"}]`),
			`products[0].price_currency: want three capital letters (ISO 4217) or nothing, got "$"`},
		{with(`"citations":[` + strings.Repeat(`{"url":""},`, 4096) + `{"url":""}]`), "citations: want at most 4096"},
		{with(`"products":[` + strings.Repeat(`{},`, 1024) + `{}]`), "products: want at most 1024"},
		{with(`"surface":"app"`), `surface: want one of ["" "api" "consumer"], got "app"`},
		{with(`"sample":0`), "sample: want 1 or more, got 0"},
		{with(`"sample":1.5`), "sample: want an integer of 64 bits, got 1.5"},
		{with(`"sample":"1"`), `sample: want an integer of 64 bits, got "1"`},
		{with(`"sample":9223372036854775808`), "sample: want an integer of 64 bits, got 9223372036854775808"},
		{with(`"answered_at":"yesterday"`),
			`answered_at: want RFC 3339 such as "2026-03-02T09:05:00Z", got "yesterday"`},
		{with(`"answered_at":"2026-03-01"`), "want RFC 3339"},
		{with(`"answered_at":"2026-03-01T8:00:00Z"`), "want RFC 3339"},
		{with(`"answered_at":"2026-02-30T08:00:00Z"`), "want RFC 3339"},
		{with(`"answered_at":"2026-03-01T08:00:00+0100"`), "want RFC 3339"},
		{with(`"answered_at":1772352000`), "answered_at: want RFC 3339"},
		{with(`"answered_at":"2019-12-31T23:59:59Z"`), "answered_at: want a time from 2020"},
		{with(`"answered_at":"2026-03-03T12:00:01Z"`),
			"answered_at: want a time up to a day from now, 2026-03-03T12:00:00.000Z"},
		{with(`"citations":{}`), "citations: want a list"},
		{with(`"citations":["https://a.example"]`), `citations[0]: want an object`},
		{with(`"citations":[{"url":"https://a.example"},{"title":"A"}]`), "citations[1].url: want a URL"},
		{with(`"citations":[{"url":"Anvils of all sizes"}]`), "citations[0].url: want a URL such as https://"},
		{with(`"citations":[{"url":"mailto:jo@acme.example"}]`), "citations[0].url: want a URL such as https://"},
		{with(`"citations":[{"url":"ftp://acme.example/a"}]`), "citations[0].url: want a URL such as https://"},
		{with(`"citations":[{"url":"https:///a"}]`), "citations[0].url: want a URL such as https://"},
		{with(`"citations":[{"url":"https://"}]`), "citations[0].url: want a URL such as https://"},
		{with(`"citations":[{"url":"https://a.example","cited":1}]`),
			"citations[0].cited: want true or false, got a number"},
		{with(`"citations":[{"url":"https://a.example","url":""}]`), "citations[0].url is there twice"},
		{with(`"products":[{"price_amount":1}]`), "products[0].title: want a string"},
		{with(`"products":[{"title":"X","price_amount":"$5"}]`), `products[0].price_amount: want a number of 0 or ` +
			`more or a decimal string such as "579.99", at most 12 digits before the point, got "$5"`},
		{with(`"products":[{"title":"X","price_amount":-5}]`), "price_amount: want a number of 0 or more"},
		{with(`"products":[{"title":"X","price_amount":1e99}]`), "price_amount: want"},
		{with(`"products":[{"title":"X","position":0}]`), "products[0].position: want an integer of 1 or more"},
		{with(`"products":[{"title":"X","rating":"5"}]`), `products[0].rating: want a number`},
		{with(`"products":[{"title":"X","rating":-1}]`), `products[0]: want position, rating`},
		{with(`"products":[{"title":"X","review_count":-1}]`),
			"products[0]: want position, rating and review_count of at least 0"},
		{with(`"given_up":"tired"`), `given_up: want one of ["rate_limited"`},
		{with(`"given_up":"timeout"`), "given_up: want no text, citations or products beside it"},
		{`{}`, `platform: want a slug such as "chatgpt-web"; prompt: want what was asked; answered_at: want RFC 3339`},
	}
	for _, c := range cases {
		if _, err := Parse([]byte(c.line), now); err == nil || !strings.Contains(err.Error(), c.want) ||
			len(err.Error()) > 500 {
			t.Errorf("%.200s\n got %v\nwant %s", c.line, err, c.want)
		}
	}
}

// A line of 8 MB that holds millions of items is refused before they fill memory.
func TestParseReadsNoMoreItemsThanARecordHas(t *testing.T) {
	text := []byte(`{` + least + `,"products":[` + strings.Repeat(`{},`, 2<<20) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse(text, now)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; err == nil || grown > 4<<20 {
		t.Errorf("Parse() = %v, allocated %d bytes", err, grown)
	}
}

func TestInstantIsUTCWithoutAZone(t *testing.T) {
	want := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-03-01T08:00:00Z", "2026-03-01T08:00:00", "2026-03-01 08:00:00", "2026-03-01t08:00:00z",
		"2026-03-01T09:00:00.000+01:00", "2026-03-01T07:59:60",
	} {
		var got instant
		err := got.UnmarshalJSON([]byte(`"` + text + `"`))
		if bad := strings.HasSuffix(text, ":60"); (err != nil) != bad || !bad && !time.Time(got).Equal(want) {
			t.Errorf("%s: got %v, %v", text, time.Time(got), err)
		}
	}
}

// encoding/json reads the same fields of an accepted line, and a refusal names the right value.
func FuzzParse(f *testing.F) {
	f.Add([]byte("{" + least + "}"))
	f.Add([]byte(`{` + least + `,"sample":1e0,"citations":[{"url":"https://a.example/]}\"","cited":false}],` +
		`"products":[{"title":"X","price_amount":1.50}]}`))
	f.Add([]byte(`{"platform":"\ud800","prompt":"é","answered_at":"2026-03-01T08:00:00+14:00","text":"\u0000"}`))
	f.Add([]byte(`{"a":[[],{}],"b":"\\\"","platform":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := Parse(line, now)
		if err != nil {
			if !strings.Contains(err.Error(), "want") || !utf8.ValidString(err.Error()) {
				t.Fatalf("reason %q", err)
			}
			return
		}
		var plain map[string]any
		if err := json.Unmarshal(line, &plain); err != nil {
			t.Fatalf("accepted what is no JSON: %v", err)
		}
		if plain["platform"] != c.Platform || plain["prompt"] != c.Prompt.Text || plain["text"] != c.Reply.Text ||
			c.Sample < 1 || c.Due.Year() < 2020 {
			t.Fatalf("read %+v", c)
		}
		if cited, _ := plain["citations"].([]any); len(cited) < len(c.Reply.Citations) {
			t.Fatalf("%d citations, want %d", len(c.Reply.Citations), len(cited))
		}
	})
}

// A citation without a scheme is one of https.
func TestCitedHostsAreAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"acme.example/no-scheme":       "https://acme.example/no-scheme",
		"//acme.example/a":             "https://acme.example/a",
		" www.Acme.example:8443?q=a@b": "https://www.Acme.example:8443?q=a@b",
		"müller-bräu.example":          "https://müller-bräu.example",
		"HTTP://acme.example":          "HTTP://acme.example",
		"https://[::1]/a b":            "https://[::1]/a b",
		"acme":                         "", "/page": "", "jo@acme.example": "", "1.5": "", "javascript:alert(1)": "",
	} {
		if got := webAddress(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
