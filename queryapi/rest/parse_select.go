package rest

import "cmp"

// A selection is the select of a relation: its columns, and rows of other relations.
type selection struct {
	columns []selectColumn
	embeds  []embedded
}

// A selectColumn is alias:field::cast.aggregate()::aggregateCast; the name * stands for all columns.
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

// maxDepth bounds the nesting of selections and of logical expressions.
const maxDepth = 64

const tooDeep = "nested too deeply"

func parseSelect(text string) (selection, error) {
	return parseText(text, "select parameter", func(p *parser, s *selection) bool { return p.selection(s, 0) })
}

// selection reads items separated by commas, or nothing.
func (p *parser) selection(into *selection, depth int) bool {
	if depth > maxDepth {
		return p.fail(tooDeep)
	}
	start := p.pos
	return p.list(p.paddedComma, func() bool { return p.selectItem(into, depth) }) || p.pos == start
}

// selectItem reads an embed or a column.
func (p *parser) selectItem(into *selection, depth int) bool {
	var e embedded
	if p.try(func() bool { return p.spread(&e) }) || p.try(func() bool { return p.embed(&e) }) {
		into.embeds = append(into.embeds, e)
		into := &into.embeds[len(into.embeds)-1].selection
		return p.word("(") && p.selection(into, depth+1) && p.word(")")
	}
	return collect(&into.columns, p.selectColumn)()
}

// spread reads ...relation!hint!inner up to its bracket.
func (p *parser) spread(e *embedded) bool {
	*e = embedded{spread: true}
	return p.spaces() && p.word("...") && p.name(&e.name) && p.embedParams(e)
}

// embed reads alias:relation!hint!inner up to its bracket. count() is an aggregate.
func (p *parser) embed(e *embedded) bool {
	*e = embedded{}
	return p.spaces() && p.alias(&e.alias) && p.name(&e.name) && e.name != "count" && p.embedParams(e)
}

// embedParams reads up to two of !hint, !left and !inner; of two of a kind the first counts.
func (p *parser) embedParams(e *embedded) bool {
	join := ""
	for range 2 {
		if !p.at("!") {
			break
		}
		p.advance(1)
		var hint string
		switch {
		case p.at("left"):
			p.advance(len("left"))
			join = cmp.Or(join, "left")
		case p.at("inner"):
			p.advance(len("inner"))
			join = cmp.Or(join, "inner")
		case !p.name(&hint):
			return false
		}
		e.hint = cmp.Or(e.hint, hint)
	}
	e.inner = join == "inner"
	return (p.at("(") || p.fail(`"("`)) && p.spaces()
}

// alias reads a name before a single colon, if there is one.
func (p *parser) alias(into *string) bool {
	p.try(func() bool {
		var name string
		if !p.name(&name) || !p.word(":") || p.at(":") && !p.failAt(p.pos+1, "another character") {
			return false
		}
		*into = name
		return true
	})
	return true
}

func (p *parser) selectColumn(c *selectColumn) bool {
	star := func() bool { return p.word("*") && p.columnEnd() }
	count := func() bool {
		*c = selectColumn{field: field{name: "*"}, aggregate: "count"}
		return p.alias(&c.alias) && p.word("count()") && p.cast(&c.aggregateCast) && p.columnEnd()
	}
	p.spaces()
	switch {
	case p.try(star):
		c.name = "*"
	case p.try(count):
	default:
		*c = selectColumn{}
		if !p.alias(&c.alias) || !p.field(&c.field) || !p.cast(&c.cast) || !p.aggregated(&c.aggregate) ||
			!p.cast(&c.aggregateCast) || !p.columnEnd() {
			return false
		}
	}
	return p.spaces()
}

// columnEnd checks that a column ends at the position.
func (p *parser) columnEnd() bool { return p.end(")", ",") }

// cast reads an optional ::type.
func (p *parser) cast(into *string) bool { return !p.at("::") || p.word("::") && p.identifier(into) }

// aggregated reads an optional .sum() or the like.
func (p *parser) aggregated(into *string) bool {
	const expected = "sum, avg, count, max or min"
	p.try(func() bool {
		return p.dot() && p.oneOf(into, expected, "sum", "avg", "count", "max", "min") && p.word("()")
	})
	return true
}
