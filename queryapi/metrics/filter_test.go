package metrics

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const brandText = "0198c1f2-0000-7000-8000-00000000000a"

var (
	brandID = uuid.Must(uuid.FromString(brandText))
	topicID = clickhouse.UUID(uuid.Must(uuid.FromString("0198c1f2-0000-7000-8000-0000000000ff")))
	// half a second before midnight: the days are UTC's, whatever the clock's zone says
	now = time.Date(2026, 3, 2, 0, 59, 59, 5e8, time.FixedZone("CET", 3600))
)

func days(t *testing.T, from, to string) window {
	t.Helper()
	a, errFrom := time.Parse(time.DateOnly, from)
	b, errTo := time.Parse(time.DateOnly, to)
	if errFrom != nil || errTo != nil {
		t.Fatal(errFrom, errTo)
	}
	return window{a, b}
}

// What the common parameters mean. Each query is asked with a brand_id before it.
func TestCommonParameters(t *testing.T) {
	last30 := days(t, "2026-01-31", "2026-03-01")
	cases := []struct {
		query string
		want  commonParams
	}{
		{"", commonParams{window: last30}},
		{"&", commonParams{window: last30}},
		{"&&", commonParams{window: last30}},

		{"&date_from=2026-02-28&date_to=2026-02-28", commonParams{window: days(t, "2026-02-28", "2026-02-28")}},
		{"&date_from=2024-03-01", commonParams{window: days(t, "2024-03-01", "2026-03-01")}},
		{"&date_from=2026-03-01", commonParams{window: days(t, "2026-03-01", "2026-03-01")}},
		// into the future, where nothing is yet
		{"&date_to=2026-03-29", commonParams{window: days(t, "2026-02-28", "2026-03-29")}},
		{"&date_from=2024-03-01&date_to=2026-03-01", commonParams{window: days(t, "2024-03-01", "2026-03-01")}},
		{"&date_to=0000-01-02", commonParams{window: days(t, "0000-01-01", "0000-01-02")}},

		{"&model=gpt-5", commonParams{window: last30, models: []string{"gpt-5"}}},
		{"&model=sonar,gpt-5%2cgpt-5", commonParams{window: last30, models: []string{"gpt-5", "sonar"}}},
		{"&model=gpt-5,+sonar%20", commonParams{window: last30, models: []string{"gpt-5", "sonar"}}},
		{"&model=a%26b%3D%2B;'%22%5C%0A", commonParams{window: last30, models: []string{"a&b=+;'\"\\"}}},
		{"&platform=OpenAI,gemini,gemini", commonParams{window: last30, platforms: []string{"OpenAI", "gemini"}}},
		{"&region=de", commonParams{window: last30, regions: []string{"de"}}},
		{"&region=de,fr", commonParams{window: last30, regions: []string{"de,fr"}}}, // one region of that name
		{"&region=S%C3%A3o+Paulo", commonParams{window: last30, regions: []string{"São Paulo"}}},
		{"&region=São", commonParams{window: last30, regions: []string{"São"}}},
		{"&topic_id=0198C1F2-0000-7000-8000-0000000000FF",
			commonParams{window: last30, topics: []clickhouse.UUID{topicID}}},
		{"&branded=all", commonParams{window: last30}},
		{"&branded=true", commonParams{window: last30, branded: []bool{true}}},
		{"&branded=false", commonParams{window: last30, branded: []bool{false}}},
		{"&%6Dodel=gpt-5", commonParams{window: last30, models: []string{"gpt-5"}}},
	}
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			q := parseQuery("brand_id=" + brandText + c.query)
			got := q.common(now)
			if err := q.check(); err != nil {
				t.Fatal(err)
			}
			c.want.brandID = brandID
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// What is refused, and what is said of it: the parameter and what would be right.
func TestRefusedParameters(t *testing.T) {
	const brand = "brand_id=" + brandText
	const wantBrand = "brand_id: want the id of a brand that GET /api/v1/brands lists, a UUID"
	const wantDay = ": want a day of the calendar as YYYY-MM-DD"
	cases := []struct{ query, want string }{
		{"", wantBrand + ", got nothing"},
		{"brand_id", wantBrand + ", got an empty value"},
		{"brand_id=", wantBrand + ", got an empty value"},
		{"brand_id=x", wantBrand + `, got "x"`},
		{"brand_id=0198c1f20000700080000000000000aa", wantBrand + `, got "0198c1f20000700080000000000000aa"`},
		{"brand_id={" + brandText + "}", wantBrand + `, got "{` + brandText + `}"`},
		{"brand_id=urn:uuid:" + brandText, wantBrand + `, got "urn:uuid:` + brandText + `"`},
		{"brand_id=+" + brandText[1:], wantBrand + `, got " ` + brandText[1:] + `"`},
		{"brand_id=" + strings.Repeat("x", 70), wantBrand + `, got "` + strings.Repeat("x", 60) + `"… (70 bytes)`},
		{brand + "&" + brand, wantBrand + ", once, got it 2 times"},

		{brand + "&date_from=", "date_from" + wantDay + ", got an empty value"},
		{brand + "&date_from=2026-02-29", "date_from" + wantDay + `, got "2026-02-29"`},
		{brand + "&date_from=2026-13-01", "date_from" + wantDay + `, got "2026-13-01"`},
		{brand + "&date_from=2026-2-1", "date_from" + wantDay + `, got "2026-2-1"`},
		{brand + "&date_from=2026-02-01T00:00:00Z", "date_from" + wantDay + `, got "2026-02-01T00:00:00Z"`},
		{brand + "&date_to=+2026-02-01", "date_to" + wantDay + `, got " 2026-02-01"`},
		{brand + "&date_to=-2026-02-01", "date_to" + wantDay + `, got "-2026-02-01"`},
		{brand + "&date_to=20260201", "date_to" + wantDay + `, got "20260201"`},
		{brand + "&date_to=today", "date_to" + wantDay + `, got "today"`},
		{brand + "&date_to=２０２６-02-01", "date_to" + wantDay + `, got "２０２６-02-01"`},
		{brand + "&date_from=2026-03-02&date_to=2026-03-01",
			"date_from: want a day up to date_to, 2026-03-01, got 2026-03-02"},
		{brand + "&date_from=2026-03-02",
			"date_from: want a day up to today (date_to is missing), 2026-03-01, got 2026-03-02"},
		{brand + "&date_from=2024-02-29&date_to=2026-03-01", "date_from: want at most 731 days up to date_to, both " +
			"counted: 2024-03-01 or later, got 732 days"},
		{brand + "&date_from=2024-02-29", "date_from: want at most 731 days up to today (date_to is missing), both " +
			"counted: 2024-03-01 or later, got 732 days"},
		{brand + "&date_from=0000-01-01&date_to=9999-12-31", "date_from: want at most 731 days up to date_to, both " +
			"counted: 9997-12-31 or later, got 3652425 days"},
		{brand + "&date_from=2026-01-01&date_from=2026-01-01", "date_from" + wantDay + ", once, got it 2 times"},

		{brand + "&model=", "model: want model slugs separated by commas, got an empty value"},
		{brand + "&model", "model: want model slugs separated by commas, got an empty value"},
		{brand + "&model=a,,b", `model: want model slugs separated by commas, none of them empty, got "a,,b"`},
		{brand + "&model=,", `model: want model slugs separated by commas, none of them empty, got ","`},
		{brand + "&model=a,%20", `model: want model slugs separated by commas, none of them empty, got "a, "`},
		{brand + "&model=a&model=b", "model: want model slugs separated by commas, once, got it 2 times"},
		{brand + "&model=%zz", `model: want model slugs separated by commas, with "%" written as "%25", got "%zz"`},
		{brand + "&model=100%", `model: want model slugs separated by commas, with "%" written as "%25", got "100%"`},
		{brand + "&model=%ff", `model: want model slugs separated by commas, as UTF-8 without NUL, got "\xff"`},
		{brand + "&model=\xff", `model: want model slugs separated by commas, as UTF-8 without NUL, got "\xff"`},
		{brand + "&model=a%00", `model: want model slugs separated by commas, as UTF-8 without NUL, got "a\x00"`},
		{brand + "&region=", "region: want a region, none, or no such parameter for all, got an empty value"},
		{brand + "&region=de&region=fr",
			"region: want a region, none, or no such parameter for all, once, got it 2 times"},
		{brand + "&topic_id=7", `topic_id: want the id of a topic, a UUID, got "7"`},
		{brand + "&topic_id=", "topic_id: want the id of a topic, a UUID, got an empty value"},
		{brand + "&branded=yes", `branded: want one of all, true, false, got "yes"`},
		{brand + "&branded=True", `branded: want one of all, true, false, got "True"`},
		{brand + "&branded=", "branded: want one of all, true, false, got an empty value"},

		{brand + "&platform=", "platform: want platform slugs separated by commas, got an empty value"},
		{brand + "&plattform=openai", `"plattform": want a parameter of this endpoint, the nearest is platform`},
		{brand + "&brandId=x", `"brandId": want a parameter of this endpoint, the nearest is brand_id`},
		{brand + "&from=2026-03-01", `"from": want a parameter of this endpoint, the nearest is date_from`},
		{brand + "&BRAND_ID=x", `"BRAND_ID": want a parameter of this endpoint, the nearest is brand_id`},
		{brand + "&model%73=gpt-5", `"models": want a parameter of this endpoint, the nearest is model`},
		{brand + "&=x", `"": want a parameter of this endpoint, the nearest is model`},
		{brand + "&%zz=x", `"%zz": want a parameter of this endpoint, the nearest is model`},
		{brand + "&e=1&d=1&c=1&b=1&a=1&a=2", `"a": want a parameter of this endpoint, the nearest is model; ` +
			`"b": want a parameter of this endpoint, the nearest is model; ` +
			`"c": want a parameter of this endpoint, the nearest is model`},

		{"model=&date_to=never", wantBrand + ", got nothing; date_to" + wantDay +
			`, got "never"; model: want model slugs separated by commas, got an empty value`},
	}
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			q := parseQuery(c.query)
			q.common(now)
			kind, message := problem.Of(q.check())
			if q.check() == nil || kind != problem.Invalid || message != c.want {
				t.Errorf("got %s %s\nwant %s", kind, message, c.want)
			}
		})
	}
}

// Whatever comes in, what is let through can be asked for, and what is refused says so in a sentence that JSON can
// carry.
func FuzzCommonParameters(f *testing.F) {
	for _, seed := range []string{
		"brand_id=" + brandText + "&date_from=2026-02-01&date_to=2026-03-01&model=a,b&region=de&branded=true",
		"brand_id=" + brandText + "&topic_id=" + brandText, "brand_id=%zz&date_from=9999-12-31",
		"brand_id=" + brandText + "&date_to=0000-01-01", "&&==&%00=%ff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q := parseQuery(raw)
		c := q.common(now)
		if err := q.check(); err != nil {
			kind, message := problem.Of(err)
			if kind != problem.Invalid || !utf8.ValidString(message) || len(message) > 4096 {
				t.Fatalf("refused as %s %q", kind, message)
			}
			return
		}
		if c.brandID.String() == "" || c.window.from.After(c.window.to) || c.window.days() > maxDays {
			t.Fatalf("let through %+v", c)
		}
		filter := c.filter(uuid.UUID{1})
		for _, day := range []clickhouse.Day{filter.DateFrom, filter.DateTo} {
			if len(day) != 10 || day < "1970-01-01" || day > "2149-06-06" {
				t.Fatalf("a day that ClickHouse cannot hold: %q", day)
			}
		}
		for _, value := range slices.Concat(filter.Models, filter.Regions) {
			if value == "" && len(filter.Regions) == 0 || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				t.Fatalf("let through %q", value)
			}
		}
		if len(dayText(c.window.from)) != 10 || len(dayText(c.window.to)) != 10 {
			t.Fatalf("a window that YYYY-MM-DD cannot write: %v", c.window)
		}
	})
}

func TestBodiesShowNumbersAndTextAsTheyAre(t *testing.T) {
	low, high, none := 0.0, 50.0, (*float64)(nil)
	got, err := encode(map[string]any{
		"a": intervalOver(9, &low, &high), "b": intervalOver(3, none, none), "c": intervalOver(0, none, none),
		"d": instant(time.Date(2026, 3, 2, 10, 0, 0, 123_999_999, time.FixedZone("CET", 3600))),
		"e": "<R&D> “ü” 東", "f": 27.2, "g": none, "h": []string{},
	})
	want := `{"a":{"low":0,"high":50},"b":{"reason":"too_few_prompts"},"c":null,"d":"2026-03-02T09:00:00.123Z",` +
		`"e":"<R&D> “ü” 東","f":27.2,"g":null,"h":[]}`
	if err != nil || string(got) != want || !json.Valid(got) {
		t.Errorf("encode() = %s, %v\nwant %s", got, err, want)
	}
}
