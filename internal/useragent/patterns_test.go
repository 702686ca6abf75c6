package useragent

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write patterns.json from the pinned package")

const home = "node_modules/crawler-user-agents/"

// An entry is what the package says of one bot.
type entry struct {
	Pattern   string   `json:"pattern"`
	Instances []string `json:"instances"`
	Tags      []string `json:"tags"`
}

func TestPatternsAreThoseOfThePinnedPackage(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Version string } `json:"packages"`
	}
	read(t, "package-lock.json", &lock)
	var fetched struct{ Name, Version string }
	read(t, home+"package.json", &fetched)
	pinned := lock.Packages["node_modules/"+fetched.Name].Version
	if pinned == "" || fetched.Version != pinned {
		t.Fatalf("%s is %s and not %s: run make agents", fetched.Name, fetched.Version, pinned)
	}
	licence, err := os.ReadFile(home + "LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	want := published{
		Package: fetched.Name, Version: pinned, Licence: strings.Split(strings.TrimSpace(string(licence)), "\n"),
	}
	for _, e := range entries(t) {
		want.Patterns = append(want.Patterns, e.Pattern)
	}
	if *update {
		write(t, want)
		return
	}
	var got published
	if err := json.Unmarshal(patternsJSON, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("patterns.json is not what %s %s makes: go test ./internal/useragent -update", want.Package,
			want.Version)
	}
}

// Every agent that the package gives as an example is a bot, but for those that people's browsers are like.
func TestEveryExampleIsABot(t *testing.T) {
	instances := 0
	for _, e := range entries(t) {
		for _, ua := range e.Instances {
			instances++
			if agent := Look(ua); agent.Bot == human[e.Pattern] {
				t.Errorf("%q, of %s, is %+v", ua, e.Pattern, agent)
			}
		}
	}
	if instances < 2000 {
		t.Errorf("%d agents in the package: its shape has changed", instances)
	}
	for pattern := range human {
		if !slices.ContainsFunc(entries(t), func(e entry) bool { return e.Pattern == pattern }) {
			t.Errorf("%s is left out, and is not in the package", pattern)
		}
	}
}

// FuzzLook compares the one pass with every pattern by itself, on agents that no example has.
func FuzzLook(f *testing.F) {
	slow := naiveBots(f)
	for _, e := range entries(f) {
		if regexp.QuoteMeta(e.Pattern) != e.Pattern && !slices.Contains(e.Tags, "seo") && len(e.Instances) > 0 {
			f.Add(e.Instances[0])
		}
	}
	for _, ua := range browsers {
		f.Add(ua)
	}
	for _, crawler := range crawlers {
		f.Add("(" + crawler.Name + "/1.0;")
	}
	f.Add("bo\xff\x00t" + strings.Repeat("Googlebot", 500))
	f.Fuzz(func(t *testing.T, ua string) {
		if agent := Look(ua); agent.Bot != slow(ua) {
			t.Errorf("%q is %+v, by its patterns a bot: %t", ua, agent, slow(ua))
		}
	})
}

// naiveBots asks every pattern, every hint and every crawler's name, one after the other.
func naiveBots(t testing.TB) func(ua string) bool {
	t.Helper()
	var all []*regexp.Regexp
	for _, e := range entries(t) {
		if !human[e.Pattern] {
			all = append(all, regexp.MustCompile(e.Pattern))
		}
	}
	for _, hint := range hints {
		all = append(all, regexp.MustCompile(regexp.QuoteMeta(hint)))
	}
	const edge = `[^0-9A-Za-z_\x{80}-\x{10ffff}]`
	add := func(name string) {
		all = append(all, regexp.MustCompile(`(?i:(?:^|`+edge+`)`+regexp.QuoteMeta(name)+`(?:$|`+edge+`))`))
	}
	for _, crawler := range crawlers {
		add(crawler.Name)
	}
	for spelling := range spellings {
		add(spelling)
	}
	return func(ua string) bool {
		return slices.ContainsFunc(all, func(pattern *regexp.Regexp) bool { return pattern.MatchString(ua) })
	}
}

// Each row of expressions is of a pattern in the package, and every example of that pattern has one of the row's texts.
func TestExpressionsOfThePackage(t *testing.T) {
	examples := map[string][]string{}
	for _, e := range entries(t) {
		examples[e.Pattern] = append(e.Instances, e.Pattern)
	}
	for pattern, texts := range expressions {
		list, known := examples[pattern]
		if !known {
			t.Errorf("%s is no pattern of the package", pattern)
		}
		expression := regexp.MustCompile(pattern)
		for _, ua := range list {
			if expression.MatchString(ua) && !slices.ContainsFunc(texts, func(text string) bool {
				return strings.Contains(ua, text)
			}) {
				t.Errorf("%q, of %s, has none of %q", ua, pattern, texts)
			}
		}
	}
}

func entries(t testing.TB) []entry {
	t.Helper()
	var all []entry
	read(t, home+"crawler-user-agents.json", &all)
	return all
}

func read(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make agents", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
}

func write(t *testing.T, list published) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(list); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("patterns.json", text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
