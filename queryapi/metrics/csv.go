package metrics

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A table is a list of a body as CSV: a line for each row, a column for each field. The fields of an object have
// columns named <field>_<member>; a list of texts is one cell; a list of objects is a table of its own, named
// <list>.<field>, which begins with the columns of the row around it, named <list>_<field>.
type table struct {
	name    string
	header  []string
	lists   []list // from the body to the rows
	columns []column
}

// A list leads from an object to the elements of a slice in it.
type list struct {
	index  []int    // of fields
	repeat []column // of each element, before the rows of the lists in it
}

// A column leads from a row to a field of it or of an object in it.
type column struct {
	name   string
	index  []int
	repeat bool // in the tables of lists in the row
}

// tablesOf returns the lists of a body in the order of its fields.
func tablesOf[B any]() []table { return tablesIn(reflect.TypeFor[B](), table{}, "", nil) }

// tablesIn returns the lists in an object, to which index leads from a row of parent.
func tablesIn(object reflect.Type, parent table, prefix string, index []int) (tables []table) {
	for i := range object.NumField() {
		name, kind, index := fieldName(object.Field(i)), indirect(object.Field(i).Type), append(slices.Clip(index), i)
		lists := append(slices.Clip(parent.lists), list{index: index})
		switch {
		case object.Field(i).Tag.Get("csv") == "-":
		case kind.Kind() == reflect.Struct && !isCell(kind):
			if name != "" {
				name += "."
			}
			tables = append(tables, tablesIn(kind, parent, prefix+name, index)...)
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
			columns := columnsOf(kind.Elem(), "", nil)
			t := table{name: prefix + name, header: slices.Clip(parent.header), lists: lists, columns: columns}
			nested := table{header: slices.Clip(parent.header), lists: slices.Clone(lists)}
			for _, c := range columns {
				t.header = append(t.header, c.name)
				if c.repeat {
					nested.header = append(nested.header, name+"_"+c.name)
					nested.lists[len(lists)-1].repeat = append(nested.lists[len(lists)-1].repeat, c)
				}
			}
			tables = append(append(tables, t), tablesIn(kind.Elem(), nested, t.name+".", nil)...)
		case kind.Kind() == reflect.Slice && len(parent.lists) == 0: // of texts
			tables = append(tables, table{prefix + name, []string{name}, lists, []column{{name: name}}})
		}
	}
	return tables
}

// columnsOf returns the cells of an object, to which index leads from a row.
func columnsOf(object reflect.Type, prefix string, index []int) (columns []column) {
	for i := range object.NumField() {
		name, kind, index := fieldName(object.Field(i)), indirect(object.Field(i).Type), append(slices.Clip(index), i)
		switch {
		case isCell(kind):
			columns = append(columns, column{prefix + name, index, prefix == "" && kind.Kind() != reflect.Slice})
		case kind.Kind() == reflect.Struct:
			if name != "" {
				name += "_"
			}
			columns = append(columns, columnsOf(kind, prefix+name, index)...)
		}
	}
	return columns
}

// fieldName returns the name of a field in JSON; "" of an embedded struct.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// isCell reports whether values of a type stand in one cell.
func isCell(kind reflect.Type) bool {
	return kind.Implements(reflect.TypeFor[json.Marshaler]()) || kind == reflect.TypeFor[[]string]() ||
		kind.Kind() != reflect.Struct && kind.Kind() != reflect.Slice
}

// valueAt follows the indexes of fields; the result is invalid where one of them is null.
func valueAt(value reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if value = value.Field(i); value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if !value.IsValid() {
			break
		}
	}
	return value
}

// lines returns the rows in an object, which lists lead to, after the cells of the rows around them.
func (t table) lines(object reflect.Value, lists []list, around []string) (lines [][]string) {
	elements := valueAt(object, lists[0].index)
	for i := 0; elements.IsValid() && i < elements.Len(); i++ {
		row := elements.Index(i)
		if len(lists) == 1 {
			lines = append(lines, appendCells(slices.Clip(around), t.columns, row))
		} else {
			lines = append(lines, t.lines(row, lists[1:], appendCells(slices.Clip(around), lists[0].repeat, row))...)
		}
	}
	return lines
}

func appendCells(cells []string, columns []column, row reflect.Value) []string {
	for _, c := range columns {
		cells = append(cells, cellText(valueAt(row, c.index)))
	}
	return cells
}

// cellText returns "" for null. A text that a spreadsheet would take for a formula begins with an apostrophe.
func cellText(value reflect.Value) string {
	if !value.IsValid() {
		return ""
	}
	var text string
	switch v := value.Interface().(type) {
	case json.Number:
		return v.String()
	case []string:
		text = strings.Join(v, ", ")
	default:
		if value.Kind() != reflect.String {
			encoded, _ := json.Marshal(v) // numbers, bools and instants
			return strings.Trim(string(encoded), `"`)
		}
		text = value.String()
	}
	if formula.MatchString(text) {
		text = "'" + text
	}
	if !strings.ContainsAny(text, "\",\r\n") { // the writer does not quote it
		text = laterFormula.ReplaceAllString(text, "$1'$2")
	}
	return text
}

// formula matches a text that a spreadsheet takes for one, also after characters that are not seen and with signs of
// full width; laterFormula one after a ; or tab, which separate cells in many countries.
var (
	formula      = regexp.MustCompile(`^[\p{Z}\p{Cf}]*[=+\-@＝＋－＠\t\r\n]`)
	laterFormula = regexp.MustCompile(`([;\t][\p{Z}\p{Cf}]*)([=+\-@＝＋－＠])`)
)

// csv writes the table of a body by RFC 4180. Line breaks in a cell stay as they are, which the writer's own UseCRLF
// would change too.
func (t table) csv(body any) ([]byte, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for _, line := range append([][]string{t.header}, t.lines(reflect.ValueOf(body), t.lists, nil)...) {
		if err := w.Write(line); err != nil {
			return nil, fmt.Errorf("write %s as CSV: %w", t.name, err)
		}
		w.Flush()
		text.Truncate(text.Len() - len("\n"))
		text.WriteString("\r\n")
	}
	return text.Bytes(), nil
}

// table returns the table that a request for CSV names, or the only one, not counting tables of groups without
// group_by; nil for JSON.
func (q *query) table(tables []table, asCSV bool) *table {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	var name string
	if len(names) > 1 {
		name, _ = q.word("table", names...)
	}
	if !asCSV || len(q.mistakes) > 0 {
		return nil
	}
	if len(q.values["group_by"]) == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "groups") })
	}
	switch {
	case name == "" && len(names) == 1:
		name = names[0]
	case name == "":
		q.refuse("table", "one of "+strings.Join(names, ", "), "nothing")
		return nil
	case !slices.Contains(names, name):
		q.refuse("table", "group_by with "+name, "no group_by")
		return nil
	}
	return &tables[slices.IndexFunc(tables, func(t table) bool { return t.name == name })]
}
