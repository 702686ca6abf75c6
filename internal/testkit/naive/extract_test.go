package naive_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/postgres"
)

// realAnswers is where real captured answers lie beside a checkout. They may not be copied into it.
const realAnswers = "../../../../shared/data/real-answers/"

// open returns nil, and says so, where the folder is missing.
func open(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Open(realAnswers + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("LEFT OUT: %s is not there, so the real answers were not compared", realAnswers+name)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// answersOf reads lines of the import format in the plainest way, for one brand.
func answersOf(t *testing.T, file *os.File, brand event.Brand, competitors []event.Entity) []event.Answer {
	t.Helper()
	var answers []event.Answer
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l struct {
			Platform, Model, Region, Prompt, Topic, Text string
			Served                                       string    `json:"served_model"`
			At                                           time.Time `json:"answered_at"`
			Citations                                    []struct {
				URL, Title string
				Cited      *bool
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		topic := topicID(l.Topic)
		a := event.Answer{
			Brand: brand, Competitors: competitors, Prompt: event.Prompt{Text: l.Prompt, TopicID: &topic},
			Platform: l.Platform, Model: l.Model, ServedModel: l.Served, Region: l.Region,
			AnsweredAt: event.At(l.At), Text: l.Text,
		}
		for _, c := range l.Citations {
			a.Citations = append(a.Citations, event.Citation{
				URL: c.URL, Title: c.Title, Cited: c.Cited == nil || *c.Cited,
			})
		}
		answers = append(answers, a)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// topicID stands for a topic of that name.
func topicID(name string) uuid.UUID { return uuid.NewV5(uuid.NamespaceOID, name) }

// simulated is ten days of the demo's history.
func simulated(t *testing.T) []event.Answer {
	t.Helper()
	spec := demo.Brand()
	entity := func(n byte, name string, aliases, domains []string) event.Entity {
		return event.Entity{ID: uuid.UUID{15: n}, Name: name, Aliases: aliases, Domains: domains}
	}
	until := time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC)
	history := demo.History{Models: simulator.Models, From: until.AddDate(0, 0, -9), Until: until}
	history.Snapshot.Brand.Entity = entity(1, spec.Name, spec.Aliases, spec.Domains)
	for i, c := range spec.Competitors {
		history.Snapshot.Competitors = append(history.Snapshot.Competitors,
			entity(byte(2+i), c.Name, c.Aliases, c.Domains))
	}
	for _, p := range demo.Prompts() {
		history.Prompts = append(history.Prompts, p.Tracked(event.Prompt{Text: p.Text}))
	}
	s, err := simulator.New(simulator.Config{
		Seed: 3, Cast: simulator.Cast{Brand: history.Snapshot.Brand.Entity, Competitors: history.Snapshot.Competitors},
	})
	if err != nil {
		t.Fatal(err)
	}
	var answers []event.Answer
	for a := range history.Answers(s) {
		answers = append(answers, a)
	}
	return answers
}

// cast makes the brands of a brands file, with ids made of their names.
func cast(t *testing.T, specs []postgres.NewBrand) (brands []event.Brand, competitors [][]event.Entity) {
	t.Helper()
	id := func(name string) uuid.UUID { return uuid.NewV5(uuid.NamespaceURL, name) }
	for _, spec := range specs {
		brands = append(brands,
			event.Brand{Entity: event.Entity{ID: id(spec.Name), Name: spec.Name, Aliases: spec.Aliases,
				Domains: spec.Domains}})
		var rivals []event.Entity
		for _, c := range spec.Competitors {
			rivals = append(rivals, event.Entity{
				ID: id(spec.Name + c.Name), Name: c.Name, Aliases: c.Aliases, Domains: c.Domains,
			})
		}
		competitors = append(competitors, rivals)
	}
	return brands, competitors
}

// The extractor and this package read every answer alike.
func TestExtractReadsAlike(t *testing.T) {
	mentions, citations := 0, 0
	for _, a := range simulated(t) {
		read := wantAlike(t, a)
		mentions, citations = mentions+read.Brand.Mentions, citations+read.Brand.Citations
	}
	if mentions == 0 || citations == 0 {
		t.Errorf("%d mentions and %d citations were compared", mentions, citations)
	}
	file := open(t, "brands.json")
	if file == nil {
		return
	}
	specs, err := imports.ReadBrands(file)
	if err != nil {
		t.Fatal(err)
	}
	brands, competitors := cast(t, specs)
	for i := range brands {
		for _, a := range answersOf(t, open(t, "run-1.ndjson"), brands[i], competitors[i]) {
			wantAlike(t, a)
		}
	}
}

func wantAlike(t *testing.T, a event.Answer) naive.Reading {
	t.Helper()
	got := extract.Read(&a)
	want := naive.Read(a, string(got.Brand.Sentiment))
	if a.GivenUp != nil {
		return want
	}
	entities := append([]extract.EntityReading{got.Brand}, got.Competitors...)
	for i, n := range append([]naive.Named{want.Brand}, want.Competitors...) {
		e := entities[i]
		if int(e.Mentions) != n.Mentions || int(e.Citations) != n.Citations || int(e.Position) != n.Position ||
			int(e.VisibilityScore) != n.Visibility {
			t.Errorf("%s in %.200q…\n extract %+v\n naive   %+v", n.Name, a.Text, e, n)
		}
	}
	if got.Branded != want.Branded {
		t.Errorf("prompt %q: extract says branded %v", a.Prompt.Text, got.Branded)
	}
	return want
}

// pieces are what answers are made of where the definitions have edges.
var pieces = []string{
	"Apple", "apple", "APPLE", "Apple's", "Apple’s", "Apples", "Apple2", "_Apple_", "use.Apple", "Apple은", "Appleは",
	"苹果Apple手机", "Apple Watch", "apple.com", "Ａｐｐｌｅ", "A\u0301pple", "Äpple",
	"Apple™", "Apple²", "①Apple", "Apple\u200b", "Apple\u00a0Watch", "Apple\nWatch", "Apple-Watch",
	"Apple‑Watch", "De'Longhi", "De’Longhi", "DeLonghi", "DE‘LONGHI", "Straße", "STRASSE", "Strasse", "ﬁt", "fit",
	"Fit",
	"Apple® Watch", "APPLE®️ WATCH©", "Apple(R) Watch", "Apple(tm)", "Apple (R)", "Apple&reg; Watch", "&#174;", "(R)",
	"(C)",
	"App\u00adle", "App\u200ble", "Apple\u200bWatch", "Apple\u2060 Watch", "\u200e", "Apple \ufe0f", "\u0600", "&shy;",
	"De`Longhi", "De´Longhi", "De′Longhi", "DE&#39;LONGHI", `AT\&T`, `\&`, `\_`, "&", "&;", "&nGt;", "&AMP", "amp;",
	"Œrsted", "Øresund", "ØRESUND", "Oeresund", "Oresund", "Łódź", "Lodz", "ŁÓDŹ", "YALDIZLI", "yaldizli", "Yaldızlı",
	"ı",
	"J.Crew", "J. Crew", "J Crew", "J-Crew", "JCREW", "J. crew", "j. crew", "La Roche-Posay", "La Roche Posay",
	"la roche posay",
	"La-Roche'Posay", "La Roche. Posay", "H&M", "H & M", "h &m", "H M", "Levi's", "Levi S", "LEVI-S", "levi's",
	"It is ", "is ",
	"apple.example", "@apple", "discover", "Discover", "discovering", "DISCOVER", "وApple", "وسوني", "و", "ي", "ود",
	"Apple ソニー",
	"Watch De'Longhi", "Galaxy", "De'Longhi Galaxy", "*Galaxy*", "Watch-", "De Longhi", "de longhi", "De-Longhi Watch",
	"Æsir", "Aesir", "AESIR", "æ", "đ", "d",
	"ソニー", "ソニーの", "ｿﾆｰ", "سوني", "وسوني", "C++", ".NET", "Yahoo!", "Yahoo!s", "AT&T", "AT&amp;T", "3M", "13M", "Ω",
	"Ω", "ø", "Ørsted", "Orsted", "İstanbul", "istanbul", "ǅ", "नमस\u094dत\u0947", "e\u0301", "é",
	" ", " ", " ", "\n", "\n\n", "\t", ". ", ", ", "- ", "* ", "**", "_", "`", "``", "```", "```go\n", "~~~", "~~~~\n",
	"\n```\n", "\n~~~\n", "  ```\n", "[", "]", "](", ")", "(", "]()", "](<", ">)", "\\", "\"", "'",
	"[Apple](https://apple.com/Apple \"Apple\")", "![Apple]( https://x.example/a(b)c )",
	"[x](<https://x.example/Apple x> 'Apple')", "[x](Apple Watch)", "[x](Apple\nWatch)", "[1]: https://apple.com Apple",
	"\n[Apple]: http://x.example \"Apple\"\n", "  [a]: <https://apple.com>\n", "[a]: Apple\n",
	"https://apple.com/Apple", "http://Apple.example/?q=Apple|Apple", "HTTPS://Apple", "https://", "www.apple.com",
	"ftp://apple.com", "https://x.example/Appleは", "(https://apple.com)",
	"<https://apple.com>", "&nbsp;", "\u2028", "\ufeff", "\u202e", "👩\u200d💻", "🇩🇪",
	"a\u0308\u0323", "ー", "々", "가", "각", "ᄀ",
}

var addresses = []string{
	"https://www.apple.com/", "https://APPLE.com", "http://apple.com:80/a//", "https://apple.com:443",
	"https://apple.com:8443/a?b", "https://store.apple.com/?utm_source=x&a=1&&UTM_Medium=2#f", "https://notapple.com/",
	"https://apple.com.evil.example/",
	"https://apple.com./x/?", "https://user:pw@apple.com/x?gclid=1",
	"https://www.www.apple.com/", "//apple.com", "apple.com", "ftp://apple.com/",
	"https:///apple.com", "https://", "http://?x", "https://xn--mnchen-3ya.example/", "https://münchen.example/",
	"https://MÜNCHEN.example", "https://apple.com/%7Eé?é=1#é", "https://apple.com?x=1", "https://apple.com#x",
	"https://[::1]:443/x", "https://1.2.3.4/", "https://a_b.example/", "https://apple.com/a?_ga=1&_gl=2&b=&=c&d",
	"javascript:alert(1)", "", " https://apple.com/ ", "https://apple.com/a b",
	"https://apple.com:/", "https://apple.com:80", "http://apple.com:443",
	"https://apple.com/a?utm_=1&utmx=2&li_fat_id=3", "https://apple.com/?srsltid", "https://apple.com/?&&",
	"https://apple.com/a/?#", "https://WWW.apple.com", "https://www.com/", "https://apple\\.com/",
	"https://exa mple.com/", "http://apple.com\\x",
}

// Two readers of one definition must agree on its edges too.
func TestExtractReadsEdgesAlike(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	brand := event.Brand{Entity: event.Entity{ID: uuid.UUID{1}, Name: "Apple",
		Aliases: []string{"Apple Watch", "ソニー", "Straße", "é", "fit"}, Domains: []string{
			"apple.com", "xn--mnchen-3ya.example",
		}}}
	competitors := []event.Entity{
		{ID: uuid.UUID{2}, Name: "De’Longhi", Aliases: []string{"Watch", "سوني", "C++", ".NET", "Galaxy", "J.Crew",
			"La Roche-Posay", "سو", "De Longhi"},
			Domains: []string{"store.apple.com", "1.2.3.4"}},
		{ID: uuid.UUID{3}, Name: "Yahoo!", Aliases: []string{"AT&T", "3M", "Orsted", "Ω", "istanbul", "각", "Øresund",
			"Łódź", "Yaldızlı", "Æsir", "đ", "Müøð", "Discover", "H&M", "Levi's", "J-Crew"},
			Domains: []string{"example.com", "a_b.example"}},
	}
	named, cited := map[string]int{}, map[string]int{}
	for range 1500 {
		a := event.Answer{Brand: brand, Competitors: competitors, Platform: "x"}
		for range 1 + chance.IntN(14) {
			a.Text += pieces[chance.IntN(len(pieces))]
		}
		for range chance.IntN(4) {
			a.Citations = append(a.Citations, event.Citation{
				URL: addresses[chance.IntN(len(addresses))], Cited: chance.IntN(4) > 0,
			})
		}
		a.Prompt.Text = pieces[chance.IntN(len(pieces))] + pieces[chance.IntN(len(pieces))]
		read := wantAlike(t, a)
		if t.Failed() {
			t.Fatalf("text %q, citations %+v", a.Text, a.Citations)
		}
		for _, n := range append(read.Competitors, read.Brand) {
			named[n.Name] += n.Mentions
			cited[n.Name] += n.Citations
		}
	}
	for _, name := range []string{brand.Name, competitors[0].Name, competitors[1].Name} {
		if named[name] == 0 || cited[name] == 0 {
			t.Errorf("of %s %d mentions and %d citations were compared", name, named[name], cited[name])
		}
	}
}
