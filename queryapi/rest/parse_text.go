package rest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A scanner reads one parameter of a request and explains what it could not read in the words of PostgREST, whose
// parsers are written with the library Parsec: where the text went wrong, what stands there, and everything that could
// stand there instead. So it follows Parsec's rules: an alternative that has read nothing may be followed by another
// one, and the expectations of all alternatives at the farthest position are reported together.
//
// A step returns false when it cannot read. Then pos is behind what it has read all the same, which forbids other
// alternatives, unless it ran inside of try.
type scanner struct {
	text  string
	pos   int  // in bytes
	quiet bool // nothing is explained
	err   mismatch
}

// A mismatch is what was found and what was expected at one place; the zero mismatch says nothing.
type mismatch struct {
	at       int
	messages []message
}

type message struct {
	kind kind
	text string
}

type kind int

// The kinds of a message, in the order in which they are reported.
const (
	found      kind = iota // what stands there; "" is the end of the input
	unexpected             // the same, said by a parser that knows better
	expected
	plainly
)

func (m mismatch) merge(other mismatch) mismatch {
	switch {
	case len(other.messages) == 0 && len(m.messages) > 0, len(m.messages) > 0 && m.at > other.at:
		return m
	case len(m.messages) == 0, m.at < other.at:
		return other
	}
	both := mismatch{m.at, slices.Clip(m.messages)}
	for _, said := range other.messages {
		if !slices.Contains(both.messages, said) {
			both.messages = append(both.messages, said)
		}
	}
	return both
}

// expecting replaces all expectations by one.
func (m mismatch) expecting(what string) mismatch {
	rest := slices.DeleteFunc(slices.Clone(m.messages), func(m message) bool { return m.kind == expected })
	return mismatch{m.at, append([]message{{expected, what}}, rest...)}
}

// peek is the next character, and its size; 0, 0 at the end.
func (s *scanner) peek() (rune, int) {
	if s.pos >= len(s.text) {
		return 0, 0
	}
	return utf8.DecodeRuneInString(s.text[s.pos:])
}

// next reads a character that is wanted.
func (s *scanner) next(wanted func(rune) bool) bool {
	r, size := s.peek()
	if size == 0 || !wanted(r) {
		return false
	}
	s.pos += size
	s.err = mismatch{}
	return true
}

// miss says what was expected here; "" is nothing in particular.
func (s *scanner) miss(label string) bool { //nolint:unparam // false is what a step returns then
	if s.quiet {
		return false
	}
	missed := mismatch{s.pos, []message{{found, s.standing()}}}
	if label != "" {
		missed = missed.expecting(label)
	}
	s.err = s.err.merge(missed)
	return false
}

// A step reads something. Steps are made of other steps, as the grammar is.
type step func() bool

// read reads a text, and explains what it cannot read; what says what it is: filter (eq.1).
func (s *scanner) read(text, what string, read step) *Error {
	s.text, s.quiet = text, true
	if read() {
		return nil
	}
	s.pos, s.quiet = 0, false // explanations cost more than reading
	read()
	return s.refusal(what)
}

func (s *scanner) char(c rune) step { return s.called("", c) }

// called reads a character that messages call by a name.
func (s *scanner) called(name string, c rune) step {
	return func() bool {
		if s.next(func(r rune) bool { return r == c }) {
			return true
		}
		return !s.quiet && s.miss(cmp.Or(name, show(c, '"')))
	}
}

// noneOf reads as many characters as are not among the given ones.
func (s *scanner) noneOf(chars string, into *string) step {
	return s.kept(s.many(func() bool {
		return s.next(func(r rune) bool { return !strings.ContainsRune(chars, r) }) || s.miss("")
	}), into)
}

// kept keeps what a step reads.
func (s *scanner) kept(read step, into *string) step {
	return func() bool {
		from := s.pos
		ok := read()
		*into = s.text[from:s.pos]
		return ok
	}
}

// word reads exactly text. A word that only begins has been read up to there.
func (s *scanner) word(text string) step {
	return func() bool {
		from := s.pos
		for _, want := range text {
			r, size := s.peek()
			if size > 0 && r == want {
				s.pos += size
				continue
			}
			if s.quiet {
				return false
			}
			missed := mismatch{from, []message{{expected, `"` + text + `"`}, {found, s.standing()}}}
			if s.pos > from {
				s.err = missed
			} else {
				s.err = s.err.merge(missed)
			}
			return false
		}
		s.err = mismatch{}
		return true
	}
}

// standing is the next character as messages show it; "" at the end.
func (s *scanner) standing() string {
	r, size := s.peek()
	if size == 0 {
		return ""
	}
	return show(r, '"')
}

// end is whether the text ends.
func (s *scanner) end() bool {
	r, size := s.peek()
	if size > 0 && !s.quiet {
		s.err = s.err.merge(mismatch{s.pos, []message{{unexpected, show(r, '\'')}, {expected, "end of input"}}})
	}
	return size == 0
}

// fail refuses what stands here in plain words.
func (s *scanner) fail(text string) bool {
	s.err = s.err.merge(mismatch{s.pos, []message{{plainly, text}}})
	return false
}

// then does something behind a step that was read.
func then(read step, do func()) step {
	return func() bool {
		ok := read()
		if ok {
			do()
		}
		return ok
	}
}

// all reads one step after the other.
func all(steps ...step) step {
	return func() bool {
		for _, read := range steps {
			if !read() {
				return false
			}
		}
		return true
	}
}

// late is a step that is made when it is read: most alternatives are not.
func late(made func() step) step {
	return func() bool { return made()() }
}

// either reads the first alternative that can be read.
func (s *scanner) either(alternatives ...step) step {
	return func() bool {
		from := s.pos
		for _, read := range alternatives {
			if read() {
				return true
			}
			if s.pos != from {
				return false
			}
		}
		return false
	}
}

// try reads nothing when it cannot read everything.
func (s *scanner) try(steps ...step) step {
	read := all(steps...)
	return func() bool {
		from, before := s.pos, s.err
		if read() {
			return true
		}
		s.pos, s.err = from, before.merge(s.err)
		return false
	}
}

// maybe reads something that may be missing; what only begins is not there.
func (s *scanner) maybe(steps ...step) step {
	read := s.try(steps...)
	return func() bool { read(); return true }
}

// option reads something that may be missing; what only begins is wrong.
func (s *scanner) option(steps ...step) step {
	read := all(steps...)
	return func() bool {
		from := s.pos
		return read() || s.pos == from
	}
}

// ahead is whether something follows; it reads nothing.
func (s *scanner) ahead(steps ...step) step {
	read := s.try(steps...)
	return func() bool {
		from, before := s.pos, s.err
		ok := read()
		if ok {
			s.pos, s.err = from, before
		}
		return ok
	}
}

// not is whether a character does not follow. That it could have is reported all the same.
func (s *scanner) not(c rune) step {
	read := s.char(c)
	return func() bool {
		from := s.pos
		if !read() {
			return true
		}
		if !s.quiet {
			s.err = mismatch{s.pos, []message{{unexpected, show(c, '\'')}}}
		}
		s.pos = from
		return false
	}
}

// label names what is expected where a step cannot begin.
func (s *scanner) label(what string, read step) step {
	return func() bool {
		from, before := s.pos, s.err
		s.err = mismatch{}
		ok := read()
		if s.pos != from || s.quiet {
			return ok
		}
		if !ok || len(s.err.messages) > 0 {
			s.err = s.err.expecting(what)
		}
		s.err = before.merge(s.err)
		return ok
	}
}

// many reads something as often as it is there.
func (s *scanner) many(steps ...step) step {
	read := all(steps...)
	return func() bool {
		for {
			from := s.pos
			if !read() {
				return s.pos == from
			}
			s.err = mismatch{}
		}
	}
}

// list reads one item or more, with separators between them.
func (s *scanner) list(separator, item step) step { return all(item, s.many(separator, item)) }

func (s *scanner) spaces() bool {
	return s.many(func() bool {
		return s.next(func(r rune) bool { return r == ' ' || r == '\t' }) || s.miss("")
	})()
}

// padded reads a character with spaces around it.
func (s *scanner) padded(c rune) step { return all(s.spaces, s.char(c), s.spaces) }

// anyWord reads one of words.
func (s *scanner) anyWord(into *string, words ...string) step {
	var steps []step
	for _, word := range words {
		steps = append(steps, then(s.try(s.word(word)), func() { *into = word }))
	}
	return s.either(steps...)
}

// collect reads something into a list.
func collect[T any](list *[]T, read func(into *T) step) step {
	return func() bool {
		var one T
		ok := read(&one)()
		if ok {
			*list = append(*list, one)
		}
		return ok
	}
}

// refusal is the error of a text that could not be read; what says what it is: filter (eq.1).
func (s *scanner) refusal(what string) *Error {
	before := s.text[:min(s.err.at, len(s.text))]
	line := 1 + strings.Count(before, "\n")
	column := 1
	for _, r := range before[strings.LastIndexByte(before, '\n')+1:] {
		if r == '\t' {
			column += 7 - (column-1)%8
		}
		column++
	}
	e := refuse(statusBadRequest, "PGRST100", fmt.Sprintf("\"failed to parse %s\" (line %d, column %d)", what, line, column))
	e.details = s.err.describe()
	return e
}

// describe says what was found and expected, in one line.
func (m mismatch) describe() string {
	said := map[kind][]string{}
	atEnd := false
	for _, message := range m.messages {
		if message.kind == found && message.text == "" && len(said[found]) == 0 {
			atEnd = true
		}
		if message.text != "" && !slices.Contains(said[message.kind], message.text) {
			said[message.kind] = append(said[message.kind], message.text)
		}
	}
	var parts []string
	switch {
	case len(said[unexpected]) > 0:
		parts = append(parts, "unexpected "+words(said[unexpected]))
	case atEnd:
		parts = append(parts, "unexpected end of input")
	case len(said[found]) > 0:
		parts = append(parts, "unexpected "+said[found][0])
	}
	if len(said[expected]) > 0 {
		parts = append(parts, "expecting "+words(said[expected]))
	}
	if len(said[plainly]) > 0 {
		parts = append(parts, words(said[plainly]))
	}
	if len(parts) == 0 {
		return "unknown parse error"
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "\n", " ")
}

// words is a list as a sentence has it.
func words(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// show is a character as Haskell prints it between quotes.
func show(r rune, quote rune) string {
	text := string(r)
	switch i := strings.IndexRune("\a\b\f\n\r\t\v\\", r); {
	case i >= 0:
		text = `\` + "abfnrtv\\"[i:i+1]
	case r == quote:
		text = `\` + text
	case r == 0x7f:
		text = `\DEL`
	case r < ' ' || r > 0x7f:
		text = fmt.Sprintf(`\%d`, r)
	}
	return string(quote) + text + string(quote)
}
