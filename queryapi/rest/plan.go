package rest

import (
	"net/http"
	"slices"
	"strings"
)

// A plan is a request whose names have been found in the cache.
type plan struct {
	*request
	relation *relation // of everything but a call
	function *function // of a call
	read     *node     // what is answered
	media    mediaType
	readOnly bool
	maxRows  *int64
	maxBytes int64 // of the body; 0: no bound

	columns  []*column // that are written
	conflict []*column // the key by which rows are merged or ignored
	where    []*test   // which rows are updated, deleted or put
	returned []*column // that read needs of what was written; nil is all
	unread   bool      // nothing of what was written is answered
	casts    []string  // names of types, to be found in the database
	lists    int       // embeds of many rows
}

// planner finds names of one request.
type planner struct {
	*plan
	cache    *cache
	cfg      Config
	laterals int // subqueries so far
}

func (c *cache) plan(r *request, cfg Config) (*plan, *Error) {
	p := &planner{plan: &plan{request: r, maxRows: cfg.MaxRows, maxBytes: cfg.MaxBytes, readOnly: r.method == http.MethodGet || r.method == http.MethodHead}, cache: c, cfg: cfg}
	switch r.action {
	case actionInfoRoot:
		return p.plan, nil
	case actionCall, actionInfoCall:
		return p.plan, p.planCall()
	}
	if p.relation = c.relations[qualified{r.schema, r.name}]; p.relation == nil {
		return nil, c.noTable(r.schema, r.name)
	}
	if r.action == actionInfo {
		return p.plan, nil
	}
	if err := p.planTable(); err != nil {
		return nil, err
	}
	return p.plan, nil
}

func (p *planner) planTable() *Error {
	root := &node{relation: p.relation, label: p.relation.name, ref: p.relation.sql(), from: p.relation.sql(), span: p.request.span}
	if p.action.writes() {
		root.source(p.relation.name)
		root.span = everything
	}
	if err := p.planTree(root); err != nil {
		return err
	}
	if p.action.writes() {
		if err := p.planWrite(); err != nil {
			return err
		}
		if err := p.prefer.check(); err != nil {
			return err
		}
	}
	var err *Error
	if p.media, err = negotiate(p.accept); err != nil {
		return err
	}
	if err := p.prefer.check(); err != nil {
		return err
	}
	if p.action.writes() {
		return p.planReturning()
	}
	return p.resolve(p.read)
}

// planTree makes the tree of what is read: embeds, what filters, sorts and bounds each, and how they relate. The last
// parameter comes first, as in PostgREST, where the order of embeds shows it.
func (p *planner) planTree(root *node) *Error {
	p.read = root
	root.grow(p.query.selection, p.cfg.MaxRows)
	for _, f := range slices.Backward(p.query.filters) {
		if len(f.path) == 0 && p.action.writes() {
			continue // it says what is written
		}
		if err := root.at(f.path, func(n *node) { n.conditions = append(n.conditions, condition{filter: &f.what}) }); err != nil {
			return err
		}
	}
	for _, o := range slices.Backward(p.query.orders) {
		if err := root.at(o.path, func(n *node) { n.orderTerms = o.what }); err != nil {
			return err
		}
	}
	for _, s := range p.query.spans {
		bounded := s.what.capped(p.cfg.MaxRows)
		if p.action.writes() {
			bounded = everything
		}
		if err := root.at(s.path, func(n *node) { n.span = bounded }); err != nil {
			return err
		}
	}
	if !p.action.writes() {
		root.span = root.span.capped(p.cfg.rowsToRead())
	}
	for _, c := range slices.Backward(p.query.conditions) {
		if len(c.path) == 0 && p.action.writes() {
			continue
		}
		if err := root.at(c.path, func(n *node) { n.conditions = append(n.conditions, c.what) }); err != nil {
			return err
		}
	}
	if err := p.link(root); err != nil {
		return err
	}
	if err := root.planOrder(); err != nil {
		return err
	}
	return p.checkAggregates(root)
}

// noTable says that a relation is not exposed, and which one may be meant.
func (c *cache) noTable(schema, name string) *Error {
	var names []string
	for of := range c.relations {
		if of.schema == schema {
			names = append(names, of.name)
		}
	}
	e := refuse(http.StatusNotFound, "PGRST205", "Could not find the table '"+schema+"."+name+"' in the schema cache")
	if near := nearest(name, names, sureOfName); near != "" {
		e.hint = "Perhaps you meant the table '" + schema + "." + near + "'"
	}
	return e
}

// planWrite finds the columns that are written, and the rows.
func (p *planner) planWrite() *Error {
	if p.action == actionUpsert {
		if err := p.checkPut(); err != nil {
			return err
		}
	}
	if p.action != actionDelete {
		for _, key := range p.payload.keys {
			column := p.relation.byName[key]
			if column == nil || !slices.Contains(p.relation.columns, column) {
				return refuse(statusBadRequest, "PGRST204", "Could not find the '"+key+"' column of '"+p.relation.name+"' in the schema cache")
			}
			p.columns = append(p.columns, column)
		}
	}
	return nil
}

// checkPut wants every column of the primary key to equal something, and nothing else.
func (p *planner) checkPut() *Error {
	var names []string
	for _, c := range p.relation.key {
		names = append(names, c.name)
	}
	keys := slices.Compact(slices.Sorted(slices.Values(p.query.keys)))
	slices.Sort(names)
	right := len(names) > 0 && slices.Equal(names, keys) && !slices.ContainsFunc(p.query.conditions, func(c placed[condition]) bool { return len(c.path) == 0 })
	for _, f := range p.query.filters {
		right = right && len(f.path) == 0 && f.what.operator == "eq" && !f.what.negated && f.what.each == ""
	}
	if !right {
		return refuse(http.StatusMethodNotAllowed, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
	}
	return nil
}

// planReturning finds the key of an upsert, the rows that are written, and what of them is needed afterwards.
func (p *planner) planReturning() *Error {
	target := &node{relation: p.relation, label: p.relation.name, ref: p.relation.sql()}
	if p.action == actionUpsert {
		target.label, target.ref = "pgrst_body", quote("pgrst_body")
	}
	if err := p.planConflict(); err != nil {
		return err
	}
	for _, f := range p.query.filters {
		if len(f.path) == 0 {
			target.conditions = append(target.conditions, condition{filter: &f.what})
		}
	}
	for _, c := range p.query.conditions {
		if len(c.path) == 0 {
			target.conditions = append(target.conditions, c.what)
		}
	}
	if p.action != actionInsert {
		if err := p.resolveWhere(target); err != nil {
			return err
		}
		p.where = target.where
	}
	p.unread = p.prefer.returns == "" || p.prefer.returns == "minimal"
	if p.prefer.returns != "representation" {
		p.returned = p.relation.key
		return nil
	}
	if err := p.resolve(p.read); err != nil {
		return err
	}
	p.returned = p.read.needs(p.relation.key)
	return nil
}

func (p *planner) planConflict() *Error {
	switch {
	case p.action == actionUpsert:
		p.conflict = p.relation.key
	case p.action != actionInsert || p.prefer.resolution == "":
	case p.query.onConflict == nil:
		p.conflict = p.relation.key
	default:
		for _, name := range p.query.onConflict {
			column := p.relation.byName[name]
			if column == nil {
				return refuse(statusBadRequest, "42703", `column "`+name+`" does not exist`)
			}
			p.conflict = append(p.conflict, column)
		}
	}
	return nil
}

// needs are the columns that a result must have for everything that is read of it; nil is all.
func (n *node) needs(key []*column) []*column {
	columns := slices.Clone(key)
	for _, o := range n.outputs {
		if o.star {
			return nil
		}
		columns = append(columns, o.column)
	}
	for _, o := range n.order {
		if o.embed == nil {
			columns = append(columns, o.column)
		}
	}
	for _, t := range n.where {
		columns = t.columns(columns)
	}
	for _, e := range n.embeds {
		r := e.relationship
		if r.function != nil {
			return nil
		}
		for _, pair := range r.columns {
			columns = append(columns, pair.from)
		}
		if r.junction != nil {
			for _, pair := range r.junction.sourceCols {
				columns = append(columns, pair.from)
			}
		}
	}
	slices.SortFunc(columns, func(a, b *column) int { return strings.Compare(a.name, b.name) })
	columns = slices.Compact(columns)
	if len(columns) == 0 && len(n.outputs) == 0 && len(n.embeds) == 0 {
		return nil
	}
	return columns
}

// A node is a relation, or the result of a function, of which rows are read: the one of the request, or an embed.
type node struct {
	relation     *relation // nil: the result of a function that is none
	results      []*column // of such a function
	name, alias  string    // of an embed, as the request has them
	hint         string
	inner        bool
	spread       bool // its columns become those of its parent
	depth        int
	relationship *relationship // from the parent; nil: the node of the request

	label   string // what PostgreSQL calls it in messages
	ref     string // SQL before the names of its columns
	from    string // SQL of what is read
	lateral string // name of the subquery of an embed
	number  int    // of that subquery

	parentKey []string // SQL of what tells the parent's rows apart
	joins     []join   // to the parent

	chosen     []selectColumn // as the request has them …
	conditions []condition
	orderTerms []orderTerm
	outputs    []output // … and as they were found
	where      []*test
	order      []orderKey
	span       span
	embeds     []*node
}

// join is an equation between two columns, both SQL.
type join struct{ left, right string }

// An output is one column of a result.
type output struct {
	star                           bool // all columns, or of an aggregate: the row
	column                         *column
	path                           []jsonStep
	alias                          string // "" is the column's name
	cast, aggregate, aggregateCast string
}

// A test is a condition whose names were found.
type test struct {
	negated, or bool
	parts       []*test

	filter *filter // nil: parts are combined
	column *column
	embed  *node // whose absence is tested
}

// columns appends the columns that a test looks at.
func (t *test) columns(to []*column) []*column {
	if t.column != nil {
		to = append(to, t.column)
	}
	for _, part := range t.parts {
		to = part.columns(to)
	}
	return to
}

// An orderKey is what rows are sorted by.
type orderKey struct {
	column *column
	path   []jsonStep
	embed  *node // whose column it is; nil: the node's own
	term   orderTerm
}

const sourceName = "pgrst_source"

// source lets a node read what a statement wrote or a function returned, under a label.
func (n *node) source(label string) {
	n.label, n.ref, n.from = label, quote(label), quote(sourceName)+" AS "+quote(label)
}

// grow adds what a selection wants.
func (n *node) grow(s selection, maxRows *int64) {
	n.chosen = s.columns
	for _, e := range s.embeds {
		child := &node{name: e.name, alias: e.alias, hint: e.hint, inner: e.inner, spread: e.spread, depth: n.depth + 1, span: everything.capped(maxRows)}
		child.grow(e.selection, maxRows)
		n.embeds = append(n.embeds, child)
	}
}

// key is the name that an embed has in the result.
func (n *node) key() string {
	if n.alias != "" {
		return n.alias
	}
	return n.name
}

// at does something to the embed at a path, which then stands before others in the result.
func (n *node) at(path []string, do func(*node)) *Error {
	if len(path) == 0 {
		do(n)
		return nil
	}
	for i, e := range n.embeds {
		if e.name == path[0] || e.alias == path[0] {
			n.embeds = slices.Insert(slices.Delete(n.embeds, i, i+1), 0, e)
			return e.at(path[1:], do)
		}
	}
	return notEmbedded(path[0])
}

func notEmbedded(name string) *Error {
	return refuse(http.StatusBadRequest, "PGRST108", "'"+name+"' is not an embedded resource in this request").
		hinted("Verify that '" + name + "' is included in the 'select' query parameter.")
}

// toOneSpread is whether a node gives its parent single values.
func (n *node) toOneSpread() bool { return n.spread && n.relationship.toOne() }

// toManySpread is whether a node gives its parent arrays of values.
func (n *node) toManySpread() bool { return n.spread && !n.relationship.toOne() }

// empty is whether an embed shows nothing, and only filters.
func (n *node) empty() bool {
	if len(n.chosen) > 0 {
		return false
	}
	for _, e := range n.embeds {
		if !e.empty() {
			return false
		}
	}
	return true
}

// name is that of an output in the result.
func (o output) name() string {
	switch {
	case o.alias != "":
		return o.alias
	case o.star && o.aggregate != "":
		return "count"
	}
	return o.column.name
}
