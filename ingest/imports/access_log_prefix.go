package imports

import (
	"regexp"
	"slices"
	"strings"
)

var (
	colours  = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	priority = regexp.MustCompile(`^<\d{1,3}>`)
	clock    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`) // of RFC 3339
	tag      = regexp.MustCompile(`^[\w()./-]+(\[[\w.-]+\])?:$`)     // the program, perhaps with its process id
	revision = regexp.MustCompile(`^[1-9]\d?$`)                      // of RFC 5424, which has 1
	streams  = []string{"stdout", "stderr"}
)

// longestHeader is the number of words before the tag of a header of syslog: a long time, and a host.
const longestHeader = 8

// withoutPrefix drops what collectors of logs write before a line, one after the other: the name of a container and a
// bar (Docker Compose), a pod in brackets (kubectl), a time and perhaps a stream (Docker, CRI), and the header of
// syslog by RFC 5424, or by RFC 3164 as journalctl writes it too.
func withoutPrefix(words []string) []string {
	for len(words) > 0 {
		words[0] = strings.TrimPrefix(priority.ReplaceAllString(words[0], ""), "\ufeff")
		n := prefixWords(words)
		if n == 0 && words[0] != "" {
			break
		}
		words = words[max(n, 1):]
	}
	return words
}

// prefixWords counts the words of the prefix that words begin with; 0 if there is none.
func prefixWords(words []string) int {
	if bar := slices.Index(words, "|"); bar >= 0 {
		return bar + 1
	}
	if n := structuredWords(words); n > 0 {
		return n
	}
	// nginx writes unix: for the address of who comes by a socket.
	isTag := func(word string) bool { return tag.MatchString(word) && word != "unix:" }
	if n := slices.IndexFunc(words[:min(longestHeader, len(words))], isTag); n >= 0 {
		return n + 1
	}
	_, isAddress := parseAddress(words[0])
	isBracketed := strings.HasPrefix(words[0], "[") && strings.HasSuffix(words[0], "]")
	switch {
	case isBracketed && !isAddress, clock.MatchString(words[0]):
		return 1
	case len(words) > 1 && slices.Contains(streams, words[0]) && (words[1] == "F" || words[1] == "P"):
		return 2
	}
	return 0
}

// structuredWords counts the words of a header of RFC 5424: version, time, host, program, process, message, and data in
// brackets or a hyphen.
func structuredWords(words []string) int {
	const data = 6
	if len(words) <= data || !revision.MatchString(words[0]) || !clock.MatchString(words[1]) {
		return 0
	}
	if !strings.HasPrefix(words[data], "[") {
		return data + 1
	}
	for i, word := range words[data:] {
		if strings.HasSuffix(word, "]") && !strings.HasSuffix(word, `\]`) {
			return data + i + 1
		}
	}
	return 0
}
