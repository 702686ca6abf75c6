package catalog

import (
	"strings"
	"testing"
	"time"
)

func TestTheSourceIsRemovedFromURLs(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/":                                       "https://a.example/",
		"https://a.example/?utm_source=openai":                     "https://a.example/",
		"https://a.example/?b=1&utm_source=openai":                 "https://a.example/?b=1",
		"https://a.example/?utm_source=openai&b=%20#c":             "https://a.example/?b=%20#c",
		"https://a.example/?utm_source=openai#c?utm_source=openai": "https://a.example/#c?utm_source=openai",
		"https://a.example/?utm_source=openai2&b":                  "https://a.example/?utm_source=openai2&b",
		"https://a.example/?x":                                     "https://a.example/?x",
	} {
		if got := withoutSource(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestCitedURLsComeFirstAndOnce(t *testing.T) {
	var d draft
	d.consult("https://b.example/", "")
	d.consult("https://a.example/", "A")
	d.consult("https://b.example/", "B")
	start := d.write("text")
	d.cite("https://c.example/?utm_source=openai", "", start, 4)
	d.cite("https://b.example/", "", 0, 99)
	d.cite("https://c.example/", "C", 0, 0)
	d.cite("no URL", "", 0, 0)
	reply, err := d.reply("complete", "", nil, nil)
	var got string
	for _, c := range reply.Citations {
		got += c.URL + c.Title
		if c.Cited {
			got += "!"
		}
		got += " "
	}
	if want := "https://c.example/C! https://b.example/! https://a.example/A "; got != want || err != nil || reply.Citations[0].End != 4 || reply.Citations[1].End != 0 {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestOffsetsInCharacters(t *testing.T) {
	for characters, want := range map[int64]int{-1: -1, 0: 0, 1: 1, 2: 3, 3: 7, 4: 8, 5: -1} {
		if got := byteOffset("aü🏕b", characters); got != want {
			t.Errorf("character %d is byte %d, want %d", characters, got, want)
		}
	}
}

func TestWhenToAskAgain(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-1": 0, "0.2": time.Second, "1e99": 0, "soon": 0,
		"Mon, 02 Mar 2026 12:00:30 GMT": 30 * time.Second, "Mon, 02 Mar 2026 11:00:30 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	known := shape{
		"":       {"items items", "more?.sources? items:source", "status? text"},
		"text":   {"text text", "notes? items:page"},
		"page":   {"url text", "title text|null", "at? number"},
		"result": {"pages[].url text", "found items|item"},
		"empty":  nil,
	}
	for text, want := range map[string]string{
		`{"items":[]}`: "",
		`{"items":[{"type":"text","text":"","notes":[{"type":"page","url":"u","title":null,"at":3}]},{"type":"empty"}]}`:       "",
		`{"items":[{"type":"result","pages":[],"found":[]},{"type":"result","pages":[{"url":"u"}],"found":{"type":"empty"}}]}`: "",
		`{"items":[],"more":{"sources":null},"status":null}`:                                                                   "",
		`{}`:                          "the answer has no field items",
		`{"Items":[]}`:                "the answer has no field items",
		`{"items":null}`:              "the answer has no field items",
		`{"items":{}}`:                "items has not the form items",
		`{"items":[],"status":1}`:     "status has not the form text",
		`{"items":[7]}`:               "items[0] is no object",
		`{"items":[{"text":"a"}]}`:    "items[0] has no type",
		`{"items":[{"type":"text"}]}`: "items[0] has no field text",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page","title":""}]}]}`:                    "items[0].notes[0] has no field url",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page","url":"u"}]}]}`:                     "items[0].notes[0] has no field title",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page","url":"u","title":"","at":1.5}]}]}`: "items[0].notes[0].at has not the form number",
		`{"items":[{"type":"text","text":"a","remarks":[{"type":"page"}]}]}`:                             "items[0] has no field notes?, but page in another field",
		`{"items":[],"more":{"pages":[[{"type":"source"}]]}}`:                                            "more has no field sources?, but source in another field",
		`{"items":[],"more":[]}`: "more is no object",
		`{"items":[{"type":"result","pages":[{"url":"u"},{}],"found":[]}]}`: "items[0].pages[1] has no field url",
		`{"items":[{"type":"result","pages":[],"found":{}}]}`:               "items[0].found[0] has no type",
	} {
		answer, err := decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = new(draft).check(answer, known)
		if want != "" {
			want = "changed_shape: " + want
		}
		if got := message(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestUnknownItemsArePassedOver(t *testing.T) {
	known := shape{"": {"items items", "parts? union:text"}, "page": {"url text"}, "text": {"text text"}, "call": nil}
	for text, want := range map[string]string{
		`{"items":[{"type":"new","url":7,"below":{"type":"page"}},{"type":"page","url":"u","a_new_field":1}]}`: "new",
		`{"items":[],"parts":[{"signature":"s"},{"text":"a","signature":"s"},{"call":{}},{"b":1,"a":2},{}]}`:   "signature, a+b, ",
		`{"items":[],"parts":[]}`:                         "",
		`{"items":[],"parts":[{"text":7}]}`:               "changed_shape: parts[0].text has not the form text",
		`{"items":[],"parts":[{"a":1},{}]}`:               "changed_shape: parts has no item of a known kind",
		`{"items":[],"parts":[{"signature":"s"},"text"]}`: "changed_shape: parts[1] is no object",
	} {
		answer, err := decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var d draft
		err = d.check(answer, known)
		if got := message(err); got != want && (err != nil || strings.Join(d.unknown, ", ") != want) {
			t.Errorf("%s: %q, %q; want %q", text, d.unknown, got, want)
		}
	}
}

func TestAnswersAreOneObject(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "7", `{"a":1`, `{"a":1} {}`, "{}x", "<html>"} {
		if _, err := decode([]byte(text)); message(err)[:13] != "changed_shape" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
