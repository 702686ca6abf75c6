package extract

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProse(t *testing.T) {
	cases := []struct{ rule, text, want string }{
		{"nothing to remove", "Apple `code` *x*", "Apple `code` *x*"},
		{"empty", "", ""},

		{"fence", "a\n```go\nb\n```\nc", "a\n \nc"},
		{"fence after white space", "a\n \t```\nb\n\u00a0```\t\r\nc", "a\n \nc"},
		{"fence of tildes with back quotes in its first line", "~~~ `x`\nb\n~~~\nc", " \nc"},
		{"inline code of three back quotes", "```a``` b\nc", "```a``` b\nc"},
		{"closed by more", "```\nb\n`````\nc", " \nc"},
		{"not closed by fewer", "````\nb\n```\nc", " "},
		{"not closed by the other", "```\nb\n~~~\nc", " "},
		{"not closed by a line with more than that", "```\nb\n``` c\nd", " "},
		{"unclosed", "a\n```\nb", "a\n "},
		{"two of each are none", "``\nb\n``\n~~\n~~", "``\nb\n``\n~~\n~~"},
		{"a fence in a quote is prose", "> ```\n> b\n> ```", "> ```\n> b\n> ```"},
		{"fence, then definition", "```\n```\n[1]: http://b \"c\"\nd", " \n \nd"},
		{"a definition inside a fence opens nothing", "```\n[1]: http://b\n```\nd", " \nd"},

		{"definition", "a\n[1]: https://b \"c d\"\ne", "a\n \ne"},
		{"definition, no space", "[a b]:http://b", " "},
		{"definition, indented, with CR", "  [1]: http://b 'c'\r\ne", " \ne"},
		{"no label", "[]: http://b c", "[]:   c"},
		{"no address", "[1]: see Apple", "[1]: see Apple"},
		{"not at the start of a line", "a [1]: http://b c", "a [1]:   c"},

		{"target", "[a](b)", "[a] "},
		{"image", "![a](b)c", "![a] c"},
		{"empty target", "[a]()", "[a] "},
		{"empty target with white space", "[a]( \n )", "[a] "},
		{"white space around", "[a]( b )", "[a] "},
		{"angle brackets", "[a](<b c>)d", "[a] d"},
		{"empty angle brackets", "[a](<>)", "[a] "},
		{"angle brackets and title", "[a](<b c> \"d e\")", "[a] "},
		{"angle brackets end on their line", "[a](<b\nc>)", "[a](<b\nc>)"},
		{"unclosed angle bracket without white space", "[a](<b)", "[a] "},
		{"title in double quotes", "[a](b \"c d\")e", "[a] e"},
		{"title in single quotes", "[a](b 'c \" d')e", "[a] e"},
		{"title in parentheses", "[a](b (c d))e", "[a] e"},
		{"title on the next line", "[a](b\n\"c\")e", "[a] e"},
		{"title without target", "[a]( \"c d\")e", "[a] e"},
		{"title is apart", "[a](\"c d\")e", "[a](\"c d\")e"},
		{"parentheses nested once", "[a](b(c)d(e))f", "[a] f"},
		{"parentheses nested twice", "[a](b((c)))f", "[a](b((c)))f"},
		{"white space is no target", "[a](b c)", "[a](b c)"},
		{"unclosed", "[a](b", "[a](b"},
		{"unclosed title", "[a](b \"c)", "[a](b \"c)"},
		{"unclosed nested", "[a](b(c", "[a](b(c"},
		{"a label around an image", "[![a](b)](c)d", "[![a] ] d"},
		{"one after the other", "[a](b)(c)[d](e)", "[a] (c)[d] "},
		{"one after one that is none", "[a](b [c](d)", "[a](b [c] "},
		{"no bracket before", "a (b)", "a (b)"},
		{"target that is an address with parentheses", "[a](https://en.example.org/b_(c))d", "[a] d"},

		{"address", "a https://b.c/d?e=f#g h", "a   h"},
		{"address ends at a bracket", "(http://b)c <https://d>e", "( )c < >e"},
		{"address ends at a letter that is not ASCII", "http://bü", "  ü"[1:]},
		{"scheme alone", "https://", " "},
		{"address inside a word", "xhttp://b", "x "},
		{"address without a scheme", "www.b.c/d", "www.b.c/d"},
		{"scheme in capitals", "HTTP://b.c", "HTTP://b.c"},
		{"no scheme", "http:/b https", "http:/b https"},
		{"entities and backslashes", "a\\(b&amp;c", "a(b&c"},
		{"references without an end, of nothing, of two", "&ampb &b; &; &nGt; &", "&ampb &b; &; &nGt; &"},
		{"backslashes before letters and at the end", `a\b \`, `a\b \`},
		{"a backslash before a backslash", `\\&`, `\&`},
		{"escapes are replaced once", "&amp;amp; &amp;reg;", "&amp; &reg;"},
		{"an escaped address", `a https://b\_c?d&amp;e f`, "a   f"},
		{"signs in letters", "A(R) B(TM) C(sm) D(c) (R) E (R) F(RM) 7(R)", "A  B  C  D  (R) E (R) F(RM) 7 "},
		{"a space of no width", "a\u200bB a\u200bb A\u200bB .\u200bB 7\u200bB", "a B a\u200bb A\u200bB .\u200bB 7 B"},
	}
	for _, c := range cases {
		if got := Prose(c.text); got != c.want {
			t.Errorf("%s: prose of %q is %q, want %q", c.rule, c.text, got, c.want)
		}
	}
}

// hostile are texts of which a scanner that looks back or ahead without limit takes quadratic time: minutes at this
// size.
var hostile = map[string]string{
	"open brackets":          "[", // repeated to the size
	"open targets":           "](",
	"open nested targets":    "](a(",
	"empty targets":          "[A]()",
	"targets never closed":   "](a \"",
	"parenthesis titles":     "](a (",
	"angle brackets":         "](<a",
	"angle brackets, titles": "](<a> (b",
	"targets in targets":     "](](x)",
	"white space in targets": "](a  ",
	"back quotes":            "`",
	"lines of back quotes":   "```a`\n",
	"fences":                 "```\n~~~\n",
	"labels":                 "[a\n",
	"definitions":            "[a]:\n",
	"schemes":                "https:/",
	"addresses":              "http://",
	"closing after a stop":   ".)",
	"brackets after a stop":  "(",
	"one name":               "apple",
	"names":                  "apple ",
	"names in a row":         "苹果",
	"katakana":               "アップル",
	"marks":                  "e\u0301",
	"only marks":             "\u0301",
	"signs, marks, letters":  "!\u093f",
	"broken UTF-8":           "\xc3",
	"spaces":                 " ",
	"lines":                  "a\n",
	"dots":                   ".",
	"backslashes":            "\\",
	"references":             "&amp;",
	"open references":        "&",
	"signs in letters":       "A(R)",
	"joiners":                "\u200d",
	"words without spaces":   "a\u200bA",
	"hyphens":                "-",
}

// Time is linear in the text: a quadratic reading would not end here. The guard is the size, and no clock.
func TestHostileTextsAreRead(t *testing.T) {
	const size = 1 << 19
	for name, piece := range hostile {
		t.Run(name, func(t *testing.T) {
			a := typical("en", "Apple. ")
			a.Brand.Aliases = append(a.Brand.Aliases, "苹果", "アップル", "ा", "e", "!", "A")
			a.Text = "Apple is great. " + strings.Repeat(piece, size/len(piece)) + "x"
			a.Citations[0].URL = "https://" + a.Text
			a.Citations[1].URL = "https://example.com/" + a.Text
			a.Citations[2].URL = "https://example.com/?" + strings.ReplaceAll(a.Text, " ", "&")
			r := Read(a)
			if r.Brand.Mentions == 0 || len(r.Citations) < 14 {
				t.Errorf("read %d mentions and %d citations", r.Brand.Mentions, len(r.Citations))
			}
			if n := len(Locate(Version, a.Text, &a.Brand.Entity, nil)); n != int(r.Brand.Mentions) {
				t.Errorf("located %d mentions, want %d", n, r.Brand.Mentions)
			}
		})
	}
}

func FuzzProse(f *testing.F) {
	for _, piece := range hostile {
		f.Add("Apple " + piece + piece + " [HP]() ```\nx\n``` [1]: http://y 'z'")
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := Prose(text)
		// Each removal takes at least two bytes for the one that it leaves.
		if len(out) > len(text) {
			t.Errorf("prose of %q is longer: %q", text, out)
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Errorf("prose of %q is no UTF-8: %q", text, out)
		}
		if len(urls(out)) > 0 {
			t.Errorf("prose of %q still has an address: %q", text, out)
		}
	})
}
