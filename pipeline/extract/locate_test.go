package extract

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/ingest/event"
)

func TestLocateGivesCodePointsOfTheText(t *testing.T) {
	brand, rival := Entity{
		Name: "De’Longhi", Aliases: []string{"Müller Café"}, Domains: []string{"www.delonghi.example"},
	}, Entity{Name: "Apple Watch"}
	for _, c := range []struct {
		text  string
		named []string
	}{
		{"", nil},
		{"Nichts.", nil},
		{"Ökö 東京 De'Longhi, DE‘LONGHI!", []string{"De'Longhi", "DE‘LONGHI"}},
		{"```\nDe'Longhi\n```\n😀 Mueller Cafe\u0301 und delonghi.example",
			[]string{"Mueller Cafe\u0301", "delonghi.example"}},
		{"[a](https://x.example/ö) [De'Longhi](https://y.example/de'longhi) Muller \n cafe",
			[]string{"De'Longhi", "Muller \n cafe"}},
		{"[1]: https://z.example/ \"De'Longhi\"\nApple https://a.example/ Watch, Apple\u00a0Watch²",
			[]string{"Apple https://a.example/ Watch", "Apple\u00a0Watch"}},
		{"Apple [](https://a.example/)Watch", nil},
		{"Das **De Longhi** Müller-Café, Apple-Watch", []string{"De Longhi** Müller-Café", "Apple-Watch"}},
		{`😀 De\'Longhi, De&#39;Longhi. App&shy;le® Watch!`,
			[]string{`De\'Longhi`, "De&#39;Longhi", "App&shy;le® Watch"}},
		{"De\u00ad’\u200bLonghi® Ap\u200bple(R)\u200d Watch\ufe0f",
			[]string{"De\u00ad’\u200bLonghi", "Ap\u200bple(R)\u200d Watch\ufe0f"}},
	} {
		var named []string
		for _, m := range Locate(Version, c.text, &brand, []Entity{rival}) {
			named = append(named, string([]rune(c.text)[m.Start:m.End]))
		}
		if !slices.Equal(named, c.named) {
			t.Errorf("%q names %q, want %q", c.text, named, c.named)
		}
	}
	if first := Locate(1, "Mueller Cafe, Müller Café", &brand, nil); len(first) != 1 || first[0].Start != 14 {
		t.Errorf("version 1: %v", first)
	}
}

// As many as Read counts, and each part of the text reads as one of the names.
func TestLocateFindsWhatReadCounts(t *testing.T) {
	pool := []string{
		"Apple", "apple", " Watch", "Müller", "Mueller", "Muller", "é", "e\u0301", "ß", "ss", "-", ".", ",", "'s", "’",
		"™", "®", "(R)", "&reg;", "&amp;", `\&`, `\`, "&", "\u200d", "\u200b", "\u00ad", "\ufe0f", "ø",
		"o", "`", "´", "\u0301", "ﬁ", "苹果", "アップル", "삼성", "은",
		"🏆", "\n", "  ", "```\n", "~~~\n", "](", ")", "[",
		"https://apple.example/", "http://", "[a]: http", "\"", "<", ">",
	}
	name := rapid.SampledFrom([]string{
		"Apple", "Apple Watch", "Apple & Watch", "Müller", "ø", "é", "ß", "苹果", "アップル", "삼성", "ﬁ", "apple.example",
	})
	rapid.Check(t, func(t *rapid.T) {
		a := event.Answer{Text: drawText(t, pool, 30)}
		a.Brand.Name, a.Brand.Aliases = name.Draw(t, "name"), rapid.SliceOfN(name, 0, 2).Draw(t, "aliases")
		a.Competitors = []Entity{{Name: name.Draw(t, "rival"), Domains: []string{"www.apple.example"}}}
		names := [][]string{append(a.Brand.Aliases, a.Brand.Name), {a.Competitors[0].Name, "apple.example"}}
		for version := 1; version <= Version; version++ {
			read, _ := At(version)
			counted, located := read(&a), make([]uint32, 2)
			for _, m := range Locate(version, a.Text, &a.Brand.Entity, a.Competitors) {
				located[m.Entity]++
				part := string([]rune(a.Text)[m.Start:m.End])
				if !slices.ContainsFunc(names[m.Entity], func(name string) bool {
					return slices.ContainsFunc(append(Spellings(name), name), func(spelling string) bool {
						return strings.Contains(Fold(Prose(part)), strings.TrimSpace(Fold(spelling)))
					})
				}) && !strings.ContainsAny(part, "](`~") { // a part of what is cut may be cut otherwise by itself
					t.Fatalf("%+q at %d is none of %+q in %+q", part, m.Start, names[m.Entity], a.Text)
				}
			}
			if want := []uint32{counted.Brand.Mentions, counted.Competitors[0].Mentions}; !slices.Equal(located, want) {
				t.Fatalf("version %d finds %v in %+q, want %v", version, located, a.Text, want)
			}
		}
	})
}
