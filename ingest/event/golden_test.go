package event

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

var update = flag.Bool("update", false, "rewrite docs/schema, and goldens that this version has not got yet")

// goldens are the records of testdata/v1. A released golden never changes: a
// consumer of any later version must read it as what stands here.
var goldens = map[string]any{
	"answer":           wholeAnswer(),
	"answer_minimal":   minimalAnswer(),
	"not_shown":        wholeNotShown(),
	"given_up":         wholeGivenUp(),
	"given_up_minimal": minimalGivenUp(),
	"reread":           wholeReread(),
	"visit":            wholeVisit(),
	"visit_minimal":    minimalVisit(),
	"goal":             wholeGoal(),
	"goal_minimal":     minimalGoal(),
	"crawl":            wholeCrawl(),
	"crawl_minimal":    minimalCrawl(),
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func id(s string) uuid.UUID { return uuid.Must(uuid.FromString(s)) }

var (
	orgID    = id("5b0f4a52-6c1e-4f43-9a37-0d9b0f7c1a01")
	brandID  = id("0a4c9d0e-4f7a-4a43-8c1b-6f1e2d3c4b02")
	rivalID  = id("c3d1f7a8-2b6e-4d59-9e0f-7a8b9c0d1e03")
	promptID = id("f2e4d6c8-1a3b-4c5d-8e7f-9a0b1c2d3e04")
	setID    = id("d9c8b7a6-5f4e-4d3c-8b2a-1f0e9d8c7b05")
	topicID  = id("b1a2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c06")
	jobID    = id("e7d6c5b4-a3f2-4e1d-8c0b-9a8f7e6d5c07")
	visitID  = id("019cae6b-6600-7abc-8def-0123456789ab") // at noon
)

func minimalAnswer() Answer {
	run := Identity{BrandID: brandID, PromptText: "best espresso machine?", Platform: "openai", Sample: 1, Due: noon}
	return Answer{
		V: 1, ID: RunID(run), OrganizationID: orgID,
		Brand:    Brand{Entity: Entity{ID: brandID, Name: "Breville"}},
		Prompt:   Prompt{ID: promptID, Text: run.PromptText, SetID: setID},
		Platform: run.Platform, Sample: run.Sample, AnsweredAt: At(noon), Text: "Breville.",
	}
}

func wholeAnswer() Answer {
	run := Identity{
		BrandID: brandID, PromptText: "beste Espressomaschine \u2615 unter 500 €?", Platform: "chatgpt-shopping",
		Model: "gpt-5.1", Region: "de", Sample: 2, Due: noon,
	}
	return Answer{
		V: 1, ID: RunID(run), OrganizationID: orgID,
		Brand: Brand{
			Entity: Entity{
				ID: brandID, Name: "Breville", Aliases: []string{"Bambino", "Sage"},
				Domains: []string{"breville.com", "sageappliances.com"},
			},
			Revision: 7,
		},
		Competitors: []Entity{
			{ID: rivalID, Name: "De'Longhi", Aliases: []string{"DeLonghi", "De’Longhi"},
				Domains: []string{"delonghi.com"}},
			{ID: orgID, Name: "ラ・パボーニ"},
		},
		Prompt: Prompt{
			ID: promptID, Text: run.PromptText, SetID: setID, TopicID: new(topicID), IsBranded: new(false),
		},
		Platform: run.Platform, Model: run.Model, ServedModel: "gpt-5.1-2026-02-11", Region: run.Region, Language: "de",
		Surface: SurfaceConsumer, Sample: run.Sample, JobID: new(jobID), Simulated: true,
		AnsweredAt: At(noon.Add(95*time.Second + 250*time.Millisecond)), LatencyMS: 4211, Attempts: 2,
		Finish: FinishComplete,
		Text:   "### ☕ Empfehlung\n\n1. **Breville \"Bambino\"**\t– 329 € \\ gut\u2028& <leise>\u0001\n",
		Citations: []Citation{
			{URL: "https://www.example.com/test?utm_source=openai&x=1#top",
				Title: "Der große Test: \"12 Maschinen\"", Cited: true},
			{URL: "https://consulted.example.org/", Cited: false},
		},
		SearchQueries: []string{"espressomaschine test 2026", "breville bambino preis"},
		Products: []Product{{
			Position: 1, Title: "Bambino Plus", Brand: "Breville", PriceAmount: "329.90", PriceCurrency: "EUR",
			Merchant: "Küchen & Co",
			URL:      "https://shop.example.com/p/1", ImageURL: "https://cdn.example.com/1.webp", Rating: 4.6,
			ReviewCount: 1234,
		}, {Title: "Dedica"}},
		Usage: &Usage{InputTokens: 812, OutputTokens: 1490, Searches: 2, CostUSD: "0.021350"},
	}
}

func wholeNotShown() Answer {
	a := wholeAnswer()
	a.Finish, a.Text, a.Citations, a.SearchQueries, a.Products = FinishNotShown, "", nil, nil, nil
	a.Provider, a.Usage = "serpapi", &Usage{CostUSD: "0.025"}
	return a
}

func minimalGivenUp() Answer {
	a := minimalAnswer()
	a.Text, a.GivenUp = "", &GivenUp{Class: "timeout"}
	return a
}

func wholeGivenUp() Answer {
	a := wholeAnswer()
	a.Finish, a.Text, a.Citations, a.SearchQueries, a.Products = "", "", nil, nil, nil
	a.Attempts = 5
	a.Usage = &Usage{InputTokens: 812}
	a.GivenUp = &GivenUp{Class: "rate_limited", Error: "429 Too Many Requests: retry after 3600 s"}
	return a
}

func wholeReread() Answer {
	a := wholeAnswer()
	a.Brand.Revision = 8
	a.Brand.Aliases = append(a.Brand.Aliases, "Barista Express")
	a.Reread = &Reread{MinExtractVersion: 3}
	return a
}

func minimalVisit() Visit {
	return Visit{
		V: 1, ID: visitID, OrganizationID: orgID, BrandID: brandID, At: At(noon),
		Event: VisitView, Platform: "chatgpt", Host: "www.breville.com", Path: "/",
	}
}

func wholeVisit() Visit {
	v := minimalVisit()
	v.PlatformBy, v.Path, v.ReferrerHost = "referrer", "/shop/espresso/bambino-plus", "chatgpt.com"
	v.Country, v.CountryBy, v.Language, v.Screen = "DE", "time_zone", "de-DE", "1920x1080"
	v.TimeZone, v.Session, v.NewSession = "Europe/Berlin", "k3v9q1zt70", true
	v.Visitor, v.Simulated = 18446744073709551615, true
	return v
}

func minimalGoal() Visit {
	v := minimalVisit()
	v.Event, v.Goal = VisitGoal, &Goal{Name: "sign up"}
	return v
}

func wholeGoal() Visit {
	v := wholeVisit()
	v.Event, v.NewSession = VisitGoal, false
	v.Goal = &Goal{Name: "purchase", Value: "-329.90", Currency: "EUR"}
	return v
}

func minimalCrawl() Crawl {
	return Crawl{
		V: 1, ID: CrawlID("www.breville.com", []byte("GET /"), 0, noon), OrganizationID: orgID,
		BrandID: brandID, At: At(noon),
		Crawler: "GPTBot", Purpose: PurposeTraining, Host: "www.breville.com", Path: "/",
	}
}

func wholeCrawl() Crawl {
	c := minimalCrawl()
	c.ID = CrawlID("www.breville.com", []byte("GET /shop/espresso/bambino-plus"), 1, noon)
	c.Crawler, c.Operator, c.Platform, c.Purpose = "Claude-User", "Anthropic", "claude", PurposeUser
	c.Path, c.Status, c.Bytes, c.Verified, c.Simulated = "/shop/espresso/bambino-plus", 200, 48213, new(true), true
	return c
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "v1", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b, []byte("\n"))
}

// encode and decode go by the type of a golden.
func encode(t testing.TB, record any) []byte {
	t.Helper()
	var b []byte
	var err error
	switch r := record.(type) {
	case Answer:
		b, err = EncodeAnswer(nil, &r)
	case Visit:
		b, err = EncodeVisit(nil, &r)
	case Crawl:
		b, err = EncodeCrawl(nil, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(b []byte, like any) (any, error) {
	switch like.(type) {
	case Visit:
		var v Visit
		err := DecodeVisit(b, &v)
		return v, err
	case Crawl:
		var c Crawl
		err := DecodeCrawl(b, &c)
		return c, err
	}
	var a Answer
	err := DecodeAnswer(b, &a)
	return a, err
}

func TestGoldensAreReadAndWritten(t *testing.T) {
	for name, want := range goldens {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "v1", name+".json")
			if _, err := os.Stat(path); *update && os.IsNotExist(err) {
				if err := os.WriteFile(path, append(encode(t, want), '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text := golden(t, name)
			got, err := decode(text, want)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("decoded\n%+v\nwant\n%+v", got, want)
			}
			if again := encode(t, got); !bytes.Equal(again, text) {
				t.Errorf("encoded\n%s\nwant\n%s", again, text)
			}
			checks := got.(interface{ check(time.Time) error })
			if err := checks.check(noon); err != nil {
				t.Errorf("Check() = %v, want nil", err)
			}
		})
	}
	files, _ := filepath.Glob("testdata/v1/*.json")
	if len(files) != len(goldens) {
		t.Errorf("%d files in testdata/v1, %d goldens", len(files), len(goldens))
	}
}

func (a Answer) check(now time.Time) error { return a.Check(now) }
func (v Visit) check(now time.Time) error  { return v.Check(now) }
func (c Crawl) check(now time.Time) error  { return c.Check(now) }

// Others may use encoding/json on the same types, and the schemas are made from
// their tags: our options of the library must not change what the tags say.
func TestCodecAgreesWithTags(t *testing.T) {
	for name, record := range goldens {
		t.Run(name, func(t *testing.T) {
			read := reflect.New(reflect.TypeOf(record))
			if err := json.Unmarshal(golden(t, name), read.Interface()); err != nil {
				t.Fatal(err)
			}
			if got := read.Elem().Interface(); !equalButEmpty(got, record) {
				t.Errorf("encoding/json reads\n%+v\nwant\n%+v", got, record)
			}
			text, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decode(text, record); err != nil || !reflect.DeepEqual(got, record) {
				t.Errorf("decoded what encoding/json wrote\n%+v, %v\nwant\n%+v", got, err, record)
			}
		})
	}
}

// The whole goldens leave no field out, so that the tests above see a field that the codec forgot.
func TestGoldensFillEveryField(t *testing.T) {
	filled := map[string]bool{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			filled[path] = filled[path] || !v.IsNil()
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Slice:
			filled[path] = filled[path] || v.Len() > 0
			for i := range v.Len() {
				walk(path+"[]", v.Index(i))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[Time]() {
				filled[path] = true
				return
			}
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		default:
			filled[path] = filled[path] || !v.IsZero()
		}
	}
	for _, record := range goldens {
		v := reflect.ValueOf(record)
		walk(v.Type().Name(), v)
	}
	for path, ok := range filled {
		// is_branded is a pointer to false: set, and zero behind it.
		if !ok && !strings.HasSuffix(path, ".IsBranded") {
			t.Errorf("no golden fills %s", path)
		}
	}
}

// equalButEmpty is equality that takes an empty list for an absent one.
func equalButEmpty(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	null, list := []byte(`"competitors":null`), []byte(`"competitors":[]`)
	return errX == nil && errY == nil && bytes.Equal(bytes.ReplaceAll(x, null, list), bytes.ReplaceAll(y, null, list))
}
