package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// link finds how the embeds of a node relate to it.
func (p *planner) link(n *node) *Error {
	for _, e := range n.embeds {
		r, err := p.findRelationship(n, e)
		if err != nil {
			return err
		}
		e.follow(r, n)
		p.laterals++
		e.number, e.lateral = p.laterals, quote("pgrst_"+strconv.Itoa(p.laterals))
		if !r.toOne() {
			p.lists++
		}
		if err := p.link(e); err != nil {
			return err
		}
	}
	return nil
}

// follow makes a node the relation at the end of a relationship.
func (n *node) follow(r *relationship, parent *node) {
	n.relationship, n.relation = r, r.to
	n.label = r.to.name + "_" + strconv.Itoa(n.depth)
	n.ref = quote(n.label)
	n.from = r.to.sql() + " AS " + n.ref
	equal := func(left string, l *column, right string, r *column) {
		n.joins = append(n.joins, join{left + "." + quote(l.name), right + "." + quote(r.name)})
	}
	switch {
	case r.function != nil:
		n.from = r.function.sql() + "(" + quote(parent.label) + "::" + r.from.sql() + ") AS " + n.ref
		n.parentKey = []string{quote(parent.label) + "::" + r.from.sql()}
	case r.junction != nil:
		table := r.junction.table.sql()
		n.label, n.ref = r.to.name, r.to.sql()
		n.from = r.to.sql() + ", " + table
		for _, pair := range r.junction.targetCols {
			equal(n.ref, pair.from, table, pair.to)
		}
		for _, pair := range r.junction.sourceCols {
			equal(parent.ref, pair.from, table, pair.to)
			n.parentKey = append(n.parentKey, parent.ref+"."+quote(pair.from.name))
		}
	default:
		for _, pair := range r.columns {
			equal(n.ref, pair.to, parent.ref, pair.from)
			n.parentKey = append(n.parentKey, parent.ref+"."+quote(pair.from.name))
		}
	}
}

// findRelationship finds the one between a node and an embed that its name and hint mean.
func (p *planner) findRelationship(parent, e *node) (*relationship, *Error) {
	origin := parent.origin()
	var known, found []*relationship
	for _, r := range p.cache.relationships[qualified{p.schema, origin}] {
		if r.to.schema == p.schema && r.function == nil || r.function != nil && r.function.schema == p.schema {
			known = append(known, r)
			if r.meant(e.name, e.hint) {
				found = append(found, r)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, p.noRelationship(origin, e, known)
	case 1:
		return found[0], nil
	}
	return nil, ambiguous(origin, e.name, found)
}

// origin is the name under which the relationships of a node are found.
func (n *node) origin() string {
	if n.relation != nil {
		return n.relation.name
	}
	return n.label
}

// meant is whether a request means a relationship by the name of its target and a hint.
func (r *relationship) meant(target, hint string) bool {
	if r.function != nil {
		return target == r.function.name
	}
	single := func(name string, of func(columnPair) *column) bool {
		return r.junction == nil && len(r.columns) == 1 && of(r.columns[0]).name == name
	}
	from := func(p columnPair) *column { return p.from }
	to := func(p columnPair) *column { return p.to }
	switch {
	case r.self() && hint == "":
		return target == r.to.name && r.cardinality == oneToMany || r.cardinality == manyToOne && single(target, from)
	case r.self():
		return target == r.to.name && r.cardinality == oneToMany && single(hint, to)
	case hint == "":
		return target == r.to.name || !r.to.view && (r.constraint != "" && target == r.constraint || single(target, from))
	}
	return target == r.to.name && (r.constraint != "" && hint == r.constraint || single(hint, from) || single(hint, to) ||
		r.junction != nil && hint == r.junction.table.name)
}

func (p *planner) noRelationship(origin string, e *node, known []*relationship) *Error {
	err := refuse(statusBadRequest, "PGRST200", "Could not find a relationship between '"+origin+"' and '"+e.name+"' in the schema cache")
	hint := ""
	if e.hint != "" {
		hint = " using the hint '" + e.hint + "'"
	}
	err.details = "Searched for a foreign key relationship between '" + origin + "' and '" + e.name + "'" + hint +
		" in the schema '" + p.schema + "', but no matches were found."
	var names []string
	if _, related := p.cache.relationships[qualified{p.schema, origin}]; related {
		for _, r := range known {
			names = append(names, r.to.name)
		}
		if near := nearest(e.name, names, likely); near != "" && !strings.EqualFold(near, e.name) {
			return err.hinted("Perhaps you meant '" + near + "' instead of '" + e.name + "'.")
		}
		return err
	}
	for of := range p.cache.relationships {
		if of.schema == p.schema {
			names = append(names, of.name)
		}
	}
	if near := nearest(origin, names, likely); near != "" {
		err.hint = "Perhaps you meant '" + near + "' instead of '" + origin + "'."
	}
	return err
}

// A candidate is one of several relationships between two relations, as the answer lists it.
type candidate struct {
	Cardinality  string `json:"cardinality"`
	Embedding    string `json:"embedding"`
	Relationship string `json:"relationship"`
}

func ambiguous(origin, target string, found []*relationship) *Error {
	var list []candidate
	var ways []string
	for _, r := range found {
		list = append(list, candidate{cardinalities[r.cardinality], r.from.name + " with " + r.to.name, r.describe()})
		hint := r.constraint
		if r.junction != nil {
			hint = r.junction.table.name
		}
		ways = append(ways, "'"+r.to.name+"!"+hint+"'")
	}
	e := refuse(http.StatusMultipleChoices, "PGRST201", "Could not embed because more than one relationship was found for '"+origin+"' and '"+target+"'")
	e.details = list
	return e.hinted("Try changing '" + target + "' to one of the following: " + strings.Join(ways, ", ") +
		". Find the desired relationship in the 'details' key.")
}

// describe is constraint using a(col) and b(col), or junction using constraint(col) and constraint(col).
func (r *relationship) describe() string {
	list := func(pairs []columnPair, of func(columnPair) *column) string {
		var names []string
		for _, pair := range pairs {
			names = append(names, of(pair).name)
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	from := func(p columnPair) *column { return p.from }
	to := func(p columnPair) *column { return p.to }
	if j := r.junction; j != nil {
		return j.table.name + " using " + j.source + list(j.sourceCols, to) + " and " + j.target + list(j.targetCols, to)
	}
	return r.constraint + " using " + r.from.name + list(r.columns, from) + " and " + r.to.name + list(r.columns, to)
}

// checkAggregates refuses aggregates where they are not enabled, and those that cannot be made.
func (p *planner) checkAggregates(n *node) *Error {
	aggregated := slices.ContainsFunc(n.chosen, func(c selectColumn) bool { return c.aggregate != "" })
	if !p.cfg.Aggregates && (aggregated || n.relationship != nil && n.toManySpread()) {
		return refuse(statusBadRequest, "PGRST123", "Use of aggregate functions is not allowed")
	}
	if n.relationship != nil && n.toManySpread() && (aggregated || slices.ContainsFunc(n.embeds, (*node).hoists)) {
		return refuse(statusBadRequest, "PGRST127", "Feature not implemented").
			detailed("Aggregates are not implemented for one-to-many or many-to-many spreads.")
	}
	for _, e := range n.embeds {
		if err := p.checkAggregates(e); err != nil {
			return err
		}
	}
	return nil
}

// hoists is whether a node leaves aggregates to its parent.
func (n *node) hoists() bool {
	return n.toOneSpread() && (slices.ContainsFunc(n.chosen, func(c selectColumn) bool { return c.aggregate != "" }) ||
		slices.ContainsFunc(n.embeds, (*node).hoists))
}

// planOrder finds what the rows of a node and of its embeds are sorted by.
func (n *node) planOrder() *Error {
	for _, term := range n.orderTerms {
		key := orderKey{term: term, path: term.path}
		if term.relation != "" {
			i := slices.IndexFunc(n.embeds, func(e *node) bool { return e.key() == term.relation })
			if i < 0 {
				return notEmbedded(term.relation)
			}
			if key.embed = n.embeds[i]; !key.embed.relationship.toOne() {
				return refuse(statusBadRequest, "PGRST118", "A related order on '"+term.relation+"' is not possible").
					detailed("'" + n.origin() + "' and '" + term.relation + "' do not form a many-to-one or one-to-one relationship")
			}
		}
		n.order = append(n.order, key)
	}
	for _, e := range n.embeds {
		if err := e.planOrder(); err != nil {
			return err
		}
	}
	return nil
}
