package rest

import (
	"slices"
	"strings"
	"unicode"
)

// A filter compares a field with values.
type filter struct {
	field
	negated  bool
	operator string   // eq, in, is, fts, …
	each     string   // any, all or "": how a list of values is compared
	language string   // of a full-text search
	value    string   // of is: null, not_null, true, false or unknown
	list     []string // of in
}

// A condition is a filter, or others combined.
type condition struct {
	*filter      // nil: parts are combined
	negated bool // not(parts)
	or      bool // else: and
	parts   []condition
}

// parseFilter reads the value of a parameter that filters a field: not.eq.1. Without an operator, where that may be, it
// is an argument of a function, and reads as false.
func parseFilter(value string, argument bool) (filter, bool, *Error) {
	var s scanner
	var f filter
	err := s.read(value, "filter ("+value+")", s.operation(&f, s.rest))
	if err != nil && argument && s.pos == 0 {
		return f, false, nil
	}
	return f, err == nil, err
}

// parsePath reads the name of a parameter: embed.embed.column->key.
func parsePath(key string) (path []string, f field, err *Error) {
	var s scanner
	if err := s.read(key, "tree path ("+key+")", all(s.names(&path), s.jsonPath(&f.path))); err != nil {
		return nil, f, err
	}
	f.name = path[len(path)-1]
	return path[:len(path)-1], f, nil
}

// names reads names separated by dots.
func (s *scanner) names(into *[]string) step {
	return s.list(s.delimiter(), collect(into, s.fieldName))
}

func (s *scanner) delimiter() step { return s.called("delimiter (.)", '.') }

// operation reads not.operator.value; the value is read by value.
func (s *scanner) operation(f *filter, value func(*string) step) step {
	dot, negated, language, each := s.delimiter(), "", "", ""
	named := func(operator string, behind step) step {
		return all(then(s.try(s.word(operator), dot), func() { f.operator = operator }), behind)
	}
	search := all(s.anyWord(&f.operator, "fts", "plfts", "phfts", "wfts"),
		s.maybe(s.char('('), s.identifier(&language), s.char(')')), dot, value(&f.value))
	plain := all(s.anyWord(&f.operator, "neq", "cs", "cd", "ov", "sl", "sr", "nxr", "nxl", "adj"), dot, value(&f.value))
	listed := all(s.anyWord(&f.operator, "eq", "gte", "gt", "lte", "lt", "like", "ilike", "match", "imatch"),
		s.maybe(s.char('('), s.anyWord(&each, "any", "all"), s.char(')')), dot, value(&f.value))
	operation := s.label("operator (eq, gt, ...)", s.either(
		named("in", s.valueList(&f.list)), named("is", late(func() step { return s.truth(&f.value) })), named("isdistinct", value(&f.value)),
		s.try(search), s.try(plain), s.try(listed),
	))
	return then(all(s.maybe(s.kept(all(s.word("not"), dot), &negated)), operation), func() {
		f.negated, f.language, f.each = negated == "not.", language, each
	})
}

// truth reads what may stand behind is, in any case.
func (s *scanner) truth(into *string) step {
	var steps []step
	for _, word := range []string{"null", "not_null", "true", "false", "unknown"} {
		var letters []step
		for _, c := range word {
			letters = append(letters, s.either(s.char(c), s.char(unicode.ToUpper(c))))
		}
		steps = append(steps, then(s.try(letters...), func() { *into = word }))
	}
	return s.label("isVal: (null, not_null, true, false, unknown)", s.either(steps...))
}

// rest reads everything.
func (s *scanner) rest(into *string) step {
	return func() bool {
		*into, s.pos = s.text[s.pos:], len(s.text)
		return true
	}
}

// valueList reads (a,b,"c").
func (s *scanner) valueList(into *[]string) step {
	element := func(into *string) step {
		return s.either(s.quotedValue(into), s.noneOf(",)", into))
	}
	return all(s.padded('('), s.list(s.char(','), collect(into, element)), s.padded(')'))
}

// quotedValue reads a value in quotes that ends with them.
func (s *scanner) quotedValue(into *string) step {
	return s.try(s.quoted(into), func() bool {
		r, size := s.peek()
		return size == 0 || r == ',' || r == ')'
	})
}

// parseLogic reads a parameter whose name is [path.][not.]and or or.
func parseLogic(key, value string) (path []string, c condition, err *Error) {
	var s, inner scanner
	var names []string
	if err := s.read(key, "logic path ("+key+")", s.names(&names)); err != nil {
		return nil, c, err
	}
	operator, embeds := names[len(names)-1], names[:len(names)-1]
	path = slices.DeleteFunc(slices.Clone(embeds), func(name string) bool { return name == "not" })
	if len(path) < len(embeds) {
		operator = "not." + operator
	}
	err = inner.read(operator+value, "logic tree ("+value+")", inner.condition(&c, 0))
	return path, c, err
}

// condition reads column.operator.value, or [not.]and(condition,condition).
func (s *scanner) condition(c *condition, depth int) step {
	return func() bool {
		if depth > maxDepth {
			return s.fail(tooDeep)
		}
		var f filter
		single := then(all(s.field(&f.field), s.delimiter(), s.operation(&f, s.logicValue)), func() { c.filter = &f })
		part := func(inner *condition) step { return s.condition(inner, depth+1) }
		combined := all(s.negation(&c.negated), s.logicOperator(&c.or),
			s.padded('('), s.list(s.padded(','), collect(&c.parts, part)), s.padded(')'))
		return s.either(s.try(single), combined)()
	}
}

func (s *scanner) negation(into *bool) step {
	return s.label("negation operator (not)", s.maybe(then(all(s.word("not"), s.delimiter()), func() { *into = true })))
}

func (s *scanner) logicOperator(or *bool) step {
	return s.label("logic operator (and, or)", s.either(s.try(s.word("and")), then(s.word("or"), func() { *or = true })))
}

// logicValue reads a value inside a logical expression: "…", {…}, or what stands before the next comma or bracket.
func (s *scanner) logicValue(into *string) step {
	var inner string
	array := s.kept(all(s.word("{"), s.noneOf("{}", &inner), s.word("}")), into)
	return s.either(s.quotedValue(into), s.try(array), s.noneOf(",)", into))
}

// endsIn is whether the last of a key's names is one of words.
func endsIn(key string, words ...string) bool {
	return slices.Contains(words, key[strings.LastIndexByte(key, '.')+1:])
}

// An orderTerm is column.desc.nullslast, or relation(column).desc.
type orderTerm struct {
	relation string // an embed; "": a field of this relation
	field
	direction string // asc, desc or ""
	nulls     string // nullsfirst, nullslast or ""
}

// parseOrder reads the value of a parameter order.
func parseOrder(text string) ([]orderTerm, *Error) {
	var s scanner
	var terms []orderTerm
	term := func(t *orderTerm) step {
		var related orderTerm
		nested := then(all(s.fieldName(&related.relation), s.char('('), s.field(&related.field), s.char(')'), s.orderEnd(&related)),
			func() { *t = related })
		return all(s.spaces, s.either(s.try(nested), all(s.field(&t.field), s.orderEnd(t))), s.spaces)
	}
	err := s.read(text, "order ("+text+")", s.list(s.char(','), collect(&terms, term)))
	return terms, err
}

// orderEnd reads .desc.nullslast, and that the term ends there.
func (s *scanner) orderEnd(t *orderTerm) step {
	return all(s.suffix(&t.direction, "asc", "desc"), s.suffix(&t.nulls, "nullsfirst", "nullslast"),
		s.either(s.ahead(s.char(',')), s.end))
}

// suffix reads a dot and one of two words, if they are there.
func (s *scanner) suffix(into *string, one, other string) step {
	word := func(text string) step {
		return then(s.try(s.delimiter(), s.word(text)), func() { *into = text })
	}
	return s.option(s.either(word(one), word(other)))
}

// parseNames reads a list of columns.
func parseNames(what, text string) ([]string, *Error) {
	var s scanner
	var names []string
	err := s.read(text, what+" parameter ("+text+")", s.list(s.padded(','), collect(&names, s.fieldName)))
	return names, err
}
