package rest

import (
	"net/http"
	"slices"
	"strings"
)

// planCall finds the function that a request means, and what is read of its result.
func (p *planner) planCall() *Error {
	overloads := p.cache.functions[qualified{p.schema, p.name}]
	keys := p.payload.keys
	if p.safe() {
		keys = nil
		for _, argument := range p.query.arguments {
			keys = append(keys, argument.name)
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	var err *Error
	if p.function, err = p.choose(overloads, keys); err != nil {
		return err
	}
	p.readOnly = p.safe() || p.function.volatility != "v"
	if err := p.planTree(p.resultNode()); err != nil {
		return err
	}
	if p.media, err = negotiate(p.accept); err != nil {
		return err
	}
	if err := p.prefer.check(); err != nil {
		return err
	}
	if p.prefer.strict() && p.prefer.maxAffected != nil && !p.function.set {
		return refuse(statusBadRequest, "PGRST128", "Function must return SETOF or TABLE when max-affected preference is used with handling=strict")
	}
	if err := p.resolve(p.read); err != nil {
		return err
	}
	p.returned = p.read.needs(nil)
	return nil
}

// resultNode reads the result of a function: the rows of a relation, or columns of its own.
func (p *planner) resultNode() *node {
	n := &node{span: p.span}
	if f := p.function; f.composite {
		n.relation, n.results = p.cache.relations[qualified{p.schema, f.result.name}], f.columns
	} else {
		n.results = []*column{{name: scalarName}}
	}
	if n.relation != nil {
		n.source(n.relation.name)
	} else {
		n.source(p.function.name)
	}
	return n
}

// scalarName is the column in which the result of a function stands that is none of rows.
const scalarName = "pgrst_scalar"

// choose finds the one function whose parameters have the names of the arguments; one with a single parameter without a
// name takes a body as a whole.
func (p *planner) choose(overloads []*function, keys []string) (*function, *Error) {
	var named, whole []*function
	for _, f := range overloads {
		switch {
		case p.matches(f, keys):
			named = append(named, f)
		case p.takesBody(f):
			whole = append(whole, f)
		}
	}
	if len(named) == 0 {
		named = whole
	}
	switch len(named) {
	case 0:
		return nil, p.noFunction(keys, overloads)
	case 1:
		return named[0], nil
	}
	return nil, ambiguousFunction(named)
}

func (p *planner) matches(f *function, keys []string) bool {
	if len(f.params) == 0 && !p.safe() && p.rawBody() {
		return false
	}
	for _, param := range f.params {
		if param.required && !slices.Contains(keys, param.name) {
			return false
		}
	}
	return !slices.ContainsFunc(keys, func(key string) bool {
		return !slices.ContainsFunc(f.params, func(param parameter) bool { return param.name == key })
	})
}

// rawBody is whether a body is no object of arguments.
func (p *planner) rawBody() bool {
	return p.content == mediaText || p.content == mediaXML || p.content == mediaBytes
}

func (p *planner) takesBody(f *function) bool {
	if p.safe() || len(f.params) != 1 || f.params[0].name != "" {
		return false
	}
	types := map[mediaType][]string{mediaJSON: {"json", "jsonb"}, mediaText: {"text"}, mediaXML: {"xml"}, mediaBytes: {"bytea"}}
	return slices.Contains(types[p.content], f.params[0].typ)
}

func (p *planner) noFunction(keys []string, overloads []*function) *Error {
	name := p.schema + "." + p.name
	list := strings.Join(keys, ", ")
	wanted, searched := "("+list+")", " with parameters "+list
	switch len(keys) {
	case 0:
		wanted, searched = " without parameters", " without parameters"
	case 1:
		searched = " with parameter " + list
	}
	if p.method == http.MethodPost {
		switch p.content {
		case mediaText:
			wanted, searched = "", " with a single unnamed text parameter"
		case mediaXML:
			wanted, searched = "", " with a single unnamed xml parameter"
		case mediaBytes:
			wanted, searched = "", " with a single unnamed bytea parameter"
		case mediaJSON:
			searched += " or with a single unnamed json/jsonb parameter"
		}
	}
	e := refuse(http.StatusNotFound, "PGRST202", "Could not find the function "+name+wanted+" in the schema cache")
	e.details = "Searched for the function " + name + searched + ", but no matches were found in the schema cache."
	if wanted == "" {
		return e
	}
	if near := p.nearFunction(keys, overloads); near != "" {
		e.hint = "Perhaps you meant to call the function " + p.schema + "." + near
	}
	return e
}

// nearFunction is a function of a similar name, or one of this name with similar parameters.
func (p *planner) nearFunction(keys []string, overloads []*function) string {
	var names []string
	if len(overloads) == 0 {
		for of := range p.cache.functions {
			if of.schema == p.schema {
				names = append(names, of.name)
			}
		}
		return nearest(p.name, names, sureOfName)
	}
	list := func(names []string) string {
		return "(" + strings.Join(slices.Sorted(slices.Values(names)), ", ") + ")"
	}
	for _, f := range overloads {
		var params []string
		for _, param := range f.params {
			params = append(params, param.name)
		}
		names = append(names, list(params))
	}
	if near := nearest(list(keys), names, likely); near != "" {
		return p.name + near
	}
	return ""
}

func ambiguousFunction(found []*function) *Error {
	var list []string
	for _, f := range found {
		var params []string
		for _, param := range f.params {
			params = append(params, param.name+" => "+param.typ)
		}
		list = append(list, f.schema+"."+f.name+"("+strings.Join(params, ", ")+")")
	}
	return refuse(http.StatusMultipleChoices, "PGRST203", "Could not choose the best candidate function between: "+strings.Join(list, ", ")).
		hinted("Try renaming the parameters or the function itself in the database so function overloading can be resolved")
}
