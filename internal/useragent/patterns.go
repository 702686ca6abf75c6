package useragent

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

//go:embed patterns.json
var patternsJSON []byte

// published is the file patterns.json.
type published struct {
	Package  string   `json:"package"`
	Version  string   `json:"version"`
	Licence  []string `json:"licence"` // its lines, which copies must carry
	Patterns []string `json:"patterns"`
}

// human are patterns of the list that browsers of people match as well.
var human = map[string]bool{
	"MetaIAB Facebook":  true, // the browser inside Facebook's app for Android
	`AP3A\.240617\.008`: true, // a build of Android 15, on telephones of several makers
}

// hints are texts of programs that drive a browser, beside the list, and the start of an address in the agent, which
// bots should and browsers never have.
var hints = []string{
	"Headless", "PhantomJS", "SlimerJS", "HtmlUnit", "jsdom/", "Selenium", "WebDriver", "webdriver", "Puppeteer",
	"puppeteer",
	"Playwright", "playwright", "Cypress/", "+http://", "+https://",
}

//go:embed expressions.tsv
var expressionsFile string

// expressions are the patterns of the list that are more than a text, each with texts of which every agent that it
// matches has one: the expression itself is asked only of agents with such a text.
var expressions = func() map[string][]string {
	all := map[string][]string{}
	for row := range rows(expressionsFile) {
		all[row[0]] = row[1:]
	}
	return all
}()

// rows are the lines of a file between tabs, without comments, which begin with #.
func rows(file string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(file) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" && line[0] != '#' && !yield(strings.Split(line, "\t")) {
				return
			}
		}
	}
}

// patterns are read once, and only where an agent is looked up.
var patterns = sync.OnceValue(readPatterns)

func readPatterns() *matcher {
	var list published
	if err := json.Unmarshal(patternsJSON, &list); err != nil {
		panic(fmt.Errorf("read patterns.json: %w", err))
	}
	m := newMatcher()
	for i := range crawlers {
		m.add(mark{text: strings.ToLower(crawlers[i].Name), crawler: &crawlers[i]})
		for spelling, name := range spellings {
			if name == crawlers[i].Name {
				m.add(mark{text: strings.ToLower(spelling), crawler: &crawlers[i]})
			}
		}
	}
	for _, pattern := range list.Patterns {
		if human[pattern] {
			continue
		}
		if texts, ok := expressions[pattern]; ok {
			m.addExpression(regexp.MustCompile(pattern), texts)
			continue
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil || tree.Op != syntax.OpLiteral || tree.Flags&syntax.FoldCase != 0 {
			panic(fmt.Sprintf("read patterns.json: %q is more than a text: give it a row in expressions (%v)", pattern,
				err))
		}
		m.add(mark{text: string(tree.Rune)})
	}
	for _, hint := range hints {
		m.add(mark{text: hint, isHint: true})
	}
	return m
}
