package name

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names in small made-up sets are those of the independent program too: words that are now a name, now generic, with
// every mark before and behind them.
func TestNamesOfGeneratedTextsAreThoseOfTheReference(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 1))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	total := 0
	for set := range 10 {
		var rows []record
		var file strings.Builder
		for i := range 40 {
			var text strings.Builder
			for range 12 {
				text.WriteString(pick("\n", "\n* ", "\n1. **", "\n### ", " ", " **", ": ", ". ", " – ", "|", "\n2) [", " the ", "’s ", "__"))
				text.WriteString(pick("Nova", "Nova Pro", "Nova Max 5", "nova", "Zog", "Zog Air", "HALO", "Halo", "Lumen", "Pros", "La Roche", "La Perle",
					"Kit-Zog", "X2 Nova", "bright", "Bright", "Élan Vert", "AI Responses Are Wrong Sometimes", "5", "Lamp", "Ölz®", "Nova™ Pro", "e.g. Zog"))
				text.WriteString(pick("**", ":", " is", "\n", "|", " – good", "", "$9", " (x)", "]()", "'s", ".", " 5"))
			}
			row := record{Prompt: fmt.Sprintf("which lamp %d?", i%12), Platform: pick("a", "b"), Text: text.String(), Language: "en",
				AnsweredAt: "2026-03-02T00:00:00Z"}
			rows = append(rows, row)
			line, err := json.Marshal(map[string]any{
				"prompt": row.Prompt, "platform": row.Platform, "text": row.Text, "topic": "", "answered_at": row.AnsweredAt,
			})
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(line, '\n'))
		}
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		const brands = `{"brands":[{"name":"Lumen","slug":"lumen","aliases":["Glow"],"domains":["lumen.example"],
			"competitors":[{"name":"Halo","aliases":[],"domains":[]}]}]}`
		want := runReference(t, write("brands.json", brands), "lumen", write("answers.ndjson", file.String()))
		brand := tracked{Entity: lumen, Competitors: rival}
		compare(t, readAll(brand, rows).Names, want)
		total += len(want)
		if t.Failed() {
			t.Fatalf("set %d", set)
		}
	}
	if total == 0 {
		t.Error("no set has a name: nothing was compared")
	}
	t.Logf("%d names in 10 sets", total)
}
