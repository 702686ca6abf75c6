package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// A plan is a request whose names were found in the schema.
type plan struct {
	*request
	schemas  *schemaCache
	caller   Caller
	prepared string    // for the function, by a Preparer
	relation *relation // nil: a call
	function *function // nil: no call
	read     *node     // what the response shows
	media    mediaType
	readOnly bool
	maxRows  *int64
	maxBytes int64 // of the body; 0: no bound

	written   []*column   // columns
	conflict  []*column   // the key by which rows are merged or ignored
	where     []condition // which rows are updated, deleted or put
	returning []*column   // columns that the statement returns for read; nil: all
	casts     []string    // names of types that the database resolves
	lists     int         // embeds of many rows
}

// A planner finds the names of one request.
type planner struct {
	*plan
	cfg      Config
	laterals int // subqueries so far
}

// newPlan returns the plan of a request, or refuses names that the schema does not have.
func newPlan(r *request, schemas *schemaCache, cfg Config) (*plan, error) {
	p := &planner{cfg: cfg, plan: &plan{
		request: r, schemas: schemas, maxRows: cfg.MaxRows, maxBytes: cfg.MaxBytes,
		readOnly: r.method == http.MethodGet || r.method == http.MethodHead,
	}}
	var err error
	switch r.action {
	case actionInfoRoot:
	case actionCall, actionInfoCall:
		err = p.planCall()
	default:
		err = p.planRelation()
	}
	return p.plan, err
}

func (p *planner) planRelation() error {
	name := qualified{p.schema, p.name}
	if p.relation = p.schemas.relations[name]; p.relation == nil {
		return p.schemas.relationNotFound(name)
	}
	switch {
	case p.action == actionInfo:
		return nil
	case p.action.writes():
		return p.planWrite()
	}
	return p.planRead(&node{
		relation: p.relation, label: p.relation.name, ref: p.relation.sql(), from: p.relation.sql(), rows: p.rows,
	})
}

// planRead plans a result that begins at root.
func (p *planner) planRead(root *node) error {
	if err := p.planTree(root); err != nil {
		return err
	}
	var err error
	if p.media, err = negotiate(p.accept); err != nil {
		return err
	}
	if err := cmp.Or(p.prefer.check(), p.checkMaxAffected()); err != nil {
		return err
	}
	return p.resolve(root)
}

// planTree makes the tree of nodes: embeds, the conditions, order and range of each, and their relationships. As in
// PostgREST the last parameter comes first, which the order of embeds shows.
func (p *planner) planTree(root *node) error {
	p.read = root
	root.addSelection(p.query.selection, p.cfg.MaxRows)
	if err := p.addConditions(root, p.query.filters); err != nil {
		return err
	}
	for _, o := range slices.Backward(p.query.orders) {
		if err := root.withEmbed(o.path, func(n *node) { n.order = o.value }); err != nil {
			return err
		}
	}
	for _, r := range p.query.ranges {
		rows := r.value.atMost(p.cfg.MaxRows)
		if p.action.writes() {
			rows = allRows
		}
		if err := root.withEmbed(r.path, func(n *node) { n.rows = rows }); err != nil {
			return err
		}
	}
	if !p.action.writes() {
		root.rows = root.rows.atMost(p.cfg.rowsToRead())
	}
	if err := p.addConditions(root, p.query.logic); err != nil {
		return err
	}
	if err := p.link(root); err != nil {
		return err
	}
	if err := root.planOrder(); err != nil {
		return err
	}
	return p.checkAggregates(root)
}

// addConditions adds conditions to the nodes at their paths. A write has its own conditions on its relation.
func (p *planner) addConditions(root *node, conditions []scoped[condition]) error {
	for _, c := range slices.Backward(conditions) {
		if len(c.path) == 0 && p.action.writes() {
			continue
		}
		if err := root.withEmbed(c.path, func(n *node) { n.where = append(n.where, c.value) }); err != nil {
			return err
		}
	}
	return nil
}

// planWrite plans an insert, update, upsert or delete, and the result that shows the written rows.
func (p *planner) planWrite() error {
	root := &node{relation: p.relation, rows: allRows}
	root.readFrom(p.relation.name)
	if err := p.planTree(root); err != nil {
		return err
	}
	if err := p.planColumns(); err != nil {
		return err
	}
	if err := p.prefer.check(); err != nil {
		return err
	}
	var err error
	if p.media, err = negotiate(p.accept); err != nil {
		return err
	}
	if err := p.planConflict(); err != nil {
		return err
	}
	if p.action != actionInsert {
		if err := p.planWhere(); err != nil {
			return err
		}
	}
	if p.prefer.returns != "representation" {
		p.returning = p.relation.key
		return nil
	}
	if err := p.resolve(p.read); err != nil {
		return err
	}
	p.returning = p.read.neededColumns(p.relation.key)
	return nil
}

func (p *planner) planColumns() error {
	switch p.action {
	case actionDelete:
		return nil
	case actionUpsert:
		if !p.filtersByKey() {
			return refuse(http.StatusMethodNotAllowed, "PGRST105",
				"Filters must include all and only primary key columns with 'eq' operators")
		}
	}
	for _, key := range p.payload.keys {
		column := p.relation.byName[key]
		if column == nil || !slices.Contains(p.relation.columns, column) {
			return badRequest("PGRST204",
				"Could not find the '"+key+"' column of '"+p.relation.name+"' in the schema cache")
		}
		p.written = append(p.written, column)
	}
	return nil
}

// filtersByKey reports whether the filters are one eq for each column of the primary key.
func (p *planner) filtersByKey() bool {
	keys := slices.Compact(slices.Sorted(slices.Values(p.query.filterKeys)))
	if len(p.relation.key) == 0 || !slices.Equal(keys, slices.Sorted(slices.Values(columnNames(p.relation.key)))) {
		return false
	}
	for _, c := range p.query.logic {
		if len(c.path) == 0 {
			return false
		}
	}
	for _, c := range p.query.filters {
		if f := c.value.filter; len(c.path) > 0 || f.operator != "eq" || f.negated || f.quantifier != "" {
			return false
		}
	}
	return true
}

// planConflict finds the key of an upsert.
func (p *planner) planConflict() error {
	switch {
	case p.action == actionUpsert, p.action == actionInsert && p.prefer.resolution != "" && p.query.onConflict == nil:
		p.conflict = p.relation.key
	case p.action == actionInsert && p.prefer.resolution != "":
		for _, name := range p.query.onConflict {
			column := p.relation.byName[name]
			if column == nil {
				return badRequest("42703", `column "`+name+`" does not exist`)
			}
			p.conflict = append(p.conflict, column)
		}
	}
	return nil
}

// planWhere finds the columns of the conditions on the rows to write.
func (p *planner) planWhere() error {
	target := &node{relation: p.relation, label: p.relation.name, ref: p.relation.sql()}
	if p.action == actionUpsert {
		target.label = "pgrst_body"
	}
	for _, c := range slices.Concat(p.query.filters, p.query.logic) {
		if len(c.path) == 0 {
			target.where = append(target.where, c.value)
		}
	}
	p.where = target.where
	return target.resolveConditions(p.where)
}

// returnsNothing reports whether the statement of a write returns no columns.
func (p *plan) returnsNothing() bool {
	return p.prefer.returns == "" || p.prefer.returns == "minimal" ||
		p.prefer.returns == "headers-only" && len(p.returning) == 0
}

// A node is a relation, or the result of a function, whose rows are read: the one of the request, or an embed.
type node struct {
	relation     *relation // nil: the result of a function that returns no relation
	results      []*column // of such a function
	name, alias  string    // of an embed, as in the request
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

	parentKey []string // SQL of the parent's columns that joins compare
	joins     []join   // to the parent

	columns []selectColumn
	where   []condition
	order   []orderTerm
	rows    rowRange
	embeds  []*node
}

// A join is an equation between two columns, both SQL.
type join struct{ left, right string }

const sourceName = "pgrst_source"

// readFrom makes a node read what a statement wrote or a function returned, under a label.
func (n *node) readFrom(label string) {
	n.label, n.ref, n.from = label, quote(label), quote(sourceName)+" AS "+quote(label)
}

// neededColumns returns key and the columns that reading n takes; nil for all.
func (n *node) neededColumns(key []*column) []*column {
	columns := slices.Clone(key)
	for _, c := range n.columns {
		if c.star() {
			return nil
		}
		columns = append(columns, c.column)
	}
	for _, term := range n.order {
		if term.embed == nil {
			columns = append(columns, term.column)
		}
	}
	for _, c := range n.where {
		columns = c.addColumns(columns)
	}
	for _, e := range n.embeds {
		pairs := e.relationship.columns
		switch {
		case e.relationship.function != nil:
			return nil
		case e.relationship.junction != nil:
			pairs = e.relationship.junction.sourceCols
		}
		for _, pair := range pairs {
			columns = append(columns, pair.from)
		}
	}
	slices.SortFunc(columns, func(a, b *column) int { return strings.Compare(a.name, b.name) })
	columns = slices.Compact(columns)
	if len(columns) == 0 && len(n.columns) == 0 && len(n.embeds) == 0 {
		return nil
	}
	return columns
}

// addColumns appends the columns that a condition looks at.
func (c condition) addColumns(to []*column) []*column {
	if c.filter != nil && c.column != nil {
		to = append(to, c.column)
	}
	for _, part := range c.parts {
		to = part.addColumns(to)
	}
	return to
}
