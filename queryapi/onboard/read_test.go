package onboard

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/testkit/cputime"
	"github.com/answerscope/answerscope/sql/postgres"
)

var acme = postgres.Snapshot{Name: "Acme", Aliases: []string{"ACME Tools"}, Domains: []string{"acme.example"}}

func suggestionsOf(t testing.TB, html string) []suggestion {
	t.Helper()
	address := &url.URL{Scheme: "https", Host: "www.acme.example", Path: "/en"}
	page := egress.Page{URL: address, ContentType: "text/html", Body: []byte(html)}
	list, err := suggest(page, acme, []postgres.TrackedPrompt{{Text: "best anvil for a workshop"}})
	if err != nil && strings.Count(html, "<") < 500 {
		t.Fatal(err)
	}
	return list
}

func TestAPageTellsNamesAddressAndQuestions(t *testing.T) {
	t.Parallel()
	data := func(json string) string { return `<script type="application/ld+json">` + json + `</script>` }
	for name, c := range map[string]struct{ html, want string }{
		"nothing":   {"", ""},
		"no HTML":   {"%PDF-1.7 \x00\xff{[", ""},
		"site name": {`<meta property="og:site_name" content=" Acme &amp; Sons ">`, "alias Acme & Sons"},
		"title": {"<title>Acme Anvils | Buy online</title><svg><title>Logo Mark</title></svg>",
			"alias Acme Anvils"},
		"dashes":  {"<title>Acme Works — anvils</title>", "alias Acme Works"},
		"hyphens": {"<title>Acme-Works - anvils - hammers</title>", "alias Acme-Works"},
		"dot":     {"<title>Acme Forge · anvils</title>", "alias Acme Forge"},
		"tracked": {"<title>ACME – anvils</title>" + data(`{"@type":"Brand","name":"acme tools"}`), ""},
		"generic": {"<title>The Best | Acme</title>" +
			data(`{"@type":"Brand","name":["Which","?"," ",7,null]}`), ""},
		"long": {"<title>Anvils and hammers for everybody</title><meta property=og:site_name content=" +
			strings.Repeat("a", 65) + ">", ""},
		"twice": {"<title>Acme Forge</title><title>ACME FORGE</title>", "alias Acme Forge"},
		"organization": {data(`{"@type":"Organization","name":"Acme Inc.","alternateName":["Acme ` +
			`Anvils","AA"],"legalName":"Acme Incorporated"}`),
			"alias Acme Inc., alias Acme Anvils, alias AA, alias Acme Incorporated"},
		"graph": {data(`[{"@graph":[{"@type":["Brand","Thing"],"name":"Anvil&#39;s Home"}]}]`),
			"alias Anvil's Home"},
		"another's": {data(`{"@type":"Product","brand":{"@type":"Brand","name":"Globex"},` +
			`"publisher":{"@type":"Organization","name":"Initech"}}`), ""},
		"another type": {data(`{"@type":"Person","name":"Wile Coyote"}`), ""},
		"broken": {data(`{"@type":"Brand","name":"Acme Forge"`) +
			data(`{"@type":"Brand","name":"Acme Works"}`), "alias Acme Works"},
		"hidden signs":       {"<title>Ac\u200bme\u202e Fo\x01rge\n</title>", "alias Acme Forge"},
		"canonical":          {`<link rel=canonical href="https://WWW.Acme.io/en">`, "page acme.io"},
		"canonical, foreign": {`<link rel=canonical href="//bücher.example/">`, "page xn--bcher-kva.example"},
		"canonical, own":     {`<link rel=canonical href="/en"><link rel=canonical href="https://acme.io">`, ""},
		"canonical, below":   {`<link rel=canonical href="https://shop.acme.example/">`, ""},
		"canonical, wrong":   {`<link rel=canonical href="https://[::1">`, ""},
		"canonical, bare":    {`<link rel=canonical href="https://intranet/">`, ""},
		"sameAs": {data(
			`{"@type":"Organization","sameAs":["https://facebook.example/acme"],"url":"https://acme.io"}`), ""},
		"headings": {"<h1>How are <b>anvils</b>\nforged?</h1><h2>Our anvils</h2><h3>What do anvils weigh?</h3>",
			"prompt How are anvils forged?"},
		"questions": {data(`{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"How heavy are ` +
			`hammers?"},{"@type":"Question","name":"Hammer returns"}]}`),
			"prompt How heavy are hammers?, prompt Hammer returns"},
		"the same question": {"<h1>Are hammers heavy?</h1><h2>Heavy hammer?</h2>", "prompt Are hammers heavy?"},
		"covered":           {"<h1>Which anvil for my workshop?</h1><h2>What is the best?</h2>", ""},
		"long question":     {"<h1>" + strings.Repeat("hammer ", 50) + "?</h1>", ""},
		"long name": {data(`{"@type":"Brand","name":"` + strings.Repeat("a", 2048) + `","legalName":"` +
			strings.Repeat("é", 64) + `"}`), "alias " + strings.Repeat("é", 64)},
		"hostile": {"<title>](javascript:alert(1))</title>" +
			data(`{"@type":"Brand","name":["=cmd()","<b>Acme</b>"]}`),
			"alias ](javascript:alert(1)), alias =cmd(), alias <b>Acme</b>"},
		"deep": {strings.Repeat("<div>", 600) + "<title>x", ""},
		"deep data": {data(strings.Repeat(`{"@graph":`, 9_000) + `{"@type":"Brand","name":"Acme Forge"}` +
			strings.Repeat("}", 9_000)), "alias Acme Forge"},
		"too deep data": {data(strings.Repeat(`{"@graph":`, 10_001)+`{"@type":"Brand","name":"Acme Forge"}`+
			strings.Repeat("}", 10_001)) + "<title>Acme Works", "alias Acme Works"},
	} {
		var got []string
		for _, s := range suggestionsOf(t, c.html) {
			got = append(got, s.Kind+" "+s.Evidence.Name)
			if !strings.Contains(s.Text, s.Evidence.Name) || s.Evidence.URL != "https://www.acme.example/" {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	many := ""
	for i := range 60 {
		many += fmt.Sprintf("<h1>How heavy is hammer h%dx?</h1>", i)
	}
	if list := suggestionsOf(t, many); len(list) != maxPerKind {
		t.Errorf("of 60 questions %d", len(list))
	}
}

func TestAPageMayHaveAnotherCharset(t *testing.T) {
	t.Parallel()
	page := egress.Page{
		URL: &url.URL{}, ContentType: "text/html; charset=iso-8859-1", Body: []byte("<title>Caf\xe9 Acme</title>"),
	}
	if s, err := read(page); err != nil || fmt.Sprint(s.names) != "[Café Acme]" {
		t.Errorf("%q, %v", s.names, err)
	}
}

// Once, a page of 492 KB took 17 s: each node copied all names before it.
func TestManyNamesAreReadQuickly(t *testing.T) {
	t.Parallel()
	body := `<script type="application/ld+json">[{"@type":"Brand","name":[""` + strings.Repeat(`,""`, 80_000) + `]}` +
		strings.Repeat(`,{"@type":"Brand"}`, 14_000) + `]</script>`
	var err error
	took := cputime.Of(t, func() { _, err = read(egress.Page{URL: &url.URL{}, Body: []byte(body)}) })
	if t.Log(took); err != nil || took > 3*time.Second {
		t.Errorf("%d bytes took %s, %v", len(body), took, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`<title>Acme – x</title><link rel=canonical href=//a.io><h1>Why?</h1>`)
	f.Add(`<script type="application/ld+json">{"@graph":[{"@type":["Brand"],"name":["\u0000a","\ud800"]},` +
		`{"@type":"Question","name":"b"}]}</script>`)
	f.Add("<svg><title>\x00</title><meta property=og:site_name content='&#0;&#xfffe;'>")
	f.Fuzz(func(t *testing.T, html string) {
		for _, s := range suggestionsOf(t, html) {
			for _, text := range []string{s.Key, s.Text, s.Reason, s.Evidence.Name} {
				if text == "" || !utf8.ValidString(text) || len(text) > 2000 ||
					strings.ContainsAny(text, "\x00\n\u202e") {
					t.Errorf("%+q", s)
				}
			}
			if len(s.Key) > maxKey || s.Kind == "alias" && utf8.RuneCountInString(s.Evidence.Name) > maxName {
				t.Errorf("%+q", s)
			}
		}
	})
}
