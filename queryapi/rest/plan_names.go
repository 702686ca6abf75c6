package rest

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// resolve finds the columns that a node and its embeds name.
func (p *planner) resolve(n *node) *Error {
	for _, e := range n.embeds {
		if err := p.resolve(e); err != nil {
			return err
		}
	}
	for _, c := range n.chosen {
		o := output{star: c.name == "*", path: c.path, alias: c.alias, cast: c.cast, aggregate: c.aggregate, aggregateCast: c.aggregateCast}
		if o.aggregate == "" {
			o.aggregateCast = "" // id::text::int is id::text
		}
		if !o.star {
			var err *Error
			if o.column, err = n.column(c.name); err != nil {
				return err
			}
		}
		if o.alias == "" && o.aggregate == "" && len(o.path) > 0 {
			o.alias = lastKey(c.field)
		}
		for _, cast := range []string{o.cast, o.aggregateCast} {
			if cast != "" && !slices.Contains(p.casts, cast) {
				p.casts = append(p.casts, cast)
			}
		}
		n.outputs = append(n.outputs, o)
	}
	if err := p.resolveWhere(n); err != nil {
		return err
	}
	for i := range n.order {
		key := &n.order[i]
		var err *Error
		if key.embed != nil {
			key.column, err = key.embed.shown(key.term.name)
		} else {
			key.column, err = n.column(key.term.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shown finds a column that an embed's rows have, which a parent is sorted by: also an alias, or another embed.
func (n *node) shown(name string) (*column, *Error) {
	var columns []*column
	for _, i := range n.items() {
		if i.star && i.aggregate == "" {
			columns = append(columns, n.known()...)
		} else {
			columns = append(columns, &column{name: i.name()})
		}
	}
	if i := slices.IndexFunc(columns, func(c *column) bool { return c.name == name }); i >= 0 {
		return columns[i], nil
	}
	return nil, unknownColumn(n.relationship.from.name+"_"+n.key()+"_"+strconv.Itoa(n.depth), name, columns)
}

// lastKey is the name of a part of JSON: the last key of its path, or the column's.
func lastKey(f field) string {
	for _, step := range slices.Backward(f.path) {
		if !step.index {
			return step.key
		}
	}
	return f.name
}

func (p *planner) resolveWhere(n *node) *Error {
	for _, c := range n.conditions {
		t, err := n.test(c)
		if err != nil {
			return err
		}
		n.where = append(n.where, t)
	}
	return nil
}

func (n *node) test(c condition) (*test, *Error) {
	t := &test{negated: c.negated, or: c.or, filter: c.filter}
	for _, part := range c.parts {
		found, err := n.test(part)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, found)
	}
	if c.filter == nil {
		return t, nil
	}
	if c.filter.operator == "is" && c.filter.value == "null" && len(c.filter.path) == 0 {
		for _, e := range n.embeds {
			if e.key() == c.filter.name {
				t.embed = e
				return t, nil
			}
		}
	}
	var err *Error
	t.column, err = n.column(c.filter.name)
	return t, err
}

// rowCount is what count without brackets, and without a column of that name, is: PostgreSQL reads the column of a row
// that has none as a function of it. Clients write relation(count), also where aggregates are forbidden.
var rowCount = &column{name: "count", typ: "bigint"}

// column finds a column of a node.
func (n *node) column(name string) (*column, *Error) {
	known := n.known()
	if n.relation != nil && n.relation.byName[name] != nil {
		return n.relation.byName[name], nil
	}
	if i := slices.IndexFunc(known, func(c *column) bool { return c.name == name }); i >= 0 {
		return known[i], nil
	}
	if name == rowCount.name {
		return rowCount, nil
	}
	return nil, unknownColumn(n.label, name, known)
}

// unknownColumn is the answer that PostgreSQL would give: a column that is not in the cache is in no statement.
func unknownColumn(label, name string, columns []*column) *Error {
	const far = 4
	best, near := far, []string{}
	for _, c := range columns {
		distance := levenshtein.ComputeDistance(c.name, name)
		if distance > len(name)/2 || distance > best || distance >= far {
			continue
		}
		if distance < best {
			best, near = distance, nil
		}
		near = append(near, `the column "`+label+"."+c.name+`"`)
	}
	e := refuse(statusBadRequest, "42703", "column "+label+"."+name+" does not exist")
	if len(near) == 0 || len(near) > 2 {
		return e
	}
	return e.hinted("Perhaps you meant to reference " + strings.Join(near, " or ") + ".")
}

// How alike a name must be to be proposed, of 1.
const (
	sureOfName = 0.75 // names may reveal what the caller is not to see
	likely     = 0.33
)

// nearest is the name that is most like another one; "" when none is alike enough. As in the library of PostgREST, a
// name is only looked at if it shares letters in a row with the other, three or else two.
func nearest(name string, names []string, least float64) string {
	slices.Sort(names)
	for _, size := range []int{3, 2} {
		best, most := "", 0.0
		for _, known := range names {
			a, b := strings.ToLower(name), strings.ToLower(known)
			longest := max(len([]rune(a)), len([]rune(b)), 1)
			like := 1 - float64(levenshtein.ComputeDistance(a, b))/float64(longest)
			if like >= least && like > most && (a == b || slices.ContainsFunc(grams(a, size), func(g string) bool { return slices.Contains(grams(b, size), g) })) {
				best, most = known, like
			}
		}
		if best != "" {
			return best
		}
	}
	return ""
}

// grams are all runs of a size in a text between dashes, of which only letters, digits, commas and spaces count.
func grams(text string, size int) (runs []string) {
	text = "-" + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ',' || r == ' ' {
			return r
		}
		return -1
	}, text) + "-"
	runes := []rune(text)
	for i := range max(len(runes)-size+1, 0) {
		runs = append(runs, string(runes[i:i+size]))
	}
	return runs
}
