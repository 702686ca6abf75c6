package capture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// pageFurniture are the ends of recorded answers of AI Mode, and their forms as Markdown and in other languages.
var pageFurniture = []string{
	"AI responses may include mistakes. Learn more",
	"AI responses may include mistakes. For financial advice, consult a professional. Learn more",
	"AI responses may include mistakes. [Learn more](https://support.google.com/websearch?p=ai_mode)",
	"AI responses may include mistakes. Learn more\n\nThank you\n\nYour feedback helps Google improve. " +
		"See our Privacy Policy.\n\nShare more feedback\n\nReport a problem\n\nClose",
	"AI responses may include mistakes. Learn more Thank you Your feedback helps Google improve. See our Privacy " +
		"Policy. Share more feedback Report a problem Close",
	"Thank you\nYour feedback helps Google improve. See our [Privacy " +
		"Policy](https://policies.google.com/privacy).\nShare more feedback\nReport a problem\nClose",
	"To save your searches,\u00a0update your settings",
	"AI responses may include mistakes. Learn moreThank youYour feedback helps Google improve. See our Privacy " +
		"Policy.Share more feedbackReport a problemCloseTo save your searches,\u00a0update your settings",
	"AI responses may include mistakes.",
	"KI-Antworten können Fehler enthalten. Weitere Informationen",
	"Las respuestas de la IA pueden contener errores. Más información",
}

func TestFurnitureIsRemoved(t *testing.T) {
	for _, line := range linesOfGoogle {
		if !slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(line, hint) }) {
			t.Errorf("no hint is in %s", line)
		}
	}
	for _, end := range pageFurniture {
		for _, answer := range []string{
			"Take the Fernwood Two.", "Take it.\n\n- Altrek: roomy\n- Torch",
			"Thank you for asking.\n\nLearn more\n\nClose the tent.",
		} {
			for _, between := range []string{"\n\n", "\n"} {
				if got := WithoutFurniture(answer + between + end + " \n"); got != answer {
					t.Errorf("%q before %q: %q", answer, end, got)
				}
			}
			if got := WithoutFurniture(answer + "\n\n" + end +
				"\n\nIt rains."); strings.Contains(end, "\n\n") == (got == answer+"\n\nIt rains.") {
				t.Errorf("%q as a block: %q", end, got)
			}
		}
	}
	if got := WithoutFurniture("Camping Sol, abierto.LlamarCómo llegarSitio web"); got != "Camping Sol, abierto." {
		t.Error(got)
	}
}

// A sentence that an answer goes on after, or that is far from its end, is not furniture.
func TestSentencesAreNotFurniture(t *testing.T) {
	long := strings.Repeat("It rains. ", 70)
	for _, answer := range []string{
		"Under it stands: AI responses may include mistakes. Learn more about tents.",
		"AI responses may include mistakes. Learn more and it ends here.",
		"AI responses may include mistakes.\nThat holds for tents too.",
		"They write “Your feedback helps Google improve.” below it, in grey.",
		"Thank you", "Learn more", "Close", "Report a problem", "Google recommends tents. Thank you",
		"It says that AI responses may include mistakes.",
		"AI responses may include mistakes. Learn more " + strings.TrimSpace(long),
	} {
		if got := WithoutFurniture(answer); got != answer {
			t.Errorf("%q: %q", answer, got)
		}
	}
}

func TestAddressesAreCleaned(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x#:~:text=tent,best": "https://a.example/x",
		"https://a.example/x#part:~:text=tent":  "https://a.example/x#part",
		" https://a.example/:~:text=a ":         "https://a.example/:~:text=a",
		"https://www.google.com/search?q=tent":  "https://www.google.com/search?q=tent !",
		"https://google.de/searchviewer/1?q=x":  "https://google.de/searchviewer/1?q=x !",
		"https://www.google.co.uk/search":       "https://www.google.co.uk/search !",
		"https://www.google.com/url?q=https%3A%2F%2Fa.example" +
			"%2Fx%23%3A~%3Atext%3Da&sa=U": "https://a.example/x",
		"https://www.google.com/url?url=https://a.example/": "https://a.example/",
		"https://www.google.com/url?q=tent":                 "https://www.google.com/url?q=tent !",
		"https://www.google.com/travel/hotels":              "https://www.google.com/travel/hotels",
		"https://notgoogle.com/search":                      "https://notgoogle.com/search",
		"https://google.example/search?q=a":                 "https://google.example/search?q=a",
		"%":                                                 "%",
		"":                                                  "",
	} {
		got, isGoogle := cleanURL(address)
		if isGoogle {
			got += " !"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// Furniture of 2,000 captures mentions nobody: the readings name Google exactly where the answers do.
func TestFurnitureMentionsNobody(t *testing.T) {
	chance := rand.New(rand.NewPCG(30, 1))
	pick := func(list []string) string { return list[chance.IntN(len(list))] }
	sentences := []string{
		"Take the Fernwood Two.", "The Altrek Duo is roomy.", "Learn more about poles.",
		"AI responses may include mistakes in weights.", "Google Maps shows the site.",
		"Thank you for the question!", "Close the tent at night.", "Report a problem to the shop.", "Es regnet oft.",
		"防水です。",
	}
	brand := event.Brand{Entity: event.Entity{ID: uuid.Must(uuid.NewV4()), Name: "Google"}}
	for i := range 2000 {
		var answer []string
		for range 1 + chance.IntN(12) {
			answer = append(answer, pick(sentences))
		}
		whole := strings.Join(answer, pick([]string{" ", "\n\n", "\n- "}))
		end := pick(pageFurniture)
		read := func(text string) string {
			record := event.Answer{Brand: brand, Platform: "google-ai-mode", Text: text}
			return fmt.Sprint(extract.Read(&record).Brand.Mentions)
		}
		if got, want := read(WithoutFurniture(whole+pick([]string{"\n\n", "\n"})+end)), read(whole); got != want {
			t.Fatalf("capture %d, %q with %q: %s, want %s", i, whole, end, got, want)
		}
	}
}

// realAnswers are recorded answers, kept beside the repository and not in it.
const realAnswers = "../../../../shared/data/real-answers/*.ndjson"

// No furniture is left in recorded answers of AI Mode, and nothing is cut but their ends.
func TestFurnitureOfRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(realAnswers)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Logf("LEFT OUT: there are no answers in %s, nothing was read", realAnswers)
		return
	}
	known := regexp.MustCompile(`(?i)ai responses|feedback helps|privacy policy|save your searches|report a problem`)
	read, cut := 0, 0
	for _, file := range files {
		lines, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(lines)) {
			var answer struct{ Platform, Text string }
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.Platform != "google-ai-mode" {
				continue
			}
			got := WithoutFurniture(answer.Text)
			read++
			if len(got) < len(answer.Text) {
				cut++
			}
			if end := got[max(0, len(got)-furnitureBytes):]; known.MatchString(end) ||
				!strings.HasPrefix(answer.Text, got) || len(answer.Text)-len(got) > furnitureBytes {
				t.Errorf("of %d bytes %d are left: …%s", len(answer.Text), len(got), end)
			}
		}
	}
	t.Logf("%d answers, of which %d had furniture", read, cut)
}
