package event

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/gofrs/uuid/v5"
)

// A scanner reads a visit's record as EncodeVisit writes it: the fields in their order and nothing between them, every
// text plain ASCII. It reads nothing else, and reads it as the library does (FuzzScanVisit): nearly all records on the
// log, at five times the library's rate.
type scanner struct {
	rest string
	bad  bool // something is not as expected: what was read is not used
}

var visitHead = fmt.Sprintf(`{"v":%d,"id":`, Version)

// scanVisit reports whether v was read from b; if not, the library has to. The texts of v are those of b.
func scanVisit(b []byte, v *Visit) bool {
	s := scanner{rest: unsafe.String(unsafe.SliceData(b), len(b))}
	s.visit(v)
	return !s.bad && len(s.rest) == 0
}

func (s *scanner) visit(v *Visit) {
	s.must(visitHead)
	v.V, v.ID = Version, s.uuid()
	s.must(`,"organization_id":`)
	v.OrganizationID = s.uuid()
	s.must(`,"brand_id":`)
	v.BrandID = s.uuid()
	s.must(`,"at":`)
	v.At = s.time()
	s.must(`,"event":"`)
	v.Event = VisitKind(s.text())
	s.must(`,"platform":"`)
	v.Platform = s.text()
	v.PlatformBy = s.optional(`,"platform_by":"`)
	s.must(`,"host":"`)
	v.Host = s.text()
	s.must(`,"path":"`)
	v.Path = s.text()
	v.ReferrerHost = s.optional(`,"referrer_host":"`)
	v.Country = s.optional(`,"country":"`)
	v.CountryBy = s.optional(`,"country_by":"`)
	v.Language = s.optional(`,"language":"`)
	v.Screen = s.optional(`,"screen":"`)
	v.TimeZone = s.optional(`,"time_zone":"`)
	v.Session = s.optional(`,"session":"`)
	v.NewSession = s.next(`,"new_session":true`)
	if s.next(`,"visitor":`) {
		v.Visitor = s.number()
	}
	v.Simulated = s.next(`,"simulated":true`)
	s.must(`}`)
}

// next skips a literal, if it is next.
func (s *scanner) next(literal string) (found bool) {
	s.rest, found = strings.CutPrefix(s.rest, literal)
	return found
}

func (s *scanner) must(literal string) {
	if !s.next(literal) {
		s.bad = true
	}
}

// text reads up to the closing quote.
func (s *scanner) text() (text string) {
	var ok bool
	if text, s.rest, ok = PlainText(s.rest); !ok {
		s.bad = true
	}
	return text
}

// PlainText cuts a JSON text off s, which begins behind the opening quote; rest begins behind the closing one. ok is
// false unless all of the text is printable ASCII without an escape.
func PlainText(s string) (text, rest string, ok bool) {
	n := 0
	for n < len(s) && plain[s[n]] {
		n++
	}
	if n == len(s) || s[n] != '"' {
		return "", "", false
	}
	return s[:n], s[n+1:], true
}

// plain are the bytes that need no escape in a text.
var plain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func (s *scanner) optional(name string) string {
	if !s.next(name) {
		return ""
	}
	return s.text()
}

// number reads digits.
func (s *scanner) number() (n uint64) {
	digits := 0
	for ; digits < len(s.rest) && s.rest[digits]-'0' < 10; digits++ {
		high, low := bits.Mul64(n, 10)
		sum, carry := bits.Add64(low, uint64(s.rest[digits]-'0'), 0)
		if high|carry != 0 {
			s.bad = true
		}
		n = sum
	}
	if digits == 0 || digits > 1 && s.rest[0] == '0' {
		s.bad = true
	}
	s.rest = s.rest[digits:]
	return n
}

// quoted reads a quoted text of n bytes; "" when there is none.
func (s *scanner) quoted(n int) string {
	if len(s.rest) < n+2 || s.rest[0] != '"' || s.rest[n+1] != '"' {
		s.bad = true
		return ""
	}
	text := s.rest[1 : n+1]
	s.rest = s.rest[n+2:]
	return text
}

// uuidDigits are where the bytes of an id are in its text.
var uuidDigits = [uuid.Size]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

func (s *scanner) uuid() (id uuid.UUID) {
	text := s.quoted(36)
	if text == "" || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		s.bad = true
		return uuid.Nil
	}
	for i, at := range uuidDigits {
		high, low := hexDigits[text[at]], hexDigits[text[at+1]]
		if high|low > 0xf {
			s.bad = true
		}
		id[i] = high<<4 | low
	}
	return id
}

// hexDigits are the values of lower-case digits, 0xff what is none.
var hexDigits = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, digit := range []byte("0123456789abcdef") {
		values[digit] = byte(i)
	}
	return values
}()

// time reads timeLayout.
func (s *scanner) time() Time {
	text := s.quoted(len(timeLayout))
	if text == "" || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != '.' || text[23] != 'Z' {
		s.bad = true
		return Time{}
	}
	year, month, day := s.digits(text[:4]), s.digits(text[5:7]), s.digits(text[8:10])
	hour, minute, second, ms := s.digits(text[11:13]), s.digits(text[14:16]), s.digits(text[17:19]), s.digits(text[20:23])
	t := time.Date(year, time.Month(month), day, hour, minute, second, ms*int(time.Millisecond), time.UTC)
	if month == 0 || month > 12 || hour > 23 || minute > 59 || second > 59 || t.Day() != day {
		s.bad = true
	}
	return Time{t}
}

func (s *scanner) digits(text string) (n int) {
	for _, c := range []byte(text) {
		if c-'0' > 9 {
			s.bad = true
		}
		n = n*10 + int(c-'0')
	}
	return n
}
