package postgres

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/answerscope/answerscope/internal/testkit"
)

var placeholder = regexp.MustCompile(`\$(\d+)`)

// Every file of query/ is run somewhere, starts with its own name, and asks for $1 to $n, all of them. Needs no server.
func TestStatementsAndTheirFilesAgree(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, c := range statementCalls(t) {
		called[c.statement] = true
		if statements[c.statement] == "" {
			t.Errorf("%s: no file query/%s.sql", c.position, c.statement)
		}
	}
	for name, text := range statements {
		t.Run(name, func(t *testing.T) {
			if !called[name] {
				t.Error("nothing runs it")
			}
			if want := "-- " + name + ": "; !strings.HasPrefix(text, want) {
				t.Errorf("first line should start %q", want)
			}
			var asks []int
			for _, m := range placeholder.FindAllStringSubmatch(withoutComments(text), -1) {
				n, err := strconv.Atoi(m[1])
				if err != nil {
					t.Fatal(err)
				}
				asks = append(asks, n)
			}
			slices.Sort(asks)
			asks = slices.Compact(asks)
			if len(asks) > 0 && (asks[0] != 1 || asks[len(asks)-1] != len(asks)) {
				t.Errorf("file asks for %v", asks)
			}
		})
	}
}

// The server can run each statement, takes as many arguments as each call passes, and names its columns as the Go type
// of its rows does.
func TestTheServerKnowsEveryStatement(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), migratedDSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := become(t.Context(), conn, serviceRole); err != nil {
		t.Fatal(err)
	}
	for _, c := range statementCalls(t) {
		prepared, err := conn.Prepare(t.Context(), c.statement, statements[c.statement])
		if err != nil {
			t.Errorf("%s: %v", c.statement, err)
			continue
		}
		if c.arguments >= 0 && c.arguments != len(prepared.ParamOIDs) {
			t.Errorf("%s: %d arguments for %s, which has %d", c.position, c.arguments, c.statement,
				len(prepared.ParamOIDs))
		}
		var columns []string
		for _, f := range prepared.Fields {
			columns = append(columns, f.Name)
		}
		slices.Sort(columns)
		slices.Sort(c.columns)
		if c.columns != nil && !slices.Equal(columns, c.columns) {
			t.Errorf("%s: %s returns %v, its Go type takes %v", c.position, c.statement, columns, c.columns)
		}
		if c.isOneColumn && len(columns) != 1 {
			t.Errorf("%s: %s returns %v, want one column", c.position, c.statement, columns)
		}
	}
}

// A statementCall is a call in this package that runs a statement.
type statementCall struct {
	position    token.Position
	statement   string
	arguments   int      // -1: passed on from a caller
	columns     []string // of a row that is a struct
	isOneColumn bool     // the row is a single value
}

// statementArgument locates the statement among the arguments of each function that runs one, and counts the parameters
// that the function adds to those of its caller.
var statementArgument = map[string]struct{ index, added int }{
	"queryAll": {2, 0}, "queryOne": {2, 0}, "exec": {2, 0}, "execRows": {2, 0}, "execOne": {2, 0},
	"leaseNext": {2, 2}, "leaseSome": {2, 2}, "extend": {1, 2}, "execLeased": {1, 1},
}

// statementCalls finds the calls of the functions that run statements, in the sources of this package.
func statementCalls(t *testing.T) (calls []statementCall) {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	structs := map[string]*ast.StructType{}
	var files []*ast.File
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			c := statementCall{position: set.Position(call.Pos())}
			function := call.Fun
			if generic, ok := function.(*ast.IndexExpr); ok {
				function = generic.X
				c.columns = dbTags(structs, generic.Index)
				c.isOneColumn = c.columns == nil
			}
			name, ok := function.(*ast.Ident)
			if method, isMethod := function.(*ast.SelectorExpr); isMethod {
				name, ok = method.Sel, true
			}
			if !ok {
				return true
			}
			place, isKnown := statementArgument[name.Name]
			if !isKnown || len(call.Args) <= place.index {
				return true
			}
			c.arguments = len(call.Args) - place.index - 1 + place.added
			if call.Ellipsis.IsValid() {
				c.arguments = -1
			}
			if literal, ok := call.Args[place.index].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if c.statement, err = strconv.Unquote(literal.Value); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, c)
			}
			return true
		})
	}
	return calls
}

// dbTags returns the columns of a struct, with those of the structs that it embeds; nil for any other type.
func dbTags(structs map[string]*ast.StructType, row ast.Expr) (columns []string) {
	fields, ok := row.(*ast.StructType)
	if name, named := row.(*ast.Ident); named {
		fields, ok = structs[name.Name]
	}
	if !ok {
		return nil
	}
	for _, field := range fields.Fields.List {
		if field.Names == nil {
			columns = append(columns, dbTags(structs, field.Type)...)
		} else if field.Tag != nil {
			if column, ok := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Lookup("db"); ok {
				columns = append(columns, column)
			}
		}
	}
	return columns
}

func migratedDSN(t *testing.T) string {
	t.Helper()
	dsn := testkit.Postgres(t)
	if err := Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	return dsn
}

var comment = regexp.MustCompile(`--[^\n]*`)

func withoutComments(text string) string { return comment.ReplaceAllString(text, "") }

func TestEveryStatementHasAVerb(t *testing.T) {
	t.Parallel()
	for name, text := range statements {
		if v := verb(text); v == "" || strings.ToUpper(v) != v {
			t.Errorf("%s begins with %q", name, v)
		}
	}
}

func TestThatThereIsNoRowIsNoFailure(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)).Tracer("test")
	ctx, root := tracer.Start(t.Context(), "root")
	defer root.End()
	for err, want := range map[error]codes.Code{
		nil:                                  codes.Unset,
		fmt.Errorf("query: %w", ErrNotFound): codes.Unset,
		fmt.Errorf("query: %w", errors.ErrUnsupported): codes.Error,
	} {
		_, span := openSpan(ctx, "resolve_key")
		closeSpan(span, 1, err)
		ended := recorder.Ended()
		if got := ended[len(ended)-1]; got.Name() != "SELECT resolve_key" || got.Status().Code != want {
			t.Errorf("%v: span %s has status %v, want %v", err, got.Name(), got.Status(), want)
		}
	}
}
