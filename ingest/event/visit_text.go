package event

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/gofrs/uuid/v5"
)

// Nearly all visits are read and written by the functions of this file: the fields in their order and nothing between
// them, every text plain ASCII, no goal. They agree with the library (FuzzScanVisit, FuzzPrintVisit), scan in a fifth
// of its time and print in half of it.

// visitHead begins a record, up to the id.
var visitHead = fmt.Sprintf(`{"v":%d,"id":`, Version)

// visitText is a text field of a visit. Its name ends with the opening quote of the text.
type visitText struct {
	name     string
	optional bool // left out when empty
	offset   uintptr
}

// visitTexts lists the text fields, which follow each other in a record.
var visitTexts = [...]visitText{
	{`,"event":"`, false, unsafe.Offsetof(Visit{}.Event)},
	{`,"platform":"`, false, unsafe.Offsetof(Visit{}.Platform)},
	{`,"platform_by":"`, true, unsafe.Offsetof(Visit{}.PlatformBy)},
	{`,"host":"`, false, unsafe.Offsetof(Visit{}.Host)},
	{`,"path":"`, false, unsafe.Offsetof(Visit{}.Path)},
	{`,"referrer_host":"`, true, unsafe.Offsetof(Visit{}.ReferrerHost)},
	{`,"country":"`, true, unsafe.Offsetof(Visit{}.Country)},
	{`,"country_by":"`, true, unsafe.Offsetof(Visit{}.CountryBy)},
	{`,"language":"`, true, unsafe.Offsetof(Visit{}.Language)},
	{`,"screen":"`, true, unsafe.Offsetof(Visit{}.Screen)},
	{`,"time_zone":"`, true, unsafe.Offsetof(Visit{}.TimeZone)},
	{`,"session":"`, true, unsafe.Offsetof(Visit{}.Session)},
}

func (f *visitText) in(v *Visit) *string { return (*string)(unsafe.Add(unsafe.Pointer(v), f.offset)) }

// printVisit reports whether it appended the record of v to dst; if not, the library has to.
func printVisit(dst []byte, v *Visit) ([]byte, bool) {
	if v.Goal != nil {
		return dst, false
	}
	b := appendUUID(append(dst, visitHead...), &v.ID)
	b = appendUUID(append(b, `,"organization_id":`...), &v.OrganizationID)
	b = appendUUID(append(b, `,"brand_id":`...), &v.BrandID)
	b = v.At.append(append(b, `,"at":`...))
	for i := range visitTexts {
		f := &visitTexts[i]
		text := *f.in(v)
		if text == "" && f.optional {
			continue
		}
		if !isPlain(text) {
			return dst, false
		}
		b = append(append(append(b, f.name...), text...), '"')
	}
	if v.NewSession {
		b = append(b, `,"new_session":true`...)
	}
	if v.Visitor != 0 {
		b = strconv.AppendUint(append(b, `,"visitor":`...), v.Visitor, 10)
	}
	if v.Simulated {
		b = append(b, `,"simulated":true`...)
	}
	b = append(b, '}')
	if len(b)-len(dst) > MaxValueBytes {
		return dst, false
	}
	return b, true
}

func isPlain(text string) bool {
	for i := range len(text) {
		if !plain[text[i]] {
			return false
		}
	}
	return true
}

func appendUUID(b []byte, id *uuid.UUID) []byte {
	at := len(b)
	b = append(b, `"00000000-0000-0000-0000-000000000000"`...)
	text := b[at+1:]
	hex.Encode(text, id[:4])
	hex.Encode(text[9:], id[4:6])
	hex.Encode(text[14:], id[6:8])
	hex.Encode(text[19:], id[8:10])
	hex.Encode(text[24:], id[10:])
	return b
}

// scanVisit reports whether it read v from b; if not, the library has to. The texts of v are parts of b.
func scanVisit(b []byte, v *Visit) bool {
	s := scanner{rest: unsafe.String(unsafe.SliceData(b), len(b))}
	s.must(visitHead)
	v.V, v.ID = Version, s.uuid()
	s.must(`,"organization_id":`)
	v.OrganizationID = s.uuid()
	s.must(`,"brand_id":`)
	v.BrandID = s.uuid()
	s.must(`,"at":`)
	v.At = s.time()
	for i := range visitTexts {
		f := &visitTexts[i]
		if s.next(f.name) {
			*f.in(v) = s.text()
		} else if !f.optional {
			return false
		}
	}
	v.NewSession = s.next(`,"new_session":true`)
	if s.next(`,"visitor":`) {
		v.Visitor = s.number()
	}
	v.Simulated = s.next(`,"simulated":true`)
	s.must(`}`)
	return !s.bad && len(s.rest) == 0
}

// scanner reads a text from its beginning.
type scanner struct {
	rest string
	bad  bool // the text is not as expected
}

// next skips a literal if the text goes on with it.
func (s *scanner) next(literal string) (ok bool) {
	s.rest, ok = strings.CutPrefix(s.rest, literal)
	return ok
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

// plain is true of the bytes that need no escape in a text.
var plain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// number reads digits.
func (s *scanner) number() (n uint64) {
	count := 0
	for ; count < len(s.rest) && s.rest[count]-'0' < 10; count++ {
		high, low := bits.Mul64(n, 10)
		sum, carry := bits.Add64(low, uint64(s.rest[count]-'0'), 0)
		if high|carry != 0 {
			s.bad = true
		}
		n = sum
	}
	if count == 0 || count > 1 && s.rest[0] == '0' {
		s.bad = true
	}
	s.rest = s.rest[count:]
	return n
}

// quoted reads a quoted text of n bytes; "" when the text does not go on with one.
func (s *scanner) quoted(n int) string {
	if len(s.rest) < n+2 || s.rest[0] != '"' || s.rest[n+1] != '"' {
		s.bad = true
		return ""
	}
	text := s.rest[1 : n+1]
	s.rest = s.rest[n+2:]
	return text
}

// uuidDigits has the places of an id's bytes in its text.
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

// hexDigits has the values of lower-case digits, and 0xff for every other byte.
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
	if text == "" || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
		text[19] != '.' || text[23] != 'Z' {
		s.bad = true
		return Time{}
	}
	year, month, day := s.digits(text[:4]), s.digits(text[5:7]), s.digits(text[8:10])
	hour, minute, second := s.digits(text[11:13]), s.digits(text[14:16]), s.digits(text[17:19])
	ns := s.digits(text[20:23]) * int(time.Millisecond)
	t := time.Date(year, time.Month(month), day, hour, minute, second, ns, time.UTC)
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
