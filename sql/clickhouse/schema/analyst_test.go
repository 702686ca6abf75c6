package schema

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

func someAnalyst() Analyst {
	return Analyst{
		Name: "ana", Organization: "acme", OrganizationID: clickhouse.UUID{1, 2, 3}, Database: "answerscope",
		PasswordSHA256: strings.Repeat("0f", 32), Since: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
	}
}

// Slugs are people's: one may hold what means something in XML, in SQL or in a path.
func TestAnalystsOfAnyOrganizationAreWrittenAndReadBack(t *testing.T) {
	dir := t.TempDir()
	slugs := []string{
		"acme", "acme-co", "Acme_Co", "o'neill", `a"b`,
		"<b>&amp;</b>", "]]>", "-->", "..", "日本", "{{.Name}}", "a.b", "analyst", strings.Repeat("x", 101),
	}
	var added []Analyst
	for i, slug := range slugs {
		a := someAnalyst()
		a.Organization, a.OrganizationID = slug, clickhouse.UUID{byte(i + 1)}
		if i%2 == 0 { // the other half are of an earlier release
			a.PasswordSCRAM, a.PasswordSHA256 = PasswordSCRAM(slug), ""
		}
		if err := AddAnalyst(dir, a); err != nil {
			t.Errorf("%q: %v", slug, err)
			continue
		}
		added = append(added, a)
		if err := AddAnalyst(dir, a); !errors.Is(err, ErrAnalystExists) {
			t.Errorf("%q twice: %v", slug, err)
		}
	}
	listed, err := ListAnalysts(dir)
	if err != nil {
		t.Fatal(err)
	}
	byLogin := func(a, b Analyst) int { return strings.Compare(a.Login(), b.Login()) }
	slices.SortFunc(added, byLogin)
	slices.SortFunc(listed, byLogin)
	if !slices.Equal(added, listed) {
		t.Errorf("listed\n%v\nadded\n%v", listed, added)
	}
	for _, a := range added {
		if _, err := RemoveAnalyst(dir, a.Organization, a.Name); err != nil {
			t.Errorf("%q: %v", a.Organization, err)
		}
	}
	if _, err := RemoveAnalyst(dir, "acme", "ana"); !errors.Is(err, ErrNoAnalyst) {
		t.Errorf("removed twice: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAnalystsThatCannotBeAFileAreRefused(t *testing.T) {
	for what, change := range map[string]func(*Analyst){
		"no name":           func(a *Analyst) { a.Name = "" },
		"path":              func(a *Analyst) { a.Name = "../x" },
		"underscore":        func(a *Analyst) { a.Name = "a_b" },
		"two hyphens":       func(a *Analyst) { a.Name = "a--b" },
		"element":           func(a *Analyst) { a.Name = "a><b" },
		"long":              func(a *Analyst) { a.Name = strings.Repeat("a", maxSlug+1) },
		"no slug":           func(a *Analyst) { a.Organization = "" },
		"line in slug":      func(a *Analyst) { a.Organization = "a\nb" },
		"no text":           func(a *Analyst) { a.Organization = "a\xff" },
		"no character":      func(a *Analyst) { a.Organization = "a\ufffe" },
		"no organization":   func(a *Analyst) { a.OrganizationID = clickhouse.UUID{} },
		"database":          func(a *Analyst) { a.Database = "a.b" },
		"database as SQL":   func(a *Analyst) { a.Database = "a TO x" },
		"password, no hash": func(a *Analyst) { a.PasswordSHA256 = "secret" },
	} {
		a := someAnalyst()
		change(&a)
		if err := AddAnalyst(t.TempDir(), a); err == nil {
			t.Errorf("%s: %+v was added", what, a)
		}
	}
}

// Two slugs and names that look alike in one word are two users.
func TestNoTwoAnalystsShareALogin(t *testing.T) {
	seen := map[string]Analyst{}
	for _, slug := range []string{"a", "a-b", "a_b", "01020300000000000000000000000000"} {
		for _, name := range []string{"a", "b", "b-c", "c"} {
			a := someAnalyst()
			a.Organization, a.Name = slug, name
			if other, taken := seen[a.Login()]; taken {
				t.Errorf("%v and %v are both %s", a, other, a.Login())
			}
			seen[a.Login()] = a
		}
	}
}

// A release brings tables and views: existing analysts get them, with the password that they have.
func TestAnalystsAreRenewedWithTheSchema(t *testing.T) {
	dir, a := t.TempDir(), someAnalyst()
	if err := AddAnalyst(dir, a); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"analyst_by_hand.xml", "analyst_notes.txt", "people.xml"} {
		if err := os.WriteFile(filepath.Join(dir, other), []byte("<clickhouse/>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if renewed, err := RenewAnalysts(dir); err != nil || len(renewed) > 0 {
		t.Errorf("renewed %q, %v with the same schema", renewed, err)
	}
	files = release{
		"migrate/9998_gadgets.up.sql": "CREATE TABLE IF NOT EXISTS gadgets\n(\n    organization_id UUID,\n    n " +
			"Int8\n)\nENGINE = MergeTree\nORDER BY n;\n",
		"migrate/9999_engine.up.sql": "-- no organization_id UUID here\nCREATE TABLE IF NOT EXISTS engine\n(\n    " +
			"n Int8\n)\nENGINE = MergeTree\nORDER BY n;\n",
		"query/gadget_list.sql": "-- gadget_list: gadgets.\nSELECT n FROM gadgets WHERE organization_id = " +
			"{organization_id:UUID}\n",
		"query/gadget_sum.sql": "-- gadget_sum: of all.\nSELECT sum(n) FROM gadgets\n",
	}
	defer func() { files = clickhouse.Files }()
	if renewed, err := RenewAnalysts(dir); err != nil || !slices.Equal(renewed, []string{"analyst_acme_ana"}) {
		t.Fatalf("renewed %q, %v", renewed, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "analyst_acme_ana.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"GRANT SELECT ON answerscope.gadgets<", "GRANT SELECT ON answerscope.gadget_list<",
		"<gadgets><filter>organization_id = '01020300-",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("renewed without %s:\n%s", want, text)
		}
	}
	for _, no := range []string{"answerscope.engine<", "gadget_sum"} {
		if bytes.Contains(text, []byte(no)) {
			t.Errorf("renewed with %s", no)
		}
	}
	if again, err := ListAnalysts(dir); err != nil || !slices.Equal(again, []Analyst{a}) {
		t.Errorf("after it there are %v, %v", again, err)
	}
}

func TestAnalystsWithoutADirectoryAreNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	if list, err := ListAnalysts(dir); err != nil || len(list) > 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	if err := AddAnalyst(dir, someAnalyst()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("added without a directory: %v", err)
	}
}

// A file is what it says and nothing else, or a value that ends an element would be a setting.
func TestTheFileOfAnAnalystHasTheElementsThatItShould(t *testing.T) {
	shape := func(a Analyst) (names []string) {
		text, err := a.Configuration()
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			token, err := d.Token()
			if err != nil {
				return names
			}
			if start, ok := token.(xml.StartElement); ok {
				names = append(names, strings.ReplaceAll(start.Name.Local, a.Login(), "LOGIN"))
			}
		}
	}
	plain, hostile := someAnalyst(), someAnalyst()
	hostile.Organization = "</organization></answerscope_analyst><users><x><password/></x></users>"
	if a, b := shape(plain), shape(hostile); !slices.Equal(a, b) || len(a) < 100 {
		t.Errorf("elements differ:\n%q\n%q", a, b)
	}
}
