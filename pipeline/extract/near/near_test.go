package near

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

func answerOf(text string) *event.Answer {
	return &event.Answer{
		Brand: event.Brand{Entity: event.Entity{Name: "Acme Corp",
			Aliases: []string{"Fernwood", "De'Longhi", "iPhone 15", "Löwenbräu"}}},
		Competitors: []event.Entity{
			{Name: "Apple", Aliases: []string{"Apples Pro"}}, {Name: "Яндекс"}, {Name: "adidas"}, {Name: "T-Mobile"},
			{Name: "Model S", Aliases: []string{"HP", "Bose", "Model300", "Feather"}},
		},
		Text: text,
	}
}

func TestWhatIsNear(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Try AcmeCorp.":                         "AcmeCorp: Acme Corp",
		"Try Acme-Corp, or ACME–CORP":           "", // counted, as are T Mobile and De Longhi
		"Acmé Corp. is the same name":           "",
		"Acme Corps makes them":                 "Acme Corps: Acme Corp",
		"Fern Wood and Fernwod":                 "Fern Wood: Fernwood, Fernwod: Fernwood",
		"Fernwoods Zelte, Fernwood's Zelte":     "Fernwoods: Fernwood",
		"**Fernwoood** is [fine](http://x.y)":   "Fernwoood: Fernwood",
		"Cernwood, Fernwooden, Fernando":        "", // its first letter, three letters, another word
		"DeLonghi and De Longhi":                "DeLonghi: De'Longhi",
		"iPhone 16, iPhone15, IPhones 15":       "IPhones 15: iPhone 15, iPhone15: iPhone 15",
		"Model400, Model3000, Models300":        "Models300: Model300",
		"Löwenbrau, Loewenbraeu, Loewenbräu":    "Loewenbräu: Löwenbräu",
		"Apply for it":                          "Apply: Apple", // until an answer has it in lower case
		"Apply now, and we apply for you":       "",
		"Apples and the Apples Pro":             "", // part of a name
		"fernwoods, then a shop: Fernwoods.com": "", // as if it were another word; an address
		"В Яндексе нашли":                       "Яндексе: Яндекс",
		"Adidass or adidass":                    "Adidass: adidas",
		"T Mobile is T-Mobile, TMobile near it": "TMobile: T-Mobile",
		"Fernwøød, Fernwööd, FERNWOØD®":         "FERNWOØD: Fernwood, Fernwøød: Fernwood",
		"Acme®️ Corp, Ac\u00adme Corp, Acme&reg; Corp, Acme\u200bCorp, De´Longhi": "",
		"Acme® Corps, Fern\u200bwo\u2060ods™, De´Longhis": "Acme Corps: Acme Corp, " +
			"De'Longhis: De'Longhi, Fernwoods: Fernwood",
		"Model Y, Model X, HPE, Bosed":                     "", // too short to differ
		"A feather for Acme, and a Feather. some feathers": "feather: Feather",
		"Fern. Wood\nFern\nWood, Fern, Wood":               "",
		"":                                                 "",
	} {
		var f Finder
		f.Read(answerOf(text))
		var got []string
		for _, n := range f.Names(10) {
			got = append(got, n.Text+": "+n.Near)
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q, want %q", text, strings.Join(got, ", "), want)
		}
	}
}

// An answer counts once for a name, even if it is read for several brands; the most frequent come first.
func TestAnswersAreCounted(t *testing.T) {
	t.Parallel()
	var f Finder
	for n := range 30 {
		text := "AcmeCorp, again AcmeCorp"
		if n%3 == 0 {
			text += ", Fernwods, Fernwod"
		}
		a := answerOf(text)
		f.Read(a)
		other := *a
		other.Brand.Entity, other.Competitors = other.Competitors[0], []event.Entity{a.Brand.Entity}
		other.Brand.ID[0] = 1
		f.Read(&other)
	}
	want := []Name{{"AcmeCorp", 30, "Acme Corp", "Acme Corp"}, {"Fernwod", 10, "Fernwood", "Acme Corp"}}
	if got := f.Names(10); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := f.Names(1); len(got) != 1 {
		t.Errorf("at most 1: %+v", got)
	}
}

// Millions of other spellings take no more memory than the first ones.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var f Finder
	for n := range 300 {
		var text strings.Builder
		for i := range 100 {
			fmt.Fprintf(&text, "Fernw%c%cod. ", rune(0x3B1+n%24), rune(0x3B1+i%24))
			fmt.Fprintf(&text, "Acme%cCorp, Fern%cwood ", rune('a'+i%26), rune(0x430+(n*100+i)%3000))
		}
		f.Read(answerOf(text.String() + strings.Repeat("Fern ", 5000)))
	}
	if len(f.sightings) > maxSightings || cap(f.words) > 4*maxRun {
		t.Errorf("%d sightings, %d words", len(f.sightings), cap(f.words))
	}
}

// FuzzRead reads any text; texts near a name are part of it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"Try AcmeCorp.", "Löwenbrä", "Fern\xffwood Fernwo\xc3", "De’Longhis ﷺ", "Яндексе",
		"Fern\u00adwo®d Fernwøod\ufe0f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var finder Finder
		finder.Read(answerOf(text))
		finder.Read(answerOf(text))
		for _, n := range finder.Names(10) {
			if n.Answers != 2 || n.Text == "" || len(n.Text) > maxText {
				t.Fatalf("%+v", n)
			}
		}
	})
}

// realAnswers are kept beside the repository and not in it.
const realAnswers = "../../../../shared/data/real-answers/"

// Texts near the names of brands in real answers are logged; no other word is among them.
func TestRealAnswers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(realAnswers + "brands.json")
	if err != nil {
		t.Logf("LEFT OUT: %v", err)
		return
	}
	var brands struct {
		Brands []struct {
			event.Entity
			Competitors []event.Entity `json:"competitors"`
		} `json:"brands"`
	}
	if err := json.Unmarshal(text, &brands); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(realAnswers + "run-1.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var f Finder
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, event.MaxRecordBytes)
	for lines.Scan() {
		var a event.Answer
		if err := json.Unmarshal(lines.Bytes(), &struct{ Text *string }{&a.Text}); err != nil {
			t.Fatal(err)
		}
		for n, b := range brands.Brands {
			a.Brand.Entity, a.Competitors = b.Entity, b.Competitors
			a.Brand.ID[0] = byte(n + 1)
			f.Read(&a)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	names := f.Names(100)
	for _, n := range names {
		t.Logf("%+v", n)
	}
	if len(names) > 10 {
		t.Errorf("%d names, want at most 10", len(names))
	}
}

func BenchmarkRead(b *testing.B) {
	a := answerOf(strings.Repeat("### ☕ Best for small kitchens\n\n* **[Breville \"Bambino\"]()** – \\$299.95: "+
		"heats up in 3 seconds, for Mac, Phone and Apple fans; Tmobile too\n", 26))
	b.SetBytes(int64(len(a.Text)))
	var f Finder
	for b.Loop() {
		f.Read(a)
	}
}
