package script

import (
	"strings"
	"testing"
)

const brandOfTest = "01890a5d-ac96-774b-bcce-b302099a8057"

func TestSnippets(t *testing.T) {
	tag, err := NewTag("https://collector.example/", brandOfTest)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"html": `<script src="https://collector.example/t.js" data-brand="` + brandOfTest + `" defer></script>`,
		"html-pinned": `<script src="https://collector.example` + VersionedPath() + `" integrity="` + Integrity() +
			`" crossorigin="anonymous" data-brand="` + brandOfTest + `" defer></script>`,
	}
	for _, s := range tag.Snippets() {
		if text, ok := want[s.As]; ok && s.Text != text {
			t.Errorf("%s:\n%s\nwant\n%s", s.As, s.Text, text)
		}
		if !strings.Contains(s.Text, "https://collector.example/t.") || !strings.Contains(s.Text, brandOfTest) ||
			s.Where == "" {
			t.Errorf("%s lacks the address, the brand or where it goes:\n%s", s.As, s.Text)
		}
		if again, err := tag.Snippet(s.As); err != nil || again != s {
			t.Errorf("Snippet(%s) = %v, %v", s.As, again, err)
		}
	}
	if _, err := tag.Snippet("shopify"); err == nil {
		t.Error("there is a snippet for an unknown kind of site")
	}
}

// What is pasted into a page stays what it is: an address cannot end the attribute that it stands in.
func TestAddressesThatAreNone(t *testing.T) {
	for _, base := range []string{
		"", "collector.example", "//collector.example", "ftp://collector.example", "https://",
		"https://u:p@collector.example",
		"https://collector.example/?a=b", "https://collector.example/#x", "https://collector.example/?",
		"https://collector.example/#", `https://collector.example/"onload="x`, "https://collector.example/'",
		"https://a b/",
	} {
		if tag, err := NewTag(base, brandOfTest); err == nil {
			t.Errorf("NewTag(%q) = %v", base, tag)
		}
	}
	tag, err := NewTag("http://127.0.0.1:8080/in/front", brandOfTest)
	if err != nil || tag.Script() != "http://127.0.0.1:8080/in/front/t.js" ||
		tag.Collect() != "http://127.0.0.1:8080/in/front/t/collect" {
		t.Errorf("a path in front: %+v, %v", tag, err)
	}
}
