package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
	"pgregory.net/rapid"
)

// edited is a golden with one piece of its text replaced.
func edited(t *testing.T, name, old, new string) []byte {
	t.Helper()
	text := string(golden(t, name))
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s holds %q %d times, want once", name, old, strings.Count(text, old))
	}
	return []byte(strings.Replace(text, old, new, 1))
}

func TestDecodeRefusesAndNamesTheField(t *testing.T) {
	for _, c := range []struct{ golden, old, new, want string }{
		{"visit_minimal", `"v":1,`, ``, `v: want the version of the record, 1 to 1, got 0`},
		{"visit_minimal", `"v":1,`, `"v":0,`, `v: want the version of the record, 1 to 1, got 0`},
		{"visit_minimal", `"v":1,`, `"v":"1",`, `v: want an integer of 64 bits`},
		{"visit_minimal", `"v":1,`, `"v":1.0,`, `v: want an integer of 64 bits`},
		{"visit_minimal", `"019cae6b-6600-7abc-8def-0123456789ab"`, `"00000000-0000-0000-0000-000000000000"`,
			`id: want a UUID that is not nil`},
		{"visit_minimal", `"019cae6b-6600-7abc-8def-0123456789ab"`, `"019cae6b66007abc8def0123456789a"`,
			`id: want a UUID such as`},
		{"visit_minimal", `"019cae6b-`, `"zzzzzzzz-`, `id: want a UUID such as`},
		{"visit_minimal", `"event":"view"`, `"event":"click"`, `event: want one of ["view" "goal"], got "click"`},
		{"visit_minimal", `"event":"view"`, `"event":"goal"`, `goal: want a goal exactly where event is "goal"`},
		{"visit_minimal", `"path":"/"`, `"path":"shop"`, `path: want a path that begins with /, got "shop"`},
		{"visit_minimal", `"path":"/"`, "\"path\":\"/\xff\"", `path: want valid JSON in UTF-8`},
		{"visit_minimal", `"path":"/"`, "\"path\":\"/\x01\"", `path: want valid JSON in UTF-8`},
		{"visit_minimal", `"path":"/"}`, `"path":"/"`, `record: want valid JSON`},
		{"visit_minimal", `"path":"/"}`, `"path":"/","path":"/"}`, `path: want valid JSON in UTF-8: duplicate`},
		{"visit_minimal", `"path":"/"}`, `"Path":"/"}`, `path: want a path`},
		{"visit_minimal", `"path":"/"}`, `"path":"/"} {}`,
			`record: want valid JSON in UTF-8: invalid character '{' after`},
		{"visit_minimal", `2026-03-02T12:00:00.000Z`, `2026-03-02T12:00:00`, `at: want an RFC 3339 time such as`},
		{"visit_minimal", `2026-03-02T12:00:00.000Z`, `2026-03-04T12:00:00.000Z`,
			`at: want within 24 h of the time in the record's id, 2026-03-02T12:00:00.000Z, got 2026-03-04`},
		{"visit_minimal", `2026-03-02T12:00:00.000Z`, `1970-01-01T00:00:00Z`, `at: want a time from 2020 to 2099`},
		{"visit", `"country":"DE"`, `"country":"Germany"`, `country: want two capital letters`},
		{"visit", `18446744073709551615`, `18446744073709551616`, `visitor: want an unsigned integer of 64 bits`},
		{"visit", `18446744073709551615`, `-1`, `visitor: want an unsigned integer of 64 bits`},
		{"visit", `"new_session":true`, `"new_session":1`, `new_session: want true or false`},
		{"goal", `"event":"goal"`, `"event":"view"`, `goal: want a goal exactly where event is "goal"`},
		{"goal", `"-329.90"`, `"1e3"`, `goal.value: want a decimal number as text`},
		{"goal", `"-329.90"`, `-329.90`, `goal.value: want a string`},
		{"goal", `"EUR"`, `"eur"`, `goal.currency: want three capital letters`},
		{"goal", `{"name":"purchase","value":"-329.90","currency":"EUR"}`, `[]`, `goal: want an object`},
		{"answer", `"sample":2`, `"sample":0`, `sample: want 1 or more, got 0`},
		{"answer", `"sample":2`, `"sample":22000000000000000000`, `sample: want an integer of 64 bits`},
		{"answer", `"surface":"consumer"`, `"surface":"web"`, `surface: want one of`},
		{"answer", `"finish":"complete"`, `"finish":"done"`, `finish: want one of`},
		{"answer", `"id":"c3d1f7a8-2b6e-4d59-9e0f-7a8b9c0d1e03"`, `"id":"c3d1"`,
			`competitors[0].id: want a UUID such as`},
		{"answer", `"id":"c3d1f7a8-2b6e-4d59-9e0f-7a8b9c0d1e03"`, `"id":null`, `competitors[0]: want an id and a name`},
		{"answer", `"DeLonghi"`, `7`, `competitors[0].aliases[0]: want a string`},
		{"answer", `"aliases":["Bambino","Sage"]`, `"aliases":"Sage"`, `brand.aliases: want a list`},
		{"answer", `"329.90"`, `"1234567890123"`, `products[0]: want position`},
		{"answer", `4.6`, `1e400`, `products[0].rating: want a number that a float of 64 bits can hold`},
		{"answer", `"2026-03-02T12:01:35.250Z"`, `"2026-03-02T11:59:59.999Z"`,
			`answered_at: want at most 24 h after the time in the record's id`},
		{"answer", `"2026-03-02T12:01:35.250Z"`, `"2026-03-03T12:00:00.001Z"`, `answered_at: want at most 24 h after`},
		{"given_up", `"rate_limited"`, `"tired"`, `given_up.class: want one of`},
		{"given_up", `"given_up":`, `"text":"hello","given_up":`,
			`given_up: want no text, citations or products beside it`},
		{"not_shown", `"finish":`, `"text":"hello","finish":`,
			`finish: want no text, citations, products or given_up beside "not_shown"`},
		{"not_shown", `"usage":`, `"given_up":{"class":"quota"},"usage":`,
			`finish: want no text, citations, products or given_up beside "not_shown"`},
		{"reread", `"min_extract_version":3`, `"min_extract_version":0`, `reread.min_extract_version: want 1 or more`},
		{"crawl", `"purpose":"user"`, `"purpose":"fun"`,
			`purpose: want one of ["training" "search" "user"], got "fun"`},
		{"crawl", `T12:00:00.000Z`, `T12:00:00.001Z`,
			`at: want the time in the record's id, 2026-03-02T12:00:00.000Z, got`},
		{"crawl", `"status":200`, `"status":-1`, `status: want a status of HTTP, 0 to 999, got -1`},
		{"crawl", `"bytes":48213`, `"bytes":-1`, `bytes: want 0 or more, got -1`},
		{"crawl", `"crawler":"Claude-User"`, `"crawler":""`, `crawler: want text`},
		{"crawl", `"/shop/espresso/bambino-plus"`, `"*"`, `path: want a path that begins with /, got "*"`},
	} {
		record := edited(t, c.golden, c.old, c.new)
		_, err := decode(record, goldens[c.golden])
		if !errors.Is(err, ErrMalformed) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s with %s: error %v, want %s…", c.golden, c.new, err, c.want)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `7`, `{`, `"v"`, `{"v":1}`, `{"v":1}{"v":2}`} {
		if _, err := decode([]byte(text), Visit{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("decode %q: error %v, want ErrMalformed", text, err)
		}
	}
}

// A record of 7 MB holds millions of wrong things: naming each took 86 MB of text and more of memory.
func TestDecodeNamesTenOfMillions(t *testing.T) {
	const wrong = 2_000_000
	record := edited(t, "answer_minimal", `"sample":1,`,
		`"sample":1,"citations":[{}`+strings.Repeat(`,{}`, wrong-1)+`],`)
	var a Answer
	err := DecodeAnswer(record, &a)
	text := fmt.Sprint(err)
	if !errors.Is(err, ErrMalformed) || !strings.HasPrefix(text, "citations[0].url: want a URL\n") ||
		!strings.HasSuffix(text, "\nand 1999990 more") {
		t.Errorf("DecodeAnswer() = %.200s… in %d bytes", text, len(text))
	}
	if lines := strings.Count(text, "\n"); lines != maxProblems {
		t.Errorf("%d lines, want %d", lines+1, maxProblems+1)
	}
	if allocated := testing.AllocsPerRun(1, func() {
		var p problems
		a.validate(&p)
		err = p.err()
	}); allocated > 100 {
		t.Errorf("validation allocated %v times for %d problems", allocated, wrong)
	}
}

// A newer version may have changed any field, and may carry v anywhere.
func TestDecodeRefusesANewerVersionWhateverElseItSays(t *testing.T) {
	for _, text := range []string{
		`{"v":2}`, `{"event":["view"],"id":7,"v":2}`, `{"at":{"v":1},"v":2}`, `{"v":2,"id":"not one"}`, `{"v":2`,
		"{\"path\":\"\xff\",\"v\":2}", `{"id":1,"id":2,"v":2}`,
	} {
		_, err := decode([]byte(text), Visit{})
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 2,") {
			t.Errorf("decode %s: error %v, want ErrNewer of version 2", text, err)
		}
	}
}

func TestDecodePassesOverWhatItDoesNotKnow(t *testing.T) {
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	for name, record := range goldens {
		text := bytes.Replace(golden(t, name), []byte(`{"v":1`),
			[]byte(` {"new":{"v":9,"a":[1,2.5e3,null,"x\ud83d\ude00"]},"deep":`+deep+`, "v" : 1`), 1)
		if got, err := decode(append(text, " \n"...), record); err != nil || !reflect.DeepEqual(got, record) {
			t.Errorf("%s with unknown fields: %+v, %v", name, got, err)
		}
	}
}

func TestDecodeSurvivesDepth(t *testing.T) {
	for _, bomb := range []string{
		`{"x":` + strings.Repeat("[", MaxRecordBytes), strings.Repeat(`{"brand":`, 1<<18),
		`{"x":` + strings.Repeat(`{"a":`, 1<<18),
	} {
		if _, err := decode([]byte(bomb), Answer{}); !errors.Is(err, ErrMalformed) || len(err.Error()) > 1000 {
			t.Errorf("decode of a deep record: error %.80v, want a short ErrMalformed", err)
		}
	}
}

// The caller may read the next record into the same buffer, unless it reads visits.
func TestDecodeKeepsNothingOfItsInput(t *testing.T) {
	for name, record := range goldens {
		if _, ok := record.(Visit); ok {
			continue
		}
		text := golden(t, name)
		got, err := decode(text, record)
		if err != nil {
			t.Fatal(err)
		}
		clear(text)
		if !reflect.DeepEqual(got, record) {
			t.Errorf("%s changed with its buffer", name)
		}
	}
}

func TestEncodeAppendsAndRefuses(t *testing.T) {
	v, a := wholeVisit(), wholeAnswer()
	got, err := EncodeVisit([]byte("before"), &v)
	if want := "before" + string(golden(t, "visit")); err != nil || string(got) != want {
		t.Errorf("EncodeVisit = %s, %v, want %s", got, err, want)
	}
	a.Text = strings.Repeat("\x01", MaxRecordBytes/6+1)
	got, err = EncodeAnswer([]byte("before"), &a)
	if large, ok := errors.AsType[*TooLargeError](err); !ok || large.Bytes <= MaxRecordBytes ||
		!errors.Is(err, ErrTooLarge) || string(got) != "before" {
		t.Errorf("EncodeAnswer of a large text: %d bytes, %v, want a TooLargeError", len(got), err)
	}
	a.Text = "\xff"
	if got, err = EncodeAnswer([]byte("before"), &a); !errors.Is(err, ErrMalformed) || string(got) != "before" {
		t.Errorf("EncodeAnswer of bytes that are no UTF-8: %s, %v, want ErrMalformed", got, err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*Answer)
		want   string
	}{
		{func(a *Answer) { a.AnsweredAt = At(noon.Add(25 * time.Hour)) },
			"answered_at: want at most 24 h after the time in the record's id, 2026-03-02T12:00:00.000Z, " +
				"got 2026-03-03T13:00:00.000Z"},
		{func(a *Answer) { a.Platform = "Chat GPT" }, `platform: want a slug`},
		{func(a *Answer) { a.Provider = "SerpApi" }, `provider: want a slug`},
		{func(a *Answer) { a.Text, a.Products = "", nil },
			`text: want the answer's text, or finish "not_shown" where the surface had none`},
		{func(a *Answer) { a.Brand.Domains = []string{"Example.com"} },
			`brand.domains[0]: want a host in lower case and punycode, got "Example.com"`},
		{func(a *Answer) {
			a.Competitors[1].Aliases = []string{"a", strings.Repeat("x", MaxName+1)}
		}, `competitors[1].aliases[1]: want at most 512 bytes, got 513`},
		{func(a *Answer) { a.Citations[1].URL = "\xff" }, `citations[1].url: want valid UTF-8`},
		{func(a *Answer) { a.Products[1].PriceCurrency = "€" },
			`products[1].price_currency: want three capital letters`},
		{func(a *Answer) { a.SearchQueries = make([]string, MaxSources+1) },
			`search_queries: want at most 4096, got 4097`},
		{func(a *Answer) {
			a.Sample, a.Brand.ID = 0, orgID
			a.OrganizationID = [16]byte{}
		}, "organization_id: want a UUID that is not nil\nsample: want 1 or more, got 0"},
	} {
		a := wholeAnswer()
		c.change(&a)
		if err := a.Check(noon); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check() = %v, want %s…", err, c.want)
		}
	}
	v, day := wholeVisit(), 24*time.Hour
	if err := v.Check(noon.Add(-day)); err != nil {
		t.Errorf("Check() a day before the visit = %v, want nil", err)
	}
	if err := v.Check(noon.Add(-day - time.Millisecond)); !errors.Is(err, ErrMalformed) ||
		!strings.HasPrefix(err.Error(), "at: want a time up to a day from now") {
		t.Errorf("Check() more than a day before the visit = %v, want at: …", err)
	}
}

// Any text survives the log.
func TestTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := wholeAnswer()
		want.Text = rapid.String().Draw(t, "text")
		want.Prompt.Text = "?" + rapid.StringOf(rapid.RuneFrom([]rune("\"\\\x00\n\u2028\ufffd\U0001f600a"))).Draw(t,
			"prompt")
		b, err := EncodeAnswer(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		var got Answer
		if err := DecodeAnswer(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %q, %v, want %q", got.Text, err, want.Text)
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) { fuzz(f, Answer{}) }
func FuzzDecodeVisit(f *testing.F)  { fuzz(f, Visit{}) }
func FuzzDecodeCrawl(f *testing.F)  { fuzz(f, Crawl{}) }

// What is accepted is JSON, encoding/json reads the same values in it, and what we write of it is read as it was.
func fuzz(f *testing.F, like any) {
	for name := range goldens {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		record, err := decode(text, like)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrNewer) {
				t.Fatalf("error %v has no kind", err)
			}
			return
		}
		if !utf8.Valid(text) {
			t.Fatalf("accepted what is no UTF-8: %q", text)
		}
		written := encode(t, record)
		if said, wrote := loose(t, text), loose(t, written); !holds(said, wrote) {
			t.Fatalf("encoding/json reads %s as\n%v\nand what we make of it as\n%v", text, said, wrote)
		}
		again, err := decode(written, like)
		if err != nil || !bytes.Equal(encode(t, again), written) {
			t.Fatalf("read\n%+v\nthen\n%+v, %v", record, again, err)
		}
	})
}

// loose is JSON as encoding/json reads it without knowing our types: the last of equal keys, names in their case.
func loose(t *testing.T, text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", text, err)
	}
	return v
}

// holds reports whether text says what was written of it; fields that are always
// written may be missing from it where they are empty.
func holds(said, wrote any) bool {
	switch wrote := wrote.(type) {
	case map[string]any:
		object, ok := said.(map[string]any)
		ok = ok || said == nil
		for key, v := range wrote {
			ok = ok && (holds(object[key], v) || object[key] == nil && empty(v))
		}
		return ok
	case []any:
		said, ok := said.([]any)
		ok = ok && len(said) == len(wrote)
		for i := range wrote {
			ok = ok && (holds(said[i], wrote[i]) || said[i] == nil && empty(wrote[i]))
		}
		return ok
	case string:
		said, ok := said.(string)
		if at, err := time.Parse(time.RFC3339Nano, said); err == nil {
			said = At(at).String()
		}
		return ok && (said == wrote || uuid.FromStringOrNil(said).String() == wrote)
	case json.Number:
		said, ok := said.(json.Number)
		a, errA := said.Float64()
		b, errB := wrote.Float64()
		return ok && (said == wrote || errA == nil && errB == nil && a == b)
	}
	return said == wrote
}

func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return v == "" || v == false || v == nil
}
