package rest

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// An origin is a column of a table, by numbers of the catalog.
type origin struct {
	relation int64
	number   int16
}

// viewOrigins says which columns of views show which columns of tables.
type viewOrigins struct {
	views   []*relation // in the order of their names
	columns map[*relation]map[origin][]*column
}

// viewColumns traces the columns of views to those of tables, through other views too.
func (l *loader) viewColumns(ctx context.Context) (viewOrigins, error) {
	v := viewOrigins{columns: map[*relation]map[origin][]*column{}}
	rows, err := l.tx.Query(ctx, statement("views"), append(slices.Clone(l.cfg.Schemas), l.cfg.SearchPath...))
	if err != nil {
		return v, err
	}
	var view int64
	var tree string
	shown := map[int64][]shownColumn{}
	if _, err = pgx.ForEachRow(rows, []any{&view, &tree}, func() error {
		shown[view] = shownColumns(tree)
		return nil
	}); err != nil {
		return v, err
	}
	for oid, columns := range shown {
		of := l.byOID[oid]
		if of == nil {
			continue
		}
		v.views = append(v.views, of)
		v.columns[of] = map[origin][]*column{}
		for _, c := range columns {
			from := c.origin
			for range len(shown) { // a chain of views is no longer
				below := slices.IndexFunc(shown[from.relation], func(d shownColumn) bool { return d.number == from.number })
				if below < 0 {
					break
				}
				from = shown[from.relation][below].origin
			}
			if column := of.byNumber[c.number]; column != nil {
				v.columns[of][from] = append(v.columns[of][from], column)
			}
		}
	}
	slices.SortFunc(v.views, func(a, b *relation) int {
		return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name)
	})
	return v, nil
}

// A shownColumn is one of a view, and the column that it shows unchanged.
type shownColumn struct {
	number int16
	origin origin
}

// shownColumns reads the parse tree of a view, as the catalog keeps it: ({QUERY … :targetList ({TARGETENTRY … :resno 1
// … :resorigtbl 16390 :resorigcol 2 …} …) …}). Only the entries of the view itself lie four brackets deep.
func shownColumns(tree string) []shownColumn {
	const entryDepth = 4
	var columns []shownColumn
	var entry shownColumn
	var label string // the one that the next token belongs to
	depth, inEntry := 0, false
	for token := range tokens(tree) {
		switch {
		case token == "(" || token == "{":
			depth++
			inEntry = inEntry && depth > entryDepth
			label = token
		case token == ")" || token == "}":
			if depth == entryDepth && inEntry && entry.origin.relation != 0 {
				columns = append(columns, entry)
			}
			inEntry = inEntry && depth > entryDepth
			depth--
		case depth == entryDepth && label == "{":
			inEntry, entry, label = token == "TARGETENTRY", shownColumn{}, ""
		case depth == entryDepth && inEntry && strings.HasPrefix(token, ":"):
			label = token
		case depth == entryDepth && inEntry:
			n, _ := strconv.ParseInt(token, 10, 64) // of other labels it is no number, and not used
			switch label {
			case ":resno":
				entry.number = int16(n)
			case ":resorigtbl":
				entry.origin.relation = n
			case ":resorigcol":
				entry.origin.number = int16(n)
			}
			label = ""
		default:
			label = ""
		}
	}
	return columns
}

// tokens are the brackets and words of a parse tree. A backslash protects what stands behind it.
func tokens(tree string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(tree); i++ {
			c := tree[i]
			if c == '\\' {
				i++
				continue
			}
			if !strings.ContainsRune(" \n(){}", rune(c)) {
				continue
			}
			if i > from && !yield(tree[from:i]) {
				return
			}
			if from = i + 1; c != ' ' && c != '\n' && !yield(string(c)) {
				return
			}
		}
	}
}
