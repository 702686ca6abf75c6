package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// An ask is one question of a tool, and which literals of the body are figures and rows of the result.
type ask struct {
	Path     string            // {argument} is replaced
	When     string            // conditions on arguments under which it is asked
	Takes    string            // arguments that are parameters of it, beside the common ones, with conditions
	Figures  string            // name=pointer, separated by blanks
	Tables   []table           // lists of the body
	Warnings map[string]string // what it means that a list of names at a pointer has one
}

// A table has a list of the body as rows. Pointers of columns begin at a row, or with ^ at what holds the list.
type table struct {
	Name    string // "": the rows of the result itself
	When    string
	Grouped bool   // with group_by the same list of each group, whose name is the first column
	Rows    string // pointers of lists or rows, separated by commas; after /* below each item of a list
	Columns string
}

// A node is a value of a body with its members, if it is an object.
type node struct {
	text    json.RawMessage
	members map[string]json.RawMessage
}

func newNode(text json.RawMessage) node {
	n := node{text: text}
	_ = json.Unmarshal(text, &n.members) // another value has none
	return n
}

// at returns the literal at a pointer. Where an object has a reason in place of the member, that is returned, too.
func (n node) at(pointer string) (literal json.RawMessage, reason string) {
	for pointer != "" {
		name, rest, _ := strings.Cut(pointer[1:], "/")
		member, ok := n.members[name]
		if !ok {
			_ = json.Unmarshal(n.members["reason"], &reason) // "" without one
			return json.RawMessage("null"), reason
		}
		if rest == "" {
			return member, ""
		}
		n, pointer = newNode(member), "/"+rest
	}
	return n.text, ""
}

// list returns the items of the list at a pointer, or the object there.
func (n node) list(pointer string) (items []json.RawMessage) {
	text, _ := n.at(pointer)
	if bytes.HasPrefix(text, []byte("{")) {
		return []json.RawMessage{text}
	}
	_ = json.Unmarshal(text, &items) // null has none
	return items
}

// A result is the members of a JSON object, in their order.
type result struct {
	members  []byte
	warnings []string
	isEmpty  bool
	longest  int // rows of a table
	maxRows  int // of a table, and
	maxText  int // characters of an answer, which cut what makes a result too long
}

func (r *result) set(name string, value any) {
	r.members = fmt.Appendf(slices.Clip(r.members), ",%q:%s", name, encode(value))
}

func (r *result) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, text) {
		r.warnings = append(slices.Clip(r.warnings), text)
	}
}

// object returns the result as compact JSON.
func (r *result) object() json.RawMessage {
	if len(r.warnings) > 0 {
		r.set("warnings", r.warnings)
	}
	return slices.Concat([]byte("{"), bytes.TrimPrefix(r.members, []byte(",")), []byte("}"))
}

// encode writes JSON as /api/v1 does, without HTML escapes. Literals stay as they are.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // texts, and literals of a body that was valid
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// project adds the figures and tables of a body.
func (r *result) project(a ask, body json.RawMessage, args arguments) {
	root := newNode(body)
	names, pointers := pairs(a.Figures)
	for i, name := range names {
		literal := r.cell(root, node{}, pointers[i])
		r.isEmpty = r.isEmpty || name == "n" && string(literal) == "0"
		if name == "text" {
			r.setText(literal)
			continue
		}
		r.set(name, literal)
	}
	for pointer, meaning := range a.Warnings {
		for _, name := range root.list(pointer) {
			r.warn("%s %s", strings.Trim(string(name), `"`), meaning)
		}
	}
	for _, t := range a.Tables {
		if args.match(t.When) {
			r.addTable(a, t, root, args)
		}
	}
	if next, _ := root.at("/next_cursor"); string(next) != "null" {
		r.set("next", next)
	}
}

// setText sets the text of an answer, as far as there is room.
func (r *result) setText(literal json.RawMessage) {
	var text string
	_ = json.Unmarshal(literal, &text) // it is a text
	if runes := []rune(text); len(runes) > r.maxText {
		r.set("text", string(runes[:r.maxText]))
		r.set("text_truncated", true)
		return
	}
	r.set("text", literal)
}

// cell returns the literal that a pointer names. The last name may be several, separated by commas: their list, or null
// without the first.
func (r *result) cell(row, holder node, pointer string) json.RawMessage {
	if above, ok := strings.CutPrefix(pointer, "^"); ok {
		row, pointer = holder, above
	}
	last := pointer[strings.LastIndex(pointer, "/")+1:]
	var cells [][]byte
	for name := range strings.SplitSeq(last, ",") {
		literal, reason := row.at(strings.TrimSuffix(pointer, last) + name)
		if reason != "" {
			r.warn("%s", reason)
		}
		cells = append(cells, literal)
	}
	if len(cells) == 1 || string(cells[0]) == "null" {
		return cells[0]
	}
	return slices.Concat([]byte("["), bytes.Join(cells, []byte(",")), []byte("]"))
}

// addTable adds a list of a body as columns and rows.
func (r *result) addTable(a ask, t table, root node, args arguments) {
	at, columns := t.Rows, t.Columns
	if t.Grouped && args.match("group_by") {
		at, columns = "/groups/*"+at, "group=^/name "+columns
	}
	holders, children := []node{root}, at
	if list, below, ok := strings.Cut(at, "/*"); ok {
		holders, children = nil, below
		for _, item := range root.list(list) {
			holders = append(holders, newNode(item))
		}
	}
	names, pointers := pairs(columns)
	rows := [][]json.RawMessage{}
	for _, holder := range holders {
		for child := range strings.SplitSeq(children, ",") {
			for _, item := range holder.list(child) {
				row, cells := newNode(item), make([]json.RawMessage, len(pointers))
				for i, pointer := range pointers {
					cells[i] = r.cell(row, holder, pointer)
				}
				rows = append(rows, cells)
			}
		}
	}
	if limit := args.number("limit"); limit > 0 && !slices.Contains(a.taken(args), "limit") {
		rows = rows[:min(len(rows), limit)]
	}
	r.longest = max(r.longest, len(rows))
	if limit := r.maxRows; len(rows) > limit {
		r.warn("only %d of %d rows fit: ask with filters, or for a shorter window", limit, len(rows))
		rows = rows[:limit]
	}
	if t.Name != "" {
		r.set(t.Name, map[string]any{"columns": names, "rows": rows})
		return
	}
	r.isEmpty = r.isEmpty || len(rows) == 0
	r.set("columns", names)
	r.set("rows", rows)
}

// pairs separates names and pointers.
func pairs(columns string) (names, pointers []string) {
	for column := range strings.FieldsSeq(columns) {
		name, pointer, _ := strings.Cut(column, "=")
		names, pointers = append(names, name), append(pointers, pointer)
	}
	return names, pointers
}
