package extract

import (
	"slices"
	"strings"
	"testing"
)

// Each row covers its host and those under it, and no lookalike: not a host that ends or begins in the same letters,
// and not one that has the row in front.
func TestEveryRowOfTheLists(t *testing.T) {
	for _, kind := range sourceOrder[:len(sourceOrder)-1] {
		rows, err := readList(kind)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) < 40 {
			t.Errorf("list %s has %d rows", kind, len(rows))
		}
		for _, row := range rows {
			url, host, ok := normalise("https://" + row.host)
			if !ok || host != row.host || url != "https://"+row.host {
				t.Errorf("list %s: %s is not a normalised host", kind, row.host)
			}
			if strings.TrimSpace(row.reason) == "" {
				t.Errorf("list %s: %s has no reason", kind, row.host)
			}
			for _, host := range []string{row.host, "sub." + row.host, "a.b." + row.host} {
				if got := sourceType(host); got != kind {
					t.Errorf("%s is %s, want %s", host, got, kind)
				}
			}
			for _, host := range []string{
				"not" + row.host, row.host + ".example.com", row.host + "s",
				strings.ReplaceAll(row.host, ".", "-") + ".example",
			} {
				if got := sourceType(host); got != Editorial {
					t.Errorf("%s is %s, want editorial", host, got)
				}
			}
		}
	}
}

// A row that another row or the rule of institutions covers already would stand there for nothing, unless it moves
// its host to another type.
func TestNoRowIsIdle(t *testing.T) {
	for host, rank := range listed {
		_, parent, _ := strings.Cut(host, ".")
		if sourceType(parent) == sourceOrder[rank] || sourceOrder[rank] == Institutional && isInstitutional(host) {
			t.Errorf("%s is %s without its row", host, sourceOrder[rank])
		}
	}
}

func TestSourceTypes(t *testing.T) {
	cases := []struct {
		kind  SourceType
		hosts string
	}{
		{Institutional, "nasa.gov cdc.gov mit.edu navy.mil who.int ox.ac.uk u-tokyo.ac.jp gov.uk hmrc.gov.uk " +
			"tsinghua.edu.cn unsw.edu.au gov.br planalto.gov.br army.mil.kr meti.go.jp gob.mx data.gouv.fr " +
			"ec.europa.eu xn--80ak6aa92e.gov"},
		{Editorial, "theverge.com gov edu government.com mygov.com gov.com edu.com ac.com example.government " +
			"gouv.com go.com gob.example.com notgov.uk x.notac.uk gov.example nytimes.com wikipedia.org " +
			"en.wikipedia.org"},
		{Forum, "old.reddit.com es.quora.com detail.chiebukuro.yahoo.co.jp zhuanlan.zhihu.com"},
		{Editorial, "yahoo.co.jp baidu.com naver.com mail.ru habr.com gamespot.com microsoft.com apple.com google.com"},
		{Social, "m.facebook.com de.linkedin.com x.com"},
		{Editorial, "netflix.com phoenix.com max.com fax.com fedex.com qq.com kakao.com last.fm.example.org"},
		{Review, "de.trustpilot.com g2.com imdb.com"},
		{Editorial, "mag2.com stg2.com contest.de"},
	}
	for _, c := range cases {
		for host := range strings.FieldsSeq(c.hosts) {
			if got := sourceType(host); got != c.kind {
				t.Errorf("%s is %s, want %s", host, got, c.kind)
			}
		}
	}
}

func TestListsAreOfTheTypesInOrder(t *testing.T) {
	want := []SourceType{"forum", "social", "review", "institutional", "editorial"}
	if !slices.Equal(sourceOrder, want) {
		t.Errorf("types are tried in order %v, want %v", sourceOrder, want)
	}
}
