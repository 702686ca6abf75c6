package useragent

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed patterns.json
var patternsJSON []byte

// A published list is the file patterns.json.
type published struct {
	Package  string   `json:"package"`
	Version  string   `json:"version"`
	Licence  []string `json:"licence"` // its lines, which copies must carry
	Patterns []string `json:"patterns"`
}

// human are patterns of the list that browsers of people carry as well.
var human = map[string]bool{
	"MetaIAB Facebook":  true, // the browser inside Facebook's app for Android
	`AP3A\.240617\.008`: true, // a build of Android 15, on telephones of several makers
}

// hints give away programs that drive a browser, beside the list, and what wears a browser's name and says where to read
// about it, as a bot should and a browser never does.
var hints = []string{
	"Headless", "PhantomJS", "SlimerJS", "HtmlUnit", "jsdom/", "Selenium", "WebDriver", "webdriver", "Puppeteer", "puppeteer", "Playwright", "playwright",
	"Cypress/", "+http://", "+https://",
}

// patterns are all that an agent is compared with: made once, and only where somebody asks.
var patterns = sync.OnceValue(makePatterns)

func makePatterns() *grams {
	var list published
	if err := json.Unmarshal(patternsJSON, &list); err != nil {
		panic(fmt.Errorf("read patterns.json: %w", err))
	}
	g := newGrams()
	for i := range crawlers {
		g.add(mark{text: strings.ToLower(crawlers[i].Name), crawler: &crawlers[i]})
		for spelling, name := range spellings {
			if name == crawlers[i].Name {
				g.add(mark{text: strings.ToLower(spelling), crawler: &crawlers[i]})
			}
		}
	}
	confirms := 0
	for _, pattern := range list.Patterns {
		if human[pattern] {
			continue
		}
		texts, all, err := literals(pattern)
		if err != nil {
			panic(fmt.Errorf("read pattern %q: %w", pattern, err))
		}
		var confirm *regexp.Regexp
		if !all {
			confirm = regexp.MustCompile(pattern)
			confirms++
		}
		for _, text := range texts {
			g.add(mark{text: text, name: nameOf(text), confirm: confirm, number: confirms})
		}
	}
	if confirms > 63 {
		panic(fmt.Sprintf("read patterns.json: %d patterns have to confirm, more than have a number", confirms))
	}
	for _, hint := range hints {
		g.add(mark{text: hint, name: nameOf(hint)})
	}
	return g
}

// nameOf makes a bot's name of the text that gives it away.
func nameOf(text string) string {
	return strings.Trim(text, " /();:+")
}
