package collector

import (
	"strings"
	"unicode/utf8"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
)

// page is what a beacon's URL says.
type page struct {
	host  string // as a domain is kept
	path  string // as written, begins with /
	query string // as written, without its question mark
}

func pageOf(url string) (page, bool) {
	host, rest, ok := site.PageHost(url)
	if !ok {
		return page{}, false
	}
	for i := range len(rest) {
		if rest[i] < ' ' || rest[i] == 0x7f {
			return page{}, false
		}
	}
	rest, _, _ = strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	if path == "" {
		path = "/"
	}
	return page{host, shortened(path), query}, true
}

// shortened cuts a path that is longer than the log takes, between two characters.
func shortened(path string) string {
	if len(path) <= event.MaxTitle {
		return path
	}
	end := event.MaxTitle
	for !utf8.RuneStart(path[end]) {
		end--
	}
	return path[:end]
}

// hostOf is the host of a referrer; "" if it has none that can be kept.
func hostOf(referrer string) string {
	host, _, _ := site.PageHost(referrer)
	return host
}
