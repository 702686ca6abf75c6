package wire

import (
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	known := Shape{
		"":       {"items items", "more?.sources? items:source", "status? text"},
		"text":   {"text text", "notes? items:page"},
		"page":   {"url text", "title text|null", "at? number"},
		"result": {"pages[].url text", "found items|item"},
		"empty":  nil,
	}
	for text, want := range map[string]string{
		`{"items":[]}`: "",
		`{"items":[{"type":"text","text":"","notes":[{"type":"page","url":"u","title":null,"at":3}]},` +
			`{"type":"empty"}]}`: "",
		`{"items":[{"type":"result","pages":[],"found":[]},{"type":"result","pages":[{"url":"u"}],` +
			`"found":{"type":"empty"}}]}`: "",
		`{"items":[],"more":{"sources":null},"status":null}`: "",
		`{}`:                          "the answer has no field items",
		`{"Items":[]}`:                "the answer has no field items",
		`{"items":null}`:              "the answer has no field items",
		`{"items":{}}`:                "items has not the form items",
		`{"items":[],"status":1}`:     "status has not the form text",
		`{"items":[7]}`:               "items[0] is no object",
		`{"items":[{"text":"a"}]}`:    "items[0] has no type",
		`{"items":[{"type":"text"}]}`: "items[0] has no field text",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page",` +
			`"title":""}]}]}`: "items[0].notes[0] has no field url",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page",` +
			`"url":"u"}]}]}`: "items[0].notes[0] has no field title",
		`{"items":[{"type":"text","text":"a","notes":[{"type":"page","url":"u","title":"",` +
			`"at":1.5}]}]}`: "items[0].notes[0].at has not the form number",
		`{"items":[{"type":"text","text":"a","remarks":[{"type":"page"}]}]}`: "items[0] has no field notes?, " +
			"but page in another field",
		`{"items":[],"more":{"pages":[[{"type":"source"}]]}}`: "more has no field sources?, " +
			"but source in another field",
		`{"items":[],"more":[]}`: "more is no object",
		`{"items":[{"type":"result","pages":[{"url":"u"},{}],"found":[]}]}`: "items[0].pages[1] has no field url",
		`{"items":[{"type":"result","pages":[],"found":{}}]}`:               "items[0].found[0] has no type",
	} {
		answer, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = new(Draft).Check(answer, known)
		if want != "" {
			want = "changed_shape: " + want
		}
		if got := message(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestUnknownItemsAreCountedAndSkipped(t *testing.T) {
	known := Shape{"": {"items items", "parts? union:text"}, "page": {"url text"}, "text": {"text text"}, "call": nil}
	for text, want := range map[string]string{
		`{"items":[{"type":"new","url":7,"below":{"type":"page"}},{"type":"page","url":"u","a_new_field":1}]}`: "new",
		`{"items":[],"parts":[{"signature":"s"},{"text":"a","signature":"s"},{"call":{}},` +
			`{"b":1,"a":2},{}]}`: "signature, a+b, ",
		`{"items":[],"parts":[]}`:                         "",
		`{"items":[],"parts":[{"text":7}]}`:               "changed_shape: parts[0].text has not the form text",
		`{"items":[],"parts":[{"a":1},{}]}`:               "changed_shape: parts has no item of a known kind",
		`{"items":[],"parts":[{"signature":"s"},"text"]}`: "changed_shape: parts[1] is no object",
	} {
		answer, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var d Draft
		err = d.Check(answer, known)
		if got := message(err); got != want && (err != nil || strings.Join(d.unknown, ", ") != want) {
			t.Errorf("%s: %q, %q; want %q", text, d.unknown, got, want)
		}
	}
}

func TestAnswerIsOneObject(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "7", `{"a":1`, `{"a":1} {}`, "{}x", "<html>"} {
		if _, err := Decode([]byte(text)); message(err)[:13] != "changed_shape" {
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
