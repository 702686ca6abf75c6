package sink

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

var sqlComment = regexp.MustCompile(`--[^\n]*\n`)

// A correction takes back the current row as it was read from the table. A column that is not read there would be taken
// back as nothing, and what it sums up to would be counted twice. Needs no server.
func TestWhatIsTakenBackIsReadWhole(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../sql/clickhouse/query/current_answers.sql")
	if err != nil {
		t.Fatal(err)
	}
	list, _, _ := strings.Cut(sqlComment.ReplaceAllString(string(text), ""), "FROM")
	read := strings.FieldsFunc(strings.TrimPrefix(list, "SELECT"),
		func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })

	var row clickhouse.AnswerRow
	value := reflect.ValueOf(&row).Elem()
	columns := slices.DeleteFunc(reflect.VisibleFields(value.Type()),
		func(f reflect.StructField) bool { return f.Anonymous })
	for _, c := range columns {
		value.FieldByIndex(c.Index).Set(something(c.Type))
	}
	emptyFirstRowColumns(&row)
	var want []string
	for _, c := range columns {
		if !value.FieldByIndex(c.Index).IsZero() {
			want = append(want, c.Tag.Get("ch"))
		}
	}
	if !slices.Equal(read, want) {
		t.Errorf("current_answers reads\n%v\nwant every column but those of an id's first row:\n%v", read, want)
	}
}

// something is a value of a type that is not its zero value.
func something(typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch v.Kind() {
	case reflect.Slice:
		return reflect.MakeSlice(typ, 1, 1)
	case reflect.Pointer:
		return reflect.New(typ.Elem())
	case reflect.Array:
		v.Index(0).Set(something(typ.Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() {
			return reflect.ValueOf(time.Unix(1, 0))
		}
		return reflect.ValueOf(decimal.NewFromInt(1))
	default:
		v.Set(reflect.ValueOf(1).Convert(typ))
	}
	return v
}
