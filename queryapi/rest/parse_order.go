package rest

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
