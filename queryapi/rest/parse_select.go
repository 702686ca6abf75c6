package rest

import (
	"cmp"
	"strings"
	"unicode"
)

// A field is a column, or a part of its JSON.
type field struct {
	name string
	path []jsonStep
}

// A jsonStep is an arrow and what stands behind it.
type jsonStep struct {
	key   string
	index bool // key is a number: an element of an array
	text  bool // ->>, not ->
}

// A selection is what is wanted of a relation: columns, and rows of other relations.
type selection struct {
	columns []selectColumn
	embeds  []embedded
}

// A selectColumn is alias:field::cast.aggregate()::aggregateCast.
type selectColumn struct {
	field
	alias, cast, aggregate, aggregateCast string
}

// Embedded is another relation: alias:relation!hint!inner(selection), or ...relation(selection).
type embedded struct {
	name, alias, hint string
	inner, spread     bool
	selection
}

// maxDepth is how deep selections, and logical expressions, may be nested.
const maxDepth = 64

const tooDeep = "nested too deeply"

// parseSelect reads the parameter select.
func parseSelect(text string) (selection, *Error) {
	var s scanner
	var into selection
	err := s.read(text, "select parameter ("+text+")", s.selection(&into, 0))
	return into, err
}

func (s *scanner) selection(into *selection, depth int) step {
	return func() bool {
		if depth > maxDepth {
			return s.fail(tooDeep)
		}
		return s.option(s.list(s.padded(','), s.selected(into, depth)))()
	}
}

// selected reads an embed or a column.
func (s *scanner) selected(into *selection, depth int) step {
	nested := func(head func(*embedded) step) step {
		return collect(&into.embeds, func(e *embedded) step {
			return all(s.try(head(e)), s.char('('), s.selection(&e.selection, depth+1), s.char(')'))
		})
	}
	return s.either(nested(s.spread), nested(s.embed), collect(&into.columns, s.selectColumn))
}

func (s *scanner) spread(e *embedded) step {
	e.spread = true
	return all(s.spaces, s.word("..."), s.fieldName(&e.name), s.embedParams(e), s.ahead(s.word("(")), s.spaces)
}

func (s *scanner) embed(e *embedded) step {
	noAggregate := func() bool { return e.name != "count" }
	return all(s.spaces, s.alias(&e.alias), s.fieldName(&e.name), noAggregate, s.embedParams(e), s.ahead(s.word("(")), s.spaces)
}

// alias reads what stands before a single colon, if anything.
func (s *scanner) alias(into *string) step {
	var name string
	return s.maybe(then(all(s.fieldName(&name), s.char(':'), s.not(':')), func() { *into = name }))
}

// embedParams reads up to two of !hint, !left and !inner; of two of a kind the first counts.
func (s *scanner) embedParams(e *embedded) step {
	var join, hint string
	param := s.option(s.char('!'), late(func() step {
		return s.either(
			then(s.try(s.word("left")), func() { join = cmp.Or(join, "left") }),
			then(s.try(s.word("inner")), func() { join = cmp.Or(join, "inner") }),
			then(s.try(s.fieldName(&hint)), func() { e.hint = cmp.Or(e.hint, hint) }),
		)
	}))
	return then(all(param, param), func() { e.inner = join == "inner" })
}

func (s *scanner) selectColumn(c *selectColumn) step {
	star := then(all(s.word("*"), s.columnEnd()), func() { *c = selectColumn{field: field{name: "*"}} })
	var counted selectColumn
	count := then(all(s.alias(&counted.alias), s.word("count()"), s.cast(&counted.aggregateCast), s.columnEnd()), func() {
		*c = counted
		c.name, c.aggregate = "*", "count"
	})
	column := late(func() step {
		return all(s.alias(&c.alias), s.field(&c.field), s.cast(&c.cast), s.aggregate(&c.aggregate), s.cast(&c.aggregateCast), s.columnEnd())
	})
	return all(s.spaces, s.either(s.try(star), s.try(count), column), s.spaces)
}

// columnEnd is whether a column ends here.
func (s *scanner) columnEnd() step {
	return s.either(s.ahead(s.word(")")), s.ahead(s.word(",")), s.end)
}

func (s *scanner) cast(into *string) step {
	return s.option(s.word("::"), late(func() step { return s.identifier(into) }))
}

func (s *scanner) aggregate(into *string) step {
	var name string
	function := func() step {
		return s.either(s.word("sum"), s.word("avg"), s.word("count"), s.try(s.word("max")), s.try(s.word("min")))
	}
	return s.maybe(then(all(s.char('.'), s.kept(late(function), &name), s.word("()")), func() { *into = name }))
}

// field reads a name and the path into its JSON.
func (s *scanner) field(f *field) step {
	return all(s.spaces, s.fieldName(&f.name), s.jsonPath(&f.path), s.spaces)
}

// fieldName reads a name: in quotes, or identifiers joined by dashes.
func (s *scanner) fieldName(into *string) step {
	return late(func() step {
		return s.label("field name (* or [a..z0..9_$])", s.either(s.quoted(into), s.dashed(into, s.identifier)))
	})
}

// dashed reads parts joined by dashes that do not begin an arrow.
func (s *scanner) dashed(into *string, part func(*string) step) step {
	return func() bool {
		var parts []string
		ok := s.list(s.try(s.char('-'), s.not('>')), collect(&parts, part))()
		*into = strings.Join(parts, "-")
		return ok
	}
}

// identifier reads letters, digits and some signs; spaces around them do not count.
func (s *scanner) identifier(into *string) step {
	named := func(r rune) bool {
		return unicode.IsLetter(r) || r >= '0' && r <= '9' || r == '_' || r == ' ' || r == '$'
	}
	char := func() bool { return s.next(named) || s.miss("letter") || s.miss("digit") || s.miss("") }
	return then(s.kept(all(char, s.many(char)), into), func() { *into = strings.TrimSpace(*into) })
}

func (s *scanner) digit() bool {
	return s.next(func(r rune) bool { return r >= '0' && r <= '9' }) || s.miss("digit")
}

// quoted reads "…", in which a backslash protects the next character.
func (s *scanner) quoted(into *string) step {
	plain := func() bool { return s.next(func(r rune) bool { return r != '"' && r != '\\' }) || s.miss("") }
	escaped := all(s.char('\\'), func() bool { return s.next(func(rune) bool { return true }) || s.miss("") })
	return func() bool {
		var text strings.Builder
		var char string
		chars := s.many(then(s.kept(s.either(plain, escaped), &char), func() { text.WriteString(strings.TrimPrefix(char, `\`)) }))
		ok := all(s.char('"'), chars, s.char('"'))()
		*into = text.String()
		return ok
	}
}

// jsonPath reads ->key->>0.
func (s *scanner) jsonPath(into *[]jsonStep) step {
	return s.many(collect(into, func(one *jsonStep) step {
		arrow := s.either(then(s.try(s.word("->>")), func() { one.text = true }), s.try(s.word("->")))
		operand := func() step {
			index := then(s.jsonIndex(&one.key), func() { one.index = true })
			return s.either(s.try(index), s.try(s.jsonKey(&one.key)))
		}
		return all(arrow, late(operand))
	}))
}

func (s *scanner) jsonIndex(into *string) step {
	number := all(s.option(s.char('-')), s.digit, s.many(s.digit))
	var ends []step
	for _, end := range []string{"->", "::", ".", ","} {
		ends = append(ends, s.ahead(s.word(end)))
	}
	return all(s.kept(number, into), s.either(append(ends, s.end)...))
}

func (s *scanner) jsonKey(into *string) step {
	part := func(into *string) step {
		char := func() bool {
			return s.next(func(r rune) bool { return !strings.ContainsRune("(-:.,>)", r) }) || s.miss("")
		}
		return then(s.kept(all(char, s.many(char)), into), func() { *into = strings.TrimSpace(*into) })
	}
	return s.label("any non reserved character different from: .,>()", s.either(s.quoted(into), s.dashed(into, part)))
}
