package collector

import (
	_ "embed"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const lumen = "0195a2b4-6c00-7c1e-9d3f-2b1a4c5d6e7f"

// view is a beacon as t.js sends it, with more fields put in before the end.
func view(more string) string {
	return `{"u":"https://lumen.example/shoes?utm_source=chatgpt.com","r":"https://chatgpt.com/","s":"chatgpt",` +
		`"l":"de-DE","d":"1920x1080","z":"Europe/Berlin","e":"view","b":"` +
		lumen + `","i":"k3j9x2m1","n":1` + more + `}`
}

func TestABeaconIsReadAsItWasSent(t *testing.T) {
	got, err := decode([]byte(view("")), nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("decode() = %v, %v", got, err)
	}
	b := got[0]
	if b.page != (page{"lumen.example", "/shoes", "utm_source=chatgpt.com"}) || b.brand.String() != lumen || !b.New ||
		b.Referrer != "https://chatgpt.com/" ||
		b.Language != "de-DE" || b.Screen != "1920x1080" || b.TimeZone != "Europe/Berlin" || b.Session != "k3j9x2m1" ||
		b.Platform != "chatgpt" {
		t.Errorf("decode() = %+v", b)
	}
}

func TestWhatIsTaken(t *testing.T) {
	head := `{"b":"` + lumen + `","u":"https://lumen.example/"`
	for name, body := range map[string]string{
		"the least":             head + `}`,
		"upper case id":         `{"b":"` + strings.ToUpper(lumen) + `","u":"HTTPS://Lumen.Example"}`,
		"unknown fields":        head + `,"x":{"y":[1,2]},"U":"other"}`,
		"white space":           " \n" + head + " \t}\r\n",
		"escapes":               head + `,"l":"de\u002dDE"}`,
		"nulls":                 head + `,"r":null,"n":null,"g":null}`,
		"new as a boolean":      head + `,"n":true}`,
		"a goal":                head + `,"e":"goal","g":{"name":"buy","value":49.9,"currency":"eur"}}`,
		"a goal of nothing":     head + `,"e":"goal","g":{"name":"sign-up"}}`,
		"a goal beside a view":  head + `,"e":"view","g":{"name":""}}`,
		"an array":              `[` + head + `},` + head + `}]`,
		"fifty":                 `[` + strings.Repeat(head+`},`, 49) + head + `}]`,
		"hints that are no use": head + `,"l":"` + strings.Repeat("x", 65) + `","d":"\u0000","z":"Ünbekannt"}`,
	} {
		if _, err := decode([]byte(body), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsMalformed(t *testing.T) {
	id := `"b":"` + lumen + `"`
	page := `"u":"https://lumen.example/"`
	both := id + `,` + page
	for name, body := range map[string]string{
		"nothing":               ``,
		"white space":           ` `,
		"null":                  `null`,
		"a text":                `"x"`,
		"no brand":              `{` + page + `}`,
		"no page":               `{` + id + `}`,
		"brand without hyphens": `{"b":"` + strings.ReplaceAll(lumen, "-", "") + `",` + page + `}`,
		"brand in braces":       `{"b":"{` + lumen + `}",` + page + `}`,
		"brand is a number":     `{"b":1,` + page + `}`,
		"page without a scheme": `{` + id + `,"u":"//lumen.example/"}`,
		"page is a file":        `{` + id + `,"u":"file:///etc/passwd"}`,
		"page with a user":      `{` + id + `,"u":"https://lumen.example@evil.example/"}`,
		"page with a newline":   `{` + id + `,"u":"https://lumen.example/a\nb"}`,
		"twice the same":        `{` + both + `,"l":"de","l":"en"}`,
		"twice the same, other": `{` + both + `,"x":1,"x":2}`,
		"twice in a goal":       `{` + both + `,"e":"goal","g":{"name":"a","name":"b"}}`,
		"byte-order mark":       "\xef\xbb\xbf{" + both + `}`,
		"no UTF-8":              `{` + both + `,"l":"` + "\xff" + `"}`,
		"half a surrogate":      `{` + both + `,"l":"\ud800"}`,
		"two of them":           `{` + both + `}{` + both + `}`,
		"a rest":                `{` + both + `}x`,
		"a comma too many":      `{` + both + `,}`,
		"cut off":               `{` + both,
		"empty array":           `[]`,
		"null in an array":      `[null]`,
		"a text in an array":    `[{` + both + `},"x"]`,
		"fifty-one":             `[` + strings.Repeat(`{`+both+`},`, 50) + `{` + both + `}]`,
		"one of an array":       `[{` + both + `},{` + page + `}]`,
		"an array in an array":  `[[{` + both + `}]]`,
		"deep":                  strings.Repeat("[", 8000),
		"another event":         `{` + both + `,"e":"click"}`,
		"new twice over":        `{` + both + `,"n":2}`,
		"new as a text":         `{` + both + `,"n":"1"}`,
		"long session":          `{` + both + `,"i":"` + strings.Repeat("x", 65) + `"}`,
		"session in Cyrillic":   `{` + both + `,"i":"ж"}`,
		"referrer is a number":  `{` + both + `,"r":7}`,
		"goal without g":        `{` + both + `,"e":"goal"}`,
		"goal without a name":   `{` + both + `,"e":"goal","g":{"value":1}}`,
		"goal as a text":        `{` + both + `,"e":"goal","g":"buy"}`,
		"goal of a text":        `{` + both + `,"e":"goal","g":{"name":"a","value":"much"}}`,
		"goal of true":          `{` + both + `,"e":"goal","g":{"name":"a","value":true}}`,
		"goal too large":        `{` + both + `,"e":"goal","g":{"name":"a","value":1e12}}`,
		"goal in dollars":       `{` + both + `,"e":"goal","g":{"name":"a","value":1,"currency":"$"}}`,
		"long goal":             `{` + both + `,"e":"goal","g":{"name":"` + strings.Repeat("x", 513) + `"}}`,
	} {
		_, err := decode([]byte(body), nil)
		if refused, ok := errors.AsType[*refusal](err); !ok || refused.status != http.StatusBadRequest {
			t.Errorf("%s: decode() = %v, want a refusal of 400", name, err)
		} else if strings.Contains(body, "evil") && strings.Contains(refused.message, "evil") {
			t.Errorf("%s: the answer repeats the body: %s", name, refused.message)
		}
	}
}

func TestAnAmountIsADecimal(t *testing.T) {
	for given, want := range map[string]string{
		`49.9`: "49.9", `"49.90"`: "49.9", `0`: "0", `-0`: "0", `-12.5`: "-12.5", `1e3`: "1000", `1.5E-3`: "0.0015",
		`0.30000000000000004`: "0.3", `0.0000005`: "0.000001", `-0.0000005`: "-0.000001", `-0.0000004`: "0",
		`999999999999.999999`: "999999999999.999999",
		`""`:                  "", `null`: "", `1e-300`: "0", `5e-324`: "0", `100`: "100",
		`999999999999.9999999`: "!", `1e12`: "!",
		`1e999999999`: "!", `"1,5"`: "!", `"1."`: "!", `".5"`: "!", `"+1"`: "!", `"0x10"`: "!", `"1/3"`: "!",
		`" 1"`: "!", `"1_000"`: "!", `"NaN"`: "!",
	} {
		body := `{"b":"` + lumen + `","u":"https://lumen.example/","e":"goal","g":{"name":"a","value":` + given + `}}`
		got, err := decode([]byte(body), nil)
		if want == "!" {
			if err == nil {
				t.Errorf("%s is taken as %s", given, got[0].Goal.Value)
			}
			continue
		}
		if err != nil || string(got[0].Goal.Value) != want {
			t.Errorf("%s: got %v, %v, want %s", given, got, err, want)
		}
	}
}

// found is what fuzzing has found interesting, a Go literal a line.
//
//go:embed testdata/decode.corpus
var found string

// What scan reads, the library reads the same; and of what is taken nothing is beyond what the log takes.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		view(""), view(`,"x":1`), `[` + view("") + `]`, `{}`, `{"n":1}`, `{"u":"","u":""}`, `{"n":1,"n":1}`, `{"n":10}`,
		`{"n":1 }`, `{"u":"a"b}`, `{"u":"\u0061"}`, "{\"u\":\"\xff\"}", `{"u":"a",}`, `{"g":"a"}`,
		`{"b":"` + lumen +
			`","u":"https://münchen.example/ä?x#y","e":"goal","g":{"name":"ä","value":"1e5","currency":"usd"}}`,
	} {
		f.Add([]byte(body))
	}
	for line := range strings.Lines(found) {
		body, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var quick beacon
		if scan(body, &quick) {
			slow, err := parse(body, nil)
			if err != nil || len(slow) != 1 || !reflect.DeepEqual(slow[0], quick) {
				t.Fatalf("scan reads %+v, the library %+v, %v", quick, slow, err)
			}
		}
		list, err := decode(body, nil)
		if err != nil {
			if refused, ok := errors.AsType[*refusal](err); !ok || refused.status != http.StatusBadRequest {
				t.Fatalf("decode() = %v", err)
			}
			return
		}
		if len(list) == 0 || len(list) > maxItems {
			t.Fatalf("%d beacons", len(list))
		}
		for i := range list {
			if err := kept(&list[i]); err != nil {
				t.Fatalf("the log refuses %+v: %v", list[i], err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(view(""))
	var list []beacon
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if list, err = decode(body, list[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	body := []byte(view(""))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(body, nil); err != nil {
			b.Fatal(err)
		}
	}
}
