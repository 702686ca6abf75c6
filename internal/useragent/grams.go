package useragent

import (
	"regexp"
	"strings"
)

// A mark is a text that gives a bot away.
type mark struct {
	text    string         // as it stands; of a crawler in lower case, matched in any
	at      int            // where in text its key stands
	name    string         // of the bot, unless it is a crawler
	confirm *regexp.Regexp // has the last word on the whole agent, unless nil
	number  int            // of confirm, below 64
	crawler *Crawler       // whose name it is: nothing may touch it
}

// grams finds marks in one pass over an agent. Each mark is filed under three of its bytes, in lower case, chosen so that
// agents of browsers rarely have them; a bit for each key in use, by its hash, lets nearly every place of an agent pass
// without a look into the map. With all patterns as one regular expression a browser's agent took ten thousand times as
// long (7 ms).
type grams struct {
	used  [1 << 16 / 64]uint64
	marks map[uint32][]mark
}

func newGrams() *grams {
	return &grams{marks: map[uint32][]mark{}}
}

// ordinary is what agents of browsers are made of: keys out of it would be found in all of them.
const ordinary = "mozilla/5.0 (compatible; windows nt 10.0; win64; x64; macintosh; intel mac os x 10_15_7; iphone; cpu iphone os 18_5 like mac os x; ipad; " +
	"linux; android 10; k; sm- build/; wv; x11; ubuntu; x86_64; cros; u; en-us; rv:145.0) applewebkit/537.36 (khtml, like gecko) chrome/142.0.0.0 mobile/15e148 " +
	"safari/605.1.15 version/18.5 gecko/20100101 firefox/145.0 edg/142.0.0.0 crios/ fxios/ opr/ samsungbrowser/29.0 gsa/ trident/7.0 yabrowser/ http://www. https://www. .com/ .html bot/"

// add files a mark, whose text has at least three bytes, where the fewest are so far.
func (g *grams) add(m mark) {
	lower, least := strings.ToLower(m.text), -1
	for at := range len(lower) - gram + 1 {
		others := len(g.marks[keyOf(lower[at:])])
		if !strings.Contains(ordinary, lower[at:at+gram]) && (least < 0 || others < least) {
			m.at, least = at, others
		}
	}
	key := keyOf(lower[m.at:])
	g.marks[key] = append(g.marks[key], m)
	hash := hashOf(key)
	g.used[hash/64] |= 1 << (hash % 64)
}

// look returns the AI crawler that an agent names, the longest name of several, and the name of any bot in it.
func (g *grams) look(ua string) (crawler *Crawler, bot string) {
	key, length, asked := uint32(0), 0, uint64(0)
	for i := range len(ua) {
		key = (key<<8 | uint32(lower(ua[i]))) & 0xffffff
		if hash := hashOf(key); g.used[hash/64]&(1<<(hash%64)) == 0 || i < gram-1 {
			continue
		}
		marks := g.marks[key]
		for n := range marks {
			m := &marks[n]
			start := i - (gram - 1) - m.at
			switch {
			case start < 0:
			case m.crawler != nil:
				if len(m.text) > length && m.named(ua, start) {
					crawler, length = m.crawler, len(m.text)
				}
			case bot != "" || !strings.HasPrefix(ua[start:], m.text):
			case m.confirm == nil:
				bot = m.name
			case asked&(1<<m.number) == 0: // once, however often its text is in a stranger's agent
				if asked |= 1 << m.number; m.confirm.MatchString(ua) {
					bot = m.name
				}
			}
		}
	}
	return crawler, bot
}

// named tells whether a crawler's name stands at start, by itself.
func (m *mark) named(ua string, start int) bool {
	end := start + len(m.text)
	return end <= len(ua) && strings.EqualFold(ua[start:end], m.text) &&
		(start == 0 || !wordly(ua[start-1])) && (end == len(ua) || !wordly(ua[end]))
}

// keyOf makes a key of the first three bytes of text.
func keyOf(text string) uint32 {
	return uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}

// hashOf spreads keys over the bits of used (Fibonacci hashing, Knuth, TAOCP 3, 6.4).
func hashOf(key uint32) uint32 {
	return key * 2654435769 >> 16
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// wordly tells the bytes that would make another word of a name that they touch.
func wordly(c byte) bool {
	return 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
