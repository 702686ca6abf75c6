package rest

import (
	"slices"
	"strings"
)

// A filter compares a field with values.
type filter struct {
	field
	negated    bool
	operator   string   // eq, in, is, fts, …
	quantifier string   // any or all of a list of values; "": the value is one
	language   string   // of a full-text search
	value      string   // of is: null, not_null, true, false or unknown
	list       []string // of in
}

// A condition is a filter, or other conditions combined.
type condition struct {
	*filter
	embed *node // that plan finds: the filter tests whether it has rows

	negated bool // not(parts)
	or      bool // else: and
	parts   []condition
}

// Operators by the modifier that they take.
var (
	plainOperators      = []string{"in", "isdistinct", "is", "neq", "cs", "cd", "ov", "sl", "sr", "nxr", "nxl", "adj"}
	quantifiedOperators = []string{"eq", "gte", "gt", "lte", "lt", "like", "ilike", "match", "imatch"}
	searchOperators     = []string{"fts", "plfts", "phfts", "wfts"}
	allOperators        = slices.Concat(plainOperators, quantifiedOperators, searchOperators)
)

// parseFilter reads the value of a parameter that filters a field: not.eq.1. Where argument is set, a value that does
// not begin with an operator is an argument of a function: isFilter is false.
func parseFilter(value string, argument bool) (f filter, isFilter bool, err error) {
	p := newParser(value)
	switch {
	case p.operation(&f, p.rest):
		return f, true, nil
	case argument && p.pos == 0:
		return f, false, nil
	}
	return f, false, p.error("filter", value)
}

// parsePath reads the name of a parameter: embed.embed.column->key.
func parsePath(key string) (path []string, f field, err error) {
	p := newParser(key)
	if !p.names(&path) || !p.jsonPath(&f.path) {
		return nil, f, p.error("tree path", key)
	}
	f.name = path[len(path)-1]
	return path[:len(path)-1], f, nil
}

// names reads names separated by dots.
func (p *parser) names(into *[]string) bool {
	return p.list(p.dot, collect(into, p.name))
}

// operation reads not.operator.value.
func (p *parser) operation(f *filter, value func(*string) bool) bool {
	f.negated = p.try(func() bool { return p.word("not") && p.dot() })
	if !p.try(func() bool { return p.operator(f) && p.dot() }) {
		return false
	}
	switch f.operator {
	case "in":
		return p.valueList(&f.list)
	case "is":
		return p.truth(&f.value)
	}
	return value(&f.value)
}

// operator reads eq, eq(any) or fts(english).
func (p *parser) operator(f *filter) bool {
	for _, name := range allOperators {
		if p.at(name) && len(name) > len(f.operator) {
			f.operator = name
		}
	}
	if f.operator == "" {
		return p.fail("operator (eq, gt, ...)")
	}
	p.advance(len(f.operator))
	var modifier string
	switch {
	case slices.Contains(quantifiedOperators, f.operator):
		if p.try(func() bool { return p.word("(") && p.oneOf(&modifier, "any or all", "any", "all") && p.word(")") }) {
			f.quantifier = modifier
		}
	case slices.Contains(searchOperators, f.operator):
		if p.try(func() bool { return p.word("(") && p.identifier(&modifier) && p.word(")") }) {
			f.language = modifier
		}
	}
	return true
}

// truth reads an operand of is, in any case.
func (p *parser) truth(into *string) bool {
	for _, word := range []string{"null", "not_null", "true", "false", "unknown"} {
		n := 0
		for n < len(word) && p.pos+n < len(p.text) && strings.EqualFold(p.text[p.pos+n:p.pos+n+1], word[n:n+1]) {
			n++
		}
		if n == len(word) {
			*into = word
			return p.advance(n)
		}
		p.failAt(p.pos+n, "null, not_null, true, false or unknown")
	}
	return false
}

// oneOf reads one of words, which messages call expected.
func (p *parser) oneOf(into *string, expected string, words ...string) bool {
	for _, word := range words {
		if p.at(word) {
			*into = word
			return p.advance(len(word))
		}
	}
	return p.fail(expected)
}

// rest consumes everything.
func (p *parser) rest(into *string) bool {
	*into = p.text[p.pos:]
	return p.advance(len(*into))
}

// valueList reads (a,b,"c").
func (p *parser) valueList(into *[]string) bool {
	element := func(into *string) bool { return p.quotedValue(into) || p.noneOf(",)", into) }
	return p.padded("(") && p.list(p.comma, collect(into, element)) && p.padded(")")
}

// quotedValue reads a value in quotes, if it ends with them.
func (p *parser) quotedValue(into *string) bool {
	return p.try(func() bool {
		return p.quoted(into) && (p.pos == len(p.text) || p.at(",") || p.at(")"))
	})
}

// parseLogic reads a parameter whose name is [path.][not.]and or or.
func parseLogic(key, value string) (path []string, c condition, err error) {
	names, err := parseText(key, "logic path", (*parser).names)
	if err != nil {
		return nil, c, err
	}
	operator, embeds := names[len(names)-1], names[:len(names)-1]
	path = slices.DeleteFunc(slices.Clone(embeds), func(name string) bool { return name == "not" })
	if len(path) < len(embeds) {
		operator = "not." + operator
	}
	if p := newParser(operator + value); !p.condition(&c, 0) {
		return nil, c, p.error("logic tree", value)
	}
	return path, c, nil
}

// condition reads column.operator.value, or [not.]and(condition,condition).
func (p *parser) condition(c *condition, depth int) bool {
	if depth > maxDepth {
		return p.fail(tooDeep)
	}
	var f filter
	if p.try(func() bool { return p.field(&f.field) && p.dot() && p.operation(&f, p.logicValue) }) {
		c.filter = &f
		return true
	}
	c.negated = p.try(func() bool { return p.word("not") && p.dot() })
	var operator string
	if !p.oneOf(&operator, "logic operator (and, or)", "and", "or") {
		return false
	}
	c.or = operator == "or"
	part := func(c *condition) bool { return p.condition(c, depth+1) }
	return p.padded("(") && p.list(p.paddedComma, collect(&c.parts, part)) && p.padded(")")
}

// logicValue reads a value inside a logical expression: "…", {…}, or text up to the next comma or bracket.
func (p *parser) logicValue(into *string) bool {
	array := func() bool {
		start, elements := p.pos, ""
		ok := p.word("{") && p.noneOf("{}", &elements) && p.word("}")
		*into = p.text[start:p.pos]
		return ok
	}
	return p.quotedValue(into) || p.try(array) || p.noneOf(",)", into)
}

// An orderTerm is column.desc.nullslast, or relation(column).desc.
type orderTerm struct {
	field
	relation  string // an embed; "": the relation itself
	embed     *node  // of that name; plan finds it
	direction string // asc, desc or ""
	nulls     string // nullsfirst, nullslast or ""
}

func parseOrder(text string) ([]orderTerm, error) {
	return parseText(text, "order", func(p *parser, terms *[]orderTerm) bool {
		return p.list(p.comma, collect(terms, p.orderTerm))
	})
}

func (p *parser) orderTerm(t *orderTerm) bool {
	related := func() bool {
		return p.name(&t.relation) && p.word("(") && p.field(&t.field) && p.word(")") && p.orderEnd(t)
	}
	p.spaces()
	if !p.try(related) {
		*t = orderTerm{}
		if !p.field(&t.field) || !p.orderEnd(t) {
			return false
		}
	}
	return p.spaces()
}

// orderEnd reads .desc.nullslast, both optional, and checks that the term ends.
func (p *parser) orderEnd(t *orderTerm) bool {
	const expected = "asc, desc, nullsfirst or nullslast"
	p.try(func() bool { return p.dot() && p.oneOf(&t.direction, expected, "asc", "desc") })
	p.try(func() bool { return p.dot() && p.oneOf(&t.nulls, expected, "nullsfirst", "nullslast") })
	return p.end(",")
}

func parseNames(what, text string) ([]string, error) {
	return parseText(text, what+" parameter", func(p *parser, names *[]string) bool {
		return p.list(p.paddedComma, collect(names, p.name))
	})
}
