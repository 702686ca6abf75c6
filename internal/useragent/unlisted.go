package useragent

import (
	"regexp"
	"slices"
	"strings"
)

// Unlisted returns the name of a bot that is neither an AI crawler of the table nor on the list of bots, as a new
// crawler of a platform is; not ok for others, and for browsers.
func Unlisted(ua string) (name string, ok bool) {
	if strings.HasPrefix(ua, "Mozilla/5.0 (") && !slices.ContainsFunc(unlike, func(text string) bool {
		return strings.Contains(ua, text)
	}) {
		return "", false
	}
	crawler, bot, listed := patterns().look(ua)
	if crawler != nil || listed {
		return "", false
	}
	about, _, _ := strings.Cut(ua, "http") // an address of the operator's
	names := slices.DeleteFunc(product.FindAllString(about, -1), func(text string) bool {
		return strings.Contains(ordinary, strings.ToLower(text))
	})
	if i := slices.IndexFunc(names, telling.MatchString); i >= 0 {
		return bounded(names[i]), true
	}
	if bot && len(names) > 0 {
		return bounded(names[0]), true
	}
	return "", false
}

// unlike are texts of which every agent of a bot that calls itself Mozilla has one, and hardly any browser's.
var unlike = []string{"compatible", "+http", "bot/", "Bot/", "GPT", "Claude", "rawler", "pider"}

var (
	product = regexp.MustCompile(`[A-Za-z][\w-]*`)
	telling = regexp.MustCompile(`(?i)bot$|bot-|crawl|spider|(^|-)ai(-|$)|` +
		`gpt|claude|gemini|openai|anthropic|perplexity|mistral`)
)

func bounded(name string) string { return name[:min(len(name), 64)] }
