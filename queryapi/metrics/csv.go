package metrics

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A table is a list of a body, as CSV has it: a line for each row, a column for each field. A field that is an object
// has a column for each of its own, named <field>_<own>; a list of texts is one cell; a list of objects is a table of
// its own, named <list>.<field>, which begins with the columns of the row around it, named <list>_<field>.
type table struct {
	name   string
	header []string
	rows   func(body reflect.Value) []tableRow
	cells  []tableColumn
}

// A tableRow is a row of a list, after the cells of the rows around it.
type tableRow struct {
	around []string
	value  reflect.Value // invalid: null
}

type tableColumn struct {
	name string
	of   func(row reflect.Value) reflect.Value
}

// tablesOf are the lists of a body in the order of its fields.
func tablesOf[B any]() []table {
	whole := func(body reflect.Value) []tableRow { return []tableRow{{value: body}} }
	return tablesIn(reflect.TypeFor[B](), "", nil, whole, false)
}

// tablesIn are the lists of an object that is in each of rows; header is of the cells around it.
func tablesIn(object reflect.Type, prefix string, header []string, rows func(reflect.Value) []tableRow, inList bool) (all []table) {
	for _, f := range fieldsOf(object) {
		below := func(body reflect.Value) (all []tableRow) {
			for _, row := range rows(body) {
				all = append(all, tableRow{row.around, f.of(row.value)})
			}
			return all
		}
		switch kind := f.kind; {
		case kind.Kind() == reflect.Struct && !isCell(kind):
			all = append(all, tablesIn(kind, prefix+f.dotted(), header, below, inList)...)
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
			own := columnsOf(kind.Elem(), "")
			all = append(all, table{prefix + f.name, append(slices.Clip(header), namesOf(own, "")...), each(below, nil), own})
			around := slices.DeleteFunc(slices.Clone(own), func(c tableColumn) bool { return !hasCell(kind.Elem(), c.name) })
			all = append(all, tablesIn(kind.Elem(), prefix+f.name+".", append(slices.Clip(header), namesOf(around, f.name+"_")...), each(below, around), true)...)
		case kind.Kind() == reflect.Slice && !inList:
			text := tableColumn{f.name, func(row reflect.Value) reflect.Value { return row }}
			all = append(all, table{prefix + f.name, append(slices.Clip(header), f.name), each(below, nil), []tableColumn{text}})
		}
	}
	return all
}

// each are the elements of lists, after the cells of around in them.
func each(lists func(reflect.Value) []tableRow, around []tableColumn) func(reflect.Value) []tableRow {
	return func(body reflect.Value) (all []tableRow) {
		for _, list := range lists(body) {
			for i := 0; list.value.IsValid() && i < list.value.Len(); i++ {
				element := list.value.Index(i)
				all = append(all, tableRow{append(slices.Clip(list.around), cellsOf(around, element)...), element})
			}
		}
		return all
	}
}

// A field of an object, by its name in JSON; that of an embedded struct is "".
type field struct {
	tableColumn
	kind reflect.Type // what a pointer points to
}

func (f field) dotted() string {
	if f.name == "" {
		return ""
	}
	return f.name + "."
}

func fieldsOf(object reflect.Type) (all []field) {
	for i := range object.NumField() {
		f := object.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		of := func(row reflect.Value) reflect.Value {
			if !row.IsValid() {
				return row
			}
			value := row.Field(i)
			if value.Kind() == reflect.Pointer {
				value = value.Elem() // invalid of nil
			}
			return value
		}
		all = append(all, field{tableColumn{name, of}, kind})
	}
	return all
}

func columnsOf(object reflect.Type, prefix string) (all []tableColumn) {
	for _, f := range fieldsOf(object) {
		switch {
		case isCell(f.kind):
			all = append(all, tableColumn{prefix + f.name, f.of})
		case f.kind.Kind() == reflect.Struct:
			name := prefix
			if f.name != "" {
				name += f.name + "_"
			}
			for _, c := range columnsOf(f.kind, name) {
				all = append(all, tableColumn{c.name, func(row reflect.Value) reflect.Value { return c.of(f.of(row)) }})
			}
		}
	}
	return all
}

// isCell says whether values of a type stand in one cell.
func isCell(kind reflect.Type) bool {
	return kind.Implements(reflect.TypeFor[json.Marshaler]()) || kind == reflect.TypeFor[[]string]() ||
		kind.Kind() != reflect.Struct && kind.Kind() != reflect.Slice
}

// hasCell says whether a field of an object, or of a struct embedded in it, is a cell that is no list.
func hasCell(object reflect.Type, name string) bool {
	return slices.ContainsFunc(fieldsOf(object), func(f field) bool {
		return f.name == name && isCell(f.kind) && f.kind.Kind() != reflect.Slice || f.name == "" && hasCell(f.kind, name)
	})
}

func namesOf(columns []tableColumn, prefix string) (names []string) {
	for _, c := range columns {
		names = append(names, prefix+c.name)
	}
	return names
}

func cellsOf(columns []tableColumn, row reflect.Value) (cells []string) {
	for _, c := range columns {
		cells = append(cells, cellOf(c.of(row)))
	}
	return cells
}

// cellOf is empty for null. A text that a spreadsheet would take for a formula begins with an apostrophe.
func cellOf(value reflect.Value) string {
	if !value.IsValid() {
		return ""
	}
	var text string
	switch of := value.Interface().(type) {
	case json.Number:
		return of.String()
	case []string:
		text = strings.Join(of, ", ")
	default:
		if value.Kind() != reflect.String {
			written, _ := json.Marshal(of) // numbers, bools and instants
			return strings.Trim(string(written), `"`)
		}
		text = value.String()
	}
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

// csv writes the table of a body by RFC 4180. Line breaks in a cell stay as they are: the writer's own UseCRLF would
// change those, too.
func (t table) csv(body any) ([]byte, error) {
	lines := [][]string{t.header}
	for _, row := range t.rows(reflect.ValueOf(body)) {
		lines = append(lines, append(slices.Clip(row.around), cellsOf(t.cells, row.value)...))
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for _, line := range lines {
		if err := w.Write(line); err != nil {
			return nil, fmt.Errorf("write %s as CSV: %w", t.name, err)
		}
		w.Flush()
		text.Truncate(text.Len() - len("\n"))
		text.WriteString("\r\n")
	}
	return text.Bytes(), nil
}

// table is the one of an endpoint's tables that a request for CSV means: its only one, leaving those of groups alone
// that were not asked for, or the one that is named.
func (q *query) table(of []table, csv bool) *table {
	var names []string
	for _, t := range of {
		names = append(names, t.name)
	}
	var name string
	var ok bool
	if len(names) > 1 {
		name, ok = q.word("table", names...)
	}
	if !csv || len(q.wrong) > 0 {
		return nil
	}
	if len(q.given["group_by"]) == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "groups") })
	}
	switch {
	case ok && !slices.Contains(names, name):
		q.refuse("table", "group_by with "+name, "no group_by")
		return nil
	case ok:
	case len(names) == 1:
		name = names[0]
	default:
		q.refuse("table", "one of "+strings.Join(names, ", "), "nothing")
		return nil
	}
	return &of[slices.IndexFunc(of, func(t table) bool { return t.name == name })]
}
