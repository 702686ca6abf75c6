package useragent

import (
	"regexp"
	"strings"
)

// A mark is a text that only agents of bots have.
type mark struct {
	text       string         // as the agent has it; of a crawler in lower case, matched in any
	at         int            // where in text its key is
	expression *regexp.Regexp // has to match the whole agent too, unless nil
	number     int            // of expression
	crawler    *Crawler       // which is named so: no letter, digit or underscore may touch it
	isHint     bool           // the text is of no bot of the list
}

// keyBytes is the length of a key, and the shortest text of a mark.
const keyBytes = 3

// matcher finds marks in one pass over an agent. Each mark is filed under three bytes of its text, in lower case, that
// browsers' agents rarely have; a set of the keys' hashes keeps most positions of an agent from a look into the map.
// All patterns as one regular expression took ten thousand times as long (7 ms for a browser's agent).
type matcher struct {
	hashes      [1 << 16 / 64]uint64
	marks       map[uint32][]mark
	expressions int // below 64
}

func newMatcher() *matcher {
	return &matcher{marks: map[uint32][]mark{}}
}

// ordinary has the texts of browsers' agents: its bytes are no good keys.
const ordinary = "mozilla/5.0 (compatible; windows nt 10.0; win64; x64; macintosh; intel mac os x 10_15_7; iphone; " +
	"cpu iphone os 18_5 like mac os x; ipad; linux; android 10; k; sm- build/; wv; x11; ubuntu; x86_64; cros; u; " +
	"en-us; rv:145.0) applewebkit/537.36 (khtml, like gecko) chrome/142.0.0.0 mobile/15e148 safari/605.1.15 " +
	"version/18.5 gecko/20100101 firefox/145.0 edg/142.0.0.0 crios/ fxios/ opr/ samsungbrowser/29.0 gsa/ " +
	"trident/7.0 yabrowser/ http://www. https://www. .com/ .html bot/"

// add files a mark under the key of its text that has the fewest marks so far.
func (m *matcher) add(added mark) {
	text, fewest := strings.ToLower(added.text), -1
	for at := range len(text) - keyBytes + 1 {
		others := len(m.marks[keyOf(text[at:])])
		if !strings.Contains(ordinary, text[at:at+keyBytes]) && (fewest < 0 || others < fewest) {
			added.at, fewest = at, others
		}
	}
	key := keyOf(text[added.at:])
	m.marks[key] = append(m.marks[key], added)
	hash := hashOf(key)
	m.hashes[hash/64] |= 1 << (hash % 64)
}

// addExpression adds the texts of which every agent that the expression matches has one.
func (m *matcher) addExpression(expression *regexp.Regexp, texts []string) {
	if m.expressions == 64 {
		panic("read patterns.json: more than 64 expressions")
	}
	for _, text := range texts {
		m.add(mark{text: text, expression: expression, number: m.expressions})
	}
	m.expressions++
}

// look returns the AI crawler that an agent names, the longest name of several, and whether it has the mark of another
// bot, and of one of the list.
func (m *matcher) look(ua string) (crawler *Crawler, bot, listed bool) {
	key, length, evaluated := uint32(0), 0, uint64(0)
	for i := range len(ua) {
		key = (key<<8 | uint32(lower(ua[i]))) & 0xffffff
		if hash := hashOf(key); m.hashes[hash/64]&(1<<(hash%64)) == 0 || i < keyBytes-1 {
			continue
		}
		marks := m.marks[key]
		for n := range marks {
			mark := &marks[n]
			start := i - (keyBytes - 1) - mark.at
			switch {
			case start < 0:
			case mark.crawler != nil:
				if len(mark.text) > length && mark.isWordAt(ua, start) {
					crawler, length = mark.crawler, len(mark.text)
				}
			case listed || !strings.HasPrefix(ua[start:], mark.text):
			case mark.isHint:
				bot = true
			case mark.expression == nil:
				listed = true
			case evaluated&(1<<mark.number) == 0: // once, however often its text is in an agent
				evaluated |= 1 << mark.number
				listed = mark.expression.MatchString(ua)
			}
		}
	}
	return crawler, bot || listed, listed
}

// isWordAt reports whether a crawler's name is a whole word at start.
func (m *mark) isWordAt(ua string, start int) bool {
	end := start + len(m.text)
	return end <= len(ua) && strings.EqualFold(ua[start:end], m.text) &&
		(start == 0 || !isWordByte(ua[start-1])) && (end == len(ua) || !isWordByte(ua[end]))
}

// keyOf is the key of the first three bytes of text.
func keyOf(text string) uint32 {
	return uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}

// hashOf spreads keys over the bits of hashes (Fibonacci hashing, Knuth, TAOCP 3, 6.4).
func hashOf(key uint32) uint32 {
	return key * 2654435769 >> 16
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// isWordByte reports whether c next to a name makes another word of it.
func isWordByte(c byte) bool {
	return 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
