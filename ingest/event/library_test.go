package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
	v2 "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"
	"github.com/gofrs/uuid/v5"
	segmentio "github.com/segmentio/encoding/json"
)

// typicalVisit is what a page view weighs: about 380 bytes.
func typicalVisit() Visit {
	v := wholeVisit()
	v.Visitor, v.Simulated, v.Screen, v.Session = 1234567890123456789, false, "", ""
	v.Path, v.PlatformBy, v.CountryBy, v.TimeZone = "/shop/espresso", "", "", ""
	return v
}

// typicalAnswer is what an answer weighs: about 5 KB, with 6 competitors, 8
// citations and a text of 2.5 KB in Markdown.
func typicalAnswer() Answer {
	a := wholeAnswer()
	a.Competitors, a.Citations, a.Products = nil, nil, nil
	for i := range 6 {
		name := fmt.Sprintf("Rival %d", i)
		a.Competitors = append(a.Competitors, Entity{
			ID: uuid.NewV5(brandID, name), Name: name, Aliases: []string{"The " + name}, Domains: []string{"www.rival.example"},
		})
	}
	for i := range 8 {
		a.Citations = append(a.Citations, Citation{
			URL:   fmt.Sprintf("https://www.magazine%d.example/reviews/best-espresso-machines?utm_source=chatgpt.com", i),
			Title: "The best espresso machines for small kitchens, tested", Cited: true,
		})
	}
	a.Text = strings.Repeat("### ☕ Best for small kitchens\n\n* **[Breville \"Bambino\"]()** – \\$299.95: heats up in 3 seconds\n", 26)
	return a
}

type library struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

var libraries = []library{
	{"encoding", json.Marshal, json.Unmarshal},
	{"segmentio", segmentio.Marshal, segmentio.Unmarshal},
	{"goccy", goccy.Marshal, goccy.Unmarshal},
	{"sonic", sonic.ConfigStd.Marshal, sonic.ConfigStd.Unmarshal}, // validates strings, as the others do
	{"json/v2", func(v any) ([]byte, error) { return v2.Marshal(v, asTagged) }, func(b []byte, v any) error { return v2.Unmarshal(b, v) }},
	{"ours", marshal, unmarshal},
}

func marshal(v any) ([]byte, error) {
	if a, ok := v.(*Answer); ok {
		return EncodeAnswer(nil, a)
	}
	return EncodeVisit(nil, v.(*Visit))
}

func unmarshal(b []byte, v any) error {
	if a, ok := v.(*Answer); ok {
		return DecodeAnswer(b, a)
	}
	return DecodeVisitInPlace(b, v.(*Visit)) // as the pipeline does
}

// BenchmarkLibrary is what the choice of the JSON library rests on: the doc of
// codec.go has its figures. Ours is json/v2 as it is used, with the laws of
// Decode; the others only read and write.
func BenchmarkLibrary(b *testing.B) {
	visit, answer := typicalVisit(), typicalAnswer()
	for _, record := range []any{&visit, &answer} {
		name := strings.ToLower(reflect.TypeOf(record).Elem().Name())
		text, err := marshal(record)
		if err != nil {
			b.Fatal(err)
		}
		for _, l := range libraries {
			b.Run(name+"/decode/"+l.name, func(b *testing.B) {
				into := reflect.New(reflect.TypeOf(record).Elem())
				run(b, len(text), func() error {
					into.Elem().SetZero()
					return l.unmarshal(text, into.Interface())
				})
			})
		}
		for _, l := range libraries {
			b.Run(name+"/encode/"+l.name, func(b *testing.B) {
				run(b, len(text), func() error {
					_, err := l.marshal(record)
					return err
				})
			})
		}
		b.Run(name+"/valid", func(b *testing.B) {
			run(b, len(text), func() error {
				if !json.Valid(text) {
					b.Fatal("not valid")
				}
				return nil
			})
		})
	}
}

func run(b *testing.B, bytes int, op func() error) {
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if err := op(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// What the libraries make of records that must be refused or read exactly: one
// more reason for the choice, and a test so that it is known when they change.
func TestLibrariesOnHostileRecords(t *testing.T) {
	for name, text := range map[string]string{
		"text that is no UTF-8":    strings.Replace(string(golden(t, "visit")), "/shop/", "/\xff/", 1),
		"keys in another case":     strings.Replace(string(golden(t, "visit")), `"host"`, `"HOST"`, 1),
		"an integer of 65 bits":    strings.Replace(string(golden(t, "visit")), "18446744073709551615", "22000000000000000000", 1),
		"a key twice":              strings.Replace(string(golden(t, "visit")), `"host"`, `"path":"/","host"`, 1),
		"a bare control character": strings.Replace(string(golden(t, "visit")), "/shop/", "/\x01/", 1),
	} {
		for _, l := range libraries {
			err := l.unmarshal([]byte(text), new(Visit))
			t.Logf("%s: %s: refused %t (%v)", name, l.name, err != nil, err)
			if l.name == "ours" && err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
	}
}
