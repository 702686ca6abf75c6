package imports

import (
	"reflect"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestReadBrandsNormalisesDomains(t *testing.T) {
	got, err := ReadBrands(
		strings.NewReader(
			`{"brands":[{"name":"Müller","slug":"mueller","domains":["WWW.Müller.Example.","shop.example"],
		"competitors":[{"name":"Ross","aliases":["Roß"],"domains":["ross.example"]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []postgres.NewBrand{{Name: "Müller", Slug: "mueller",
		Domains: []string{"xn--mller-kva.example", "shop.example"},
		Competitors: []postgres.NewCompetitor{{Name: "Ross", Aliases: []string{"Roß"},
			Domains: []string{"ross.example"}}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestReadBrandsReportsEveryProblem(t *testing.T) {
	cases := []struct {
		file string
		want []string
	}{
		{`{"brands":[]}`, []string{"no brands"}},
		{`[]`, []string{`want {"brands"`}},
		{`{"brands":[{"name":"A","domain":"a.example"}]}`, []string{`unknown field "domain"`, "want"}},
		{`{"brands":[{"name":"A"}]} x`, []string{"want one JSON object"}},
		{`{"brands":[{"name":" ","slug":"A b","domains":["a b.example","-a.example","com",
			"ä .example"]},{"name":"B","slug":"b",
			"competitors":[{"name":"C","aliases":[""]},{"name":"C"}]},{"name":"B","slug":"b"}]}`, []string{
			"brands[0].name: want a name", `brands[0].slug "A b"`,
			`domains[0]: domain "a b.example"`, "domains[1]", "domains[2]", "domains[3]",
			"brands[1].competitors[0].aliases[0]", `brands[1].competitors[1].name "C"`, `brands[2].slug "b"`}},
	}
	for _, c := range cases {
		_, err := ReadBrands(strings.NewReader(c.file))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s\n got %v\nwant %s", c.file, err, want)
			}
		}
	}
}

func TestDomainIsAHost(t *testing.T) {
	for text, want := range map[string]string{
		"Example.COM.":                     "example.com",
		"www.example.com":                  "example.com",
		"https://www.example.com:443/shop": "example.com",
		"http://Über.example":              "xn--ber-goa.example",
		"www.com":                          "www.com",
		"localhost:8088":                   "localhost", // a site under development
	} {
		if got, err := Domain(text); err != nil || got != want {
			t.Errorf("Domain(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"co.uk", "github.io", "gov.uk.", "com", "lamps"} {
		if got, err := Domain(text); err == nil {
			t.Errorf("Domain(%q) = %q, want an error", text, got)
		}
	}
}
