package rest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A parser reads one parameter of a request from left to right. Its methods return false where the text does not fit,
// and may then have consumed a part of it; try takes that back.
//
// An error has the line and column that PostgREST reports: where the alternative that came farthest failed, among those
// tried since the last character was consumed.
type parser struct {
	text     string
	pos      int    // in bytes
	failedAt int    // -1: nothing failed since the last character
	expected string // at failedAt
}

func newParser(text string) *parser { return &parser{text: text, failedAt: -1} }

// parseText parses a parameter with a method of the parser; what names it in messages.
func parseText[T any](text, what string, read func(*parser, *T) bool) (value T, err error) {
	p := newParser(text)
	if !read(p, &value) {
		err = p.error(what, text)
	}
	return value, err
}

// fail records that expected was not found at the position, and returns false.
func (p *parser) fail(expected string) bool { return p.failAt(p.pos, expected) }

func (p *parser) failAt(pos int, expected string) bool {
	if pos >= p.failedAt {
		p.failedAt, p.expected = pos, expected
	}
	return false
}

func (p *parser) advance(bytes int) bool {
	p.pos, p.failedAt = p.pos+bytes, -1
	return true
}

// try consumes nothing where read fails.
func (p *parser) try(read func() bool) bool {
	before := *p
	if read() {
		return true
	}
	p.pos = before.pos
	if before.failedAt > p.failedAt {
		p.failedAt, p.expected = before.failedAt, before.expected
	}
	return false
}

// at reports whether the rest of the text begins with text.
func (p *parser) at(text string) bool { return strings.HasPrefix(p.text[p.pos:], text) }

// word consumes exactly text.
func (p *parser) word(text string) bool {
	if p.at(text) {
		return p.advance(len(text))
	}
	return p.fail(`"` + text + `"`)
}

// end checks, without consuming it, that the text ends or one of the delimiters follows.
func (p *parser) end(delimiters ...string) bool {
	if slices.ContainsFunc(delimiters, p.at) {
		return true
	}
	return p.pos == len(p.text) || p.fail(strings.Join(append(delimiters, "end of input"), " or "))
}

// char consumes a character that accept accepts.
func (p *parser) char(expected string, accept func(rune) bool) bool {
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	if size == 0 || !accept(r) {
		return p.fail(expected)
	}
	return p.advance(size)
}

// chars consumes as many characters as accept accepts, at least least.
func (p *parser) chars(into *string, least int, expected string, accept func(rune) bool) bool {
	start := p.pos
	for p.char(expected, accept) {
	}
	*into = p.text[start:p.pos]
	return p.pos-start >= least
}

// noneOf consumes characters up to one of stops.
func (p *parser) noneOf(stops string, into *string) bool {
	return p.chars(into, 0, "another character", func(r rune) bool { return !strings.ContainsRune(stops, r) })
}

func (p *parser) spaces() bool {
	for p.at(" ") || p.at("\t") {
		p.advance(1)
	}
	return true
}

// padded consumes text with spaces around it.
func (p *parser) padded(text string) bool { return p.spaces() && p.word(text) && p.spaces() }

// list reads one item or more with separators between them.
func (p *parser) list(separator, item func() bool) bool {
	if !item() {
		return false
	}
	for {
		start := p.pos
		if !separator() {
			return p.pos == start
		}
		if !item() {
			return false
		}
		p.failedAt = -1
	}
}

// collect is a step that appends what read reads.
func collect[T any](list *[]T, read func(*T) bool) func() bool {
	return func() bool {
		var one T
		ok := read(&one)
		if ok {
			*list = append(*list, one)
		}
		return ok
	}
}

func (p *parser) dot() bool         { return p.word(".") }
func (p *parser) comma() bool       { return p.word(",") }
func (p *parser) paddedComma() bool { return p.padded(",") }

// name reads a name: in quotes, or identifiers joined by dashes.
func (p *parser) name(into *string) bool {
	if p.at(`"`) {
		return p.quoted(into)
	}
	return p.dashed(into, p.identifier)
}

// identifier reads letters, digits and some signs; spaces around them do not count.
func (p *parser) identifier(into *string) bool {
	ok := p.chars(into, 1, "field name (* or [a..z0..9_$])", func(r rune) bool {
		return unicode.IsLetter(r) || r >= '0' && r <= '9' || r == '_' || r == ' ' || r == '$'
	})
	*into = strings.TrimSpace(*into)
	return ok
}

// dashed reads parts joined by dashes that do not begin an arrow.
func (p *parser) dashed(into *string, part func(*string) bool) bool {
	var parts []string
	dash := func() bool {
		if p.at("->") {
			return p.failAt(p.pos+2, "another character")
		}
		return p.word("-")
	}
	ok := p.list(dash, collect(&parts, part))
	*into = strings.Join(parts, "-")
	return ok
}

// quoted reads "…", in which a backslash protects the next character.
func (p *parser) quoted(into *string) bool {
	var text strings.Builder
	if !p.word(`"`) {
		return false
	}
	for !p.at(`"`) {
		if p.at(`\`) {
			p.advance(1)
		}
		start := p.pos
		if !p.char(`"`, func(rune) bool { return true }) {
			return false
		}
		text.WriteString(p.text[start:p.pos])
	}
	*into = text.String()
	return p.word(`"`)
}

// A field is a column, or a part of its JSON.
type field struct {
	name   string
	path   []jsonStep
	column *column // that plan finds
}

// A jsonStep is an arrow with its operand.
type jsonStep struct {
	key   string
	index bool // key is a number: an element of an array
	text  bool // ->>, not ->
}

// field reads a name and the path into its JSON.
func (p *parser) field(f *field) bool {
	return p.spaces() && p.name(&f.name) && p.jsonPath(&f.path) && p.spaces()
}

// jsonPath reads ->key->>0.
func (p *parser) jsonPath(into *[]jsonStep) bool {
	for p.at("->") {
		step := jsonStep{text: p.at("->>")}
		p.advance(len("->"))
		if step.text {
			p.advance(len(">"))
		}
		step.index = p.try(func() bool { return p.jsonIndex(&step.key) })
		if !step.index && !p.try(func() bool { return p.jsonKey(&step.key) }) {
			return false
		}
		*into = append(*into, step)
	}
	p.fail("->")
	return true
}

func (p *parser) jsonIndex(into *string) bool {
	sign := ""
	if p.at("-") {
		p.advance(1)
		sign = "-"
	}
	ok := p.chars(into, 1, "digit", func(r rune) bool { return r >= '0' && r <= '9' }) && p.end("->", "::", ".", ",")
	*into = sign + *into
	return ok
}

func (p *parser) jsonKey(into *string) bool {
	if p.at(`"`) {
		return p.quoted(into)
	}
	return p.dashed(into, func(into *string) bool {
		isKey := func(r rune) bool { return !strings.ContainsRune("(-:.,>)", r) }
		ok := p.chars(into, 1, "any character but .,:->()", isKey)
		*into = strings.TrimSpace(*into)
		return ok
	})
}

// error refuses the text of a parameter, as which messages show text: filter (eq.1).
func (p *parser) error(what, text string) error {
	at := max(p.failedAt, 0)
	before := p.text[:min(at, len(p.text))]
	column := 1
	for _, r := range before[strings.LastIndexByte(before, '\n')+1:] {
		if r == '\t' {
			column += 7 - (column-1)%8
		}
		column++
	}
	line := 1 + strings.Count(before, "\n")
	details := "unexpected end of input"
	if r, size := utf8.DecodeRuneInString(p.text[len(before):]); size > 0 {
		details = fmt.Sprintf("unexpected %q", string(r))
	}
	if details += " expecting " + p.expected; p.expected == tooDeep {
		details = tooDeep
	}
	message := fmt.Sprintf("\"failed to parse %s (%s)\" (line %d, column %d)", what, text, line, column)
	return badRequest("PGRST100", message).detailed(details)
}
