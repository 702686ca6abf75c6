package wire

import (
	"errors"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
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

func TestWhatIsAURL(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example": true, "HTTP://A.example/": true, "https://münchen.example/ä b": true, "https://a.example/100%-dry": true,
		"https://a.example/#:~:text=50%": true, "http://[::1]:80/": true, "https://a.example?b": true,
		"": false, "a.example/b": false, "mailto:a@b.example": false, "https://": false, "https:///a": false, "see https://a.example": false,
		"://a.example": false, "https:a.example": false,
	} {
		if got := IsURL(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestCitedURLsComeFirstAndOnce(t *testing.T) {
	var d Draft
	d.Consult("https://b.example/", "")
	d.Consult("https://a.example/", "A")
	d.Consult("https://b.example/", "B")
	start := d.Write("text")
	d.Cite("https://c.example/?utm_source=openai", "", start, 4)
	d.Cite("https://b.example/", "", 0, 99)
	d.Cite("https://c.example/", "C", 0, 0)
	d.Cite("no URL", "", 0, 0)
	reply, err := d.Reply("complete", "", nil, nil)
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
	for characters, want := range map[int]int{-1: -1, 0: 0, 1: 1, 2: 3, 3: 7, 4: 8, 5: -1} {
		if got := Bytes("aü🏕b", characters); got != want {
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

func TestNeededFields(t *testing.T) {
	type form struct {
		A *string `json:"a" need:"true"`
		B *string `json:"b" need:"null"`
		C []struct {
			D *int `json:"d" need:"true"`
		} `json:"c"`
	}
	for text, want := range map[string]string{
		`{"a":"x","b":null}`:                "",
		`{"a":"x","b":"y","c":[{"d":0}]}`:   "",
		`{"b":null}`:                        "changed_shape: part has no field a",
		`{"a":null,"b":null}`:               "changed_shape: part has no field a",
		`{"A":"x","b":null}`:                "changed_shape: part has no field a",
		`{"a":"x"}`:                         "changed_shape: part has no field b",
		`{"a":"x","b":"","c":[{"d":1},{}]}`: "changed_shape: part.c[1] has no field d",
	} {
		var into form
		err := Decode([]byte(text), &into, "part")
		if got := message(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if e, ok := errors.AsType[*platform.Error](Decode([]byte(`{"a":1}`), &form{}, "")); !ok || e.Class != platform.ChangedShape {
		t.Errorf("a number for a text: %v", e)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTally(t *testing.T) {
	counts := Tally([]byte(`{"type":"a","b":[{"type":"url","url":"type"},{"type":"url"},"type"],"c":{"type":{"type":"url"}}}`))
	if counts["type:url"] != 3 || counts["type:a"] != 1 || counts["type"] != 5 || counts["url"] != 1 || counts["b"] != 1 {
		t.Errorf("%v", counts)
	}
}
