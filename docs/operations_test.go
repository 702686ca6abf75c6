package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// series ends the names of what a histogram is kept as.
var series = regexp.MustCompile(`_(bucket|sum|count)$`)

// Each metric of the code has an item on the page, and each item a metric.
func TestEveryMetricIsOnThePageOfOperations(t *testing.T) {
	coded, explained := codedMetrics(t), map[string]bool{}
	for _, item := range regexp.MustCompile("(?m)^- ((?:`answerscope_[a-z_]+`(?:,\\s+)?)+): \\S").FindAllStringSubmatch(page(t), -1) {
		for _, named := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(item[1], -1) {
			if explained[named[1]] {
				t.Errorf("operations.md has %s twice", named[1])
			}
			explained[named[1]] = true
		}
	}
	for name, where := range coded {
		if !explained[name] {
			t.Errorf("%s has metric %s, which operations.md does not explain: give it an item under Metrics", where, name)
		}
	}
	for name := range explained {
		if coded[name] == "" {
			t.Errorf("operations.md explains %s, which no code has", name)
		}
	}
	for _, file := range []string{"operations.md", "../deploy/alerts.yaml", "../deploy/alerts_test.yaml"} {
		for _, named := range regexp.MustCompile(`[^'\w](answerscope_[a-z_]+)`).FindAllStringSubmatch(read(t, file), -1) { // quoted ones are names in SQL
			if name := named[1]; coded[name] == "" && coded[series.ReplaceAllString(name, "")] == "" {
				t.Errorf("%s names %s, which no code has", file, name)
			}
		}
	}
}

// The page says of each check of /readyz what it means when it fails.
func TestEveryCheckIsOnThePageOfOperations(t *testing.T) {
	_, entry, _ := strings.Cut(page(t), "### AnswerscopeNotReady")
	entry, _, _ = strings.Cut(entry, "\n### ")
	files, err := filepath.Glob("../internal/cli/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources", err)
	}
	for _, file := range files {
		for _, check := range regexp.MustCompile(`ready\.Provide\("(\w+)"`).FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains(entry, "`"+check[1]+"`") {
				t.Errorf("%s has check %s, which operations.md does not explain: give it an item under AnswerscopeNotReady", file, check[1])
			}
		}
	}
}

// Each alert has an entry that says what to do, and tests that show it firing and quiet.
func TestEveryAlertIsExplainedAndTried(t *testing.T) {
	rules, tried := read(t, "../deploy/alerts.yaml"), read(t, "../deploy/alerts_test.yaml")
	var alerts []string
	for _, found := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(rules, -1) {
		alerts = append(alerts, found[1])
	}
	if len(alerts) < 10 {
		t.Fatalf("found %d alerts", len(alerts))
	}
	for _, alert := range alerts {
		if !strings.Contains(rules, "runbook: docs/operations.md#"+strings.ToLower(alert)+"\n") {
			t.Errorf("alert %s does not lead to the page", alert)
		}
		if !regexp.MustCompile(`(?m)^### ` + alert + `\n\n\*(page|ticket)\.\* \S`).MatchString(page(t)) {
			t.Errorf("operations.md does not say what %s means and what to do", alert)
		}
		if !regexp.MustCompile(`alertname: ` + alert + `\b[^\n]*\n +eval_time: \S+\n +exp_alerts:`).MatchString(tried) {
			t.Errorf("alerts_test.yaml does not show %s firing", alert)
		}
		if !strings.Contains(tried, "{alertname: "+alert+",") {
			t.Errorf("alerts_test.yaml does not show %s quiet", alert)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Answerscope\w+)$`).FindAllStringSubmatch(page(t), -1) {
		if !slices.Contains(alerts, heading[1]) {
			t.Errorf("operations.md explains alert %s, which there is none of", heading[1])
		}
	}
	severities := regexp.MustCompile(`(?s)alert: (\w+)\n.*?severity: (\w+)`)
	for _, rule := range severities.FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(page(t), "### "+rule[1]+"\n\n*"+rule[2]+".*") {
			t.Errorf("alert %s is a %s, and operations.md says another", rule[1], rule[2])
		}
	}
}

// codedMetrics are the metrics of the code, each with the file that has it. Files that work with metrics name them in
// full, so that they can be searched for.
func codedMetrics(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	eachSource(t, func(name string, file *ast.File, _ func(ast.Node) int) {
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.HasPrefix(i.Path.Value, `"github.com/prometheus/`) }) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !regexp.MustCompile(`^answerscope_[a-z_]+$`).MatchString(text) {
				return true
			}
			if strings.HasSuffix(text, "_") {
				t.Errorf("%s makes names of metrics that begin with %s: write each in full", name, text)
			}
			found[text] = name
			return true
		})
	})
	if len(found) < 20 {
		t.Fatalf("found %d metrics: %v", len(found), slices.Sorted(maps.Keys(found)))
	}
	return found
}

// eachSource visits every Go file of the program, but its tests. at returns a line number.
func eachSource(t *testing.T, visit func(name string, file *ast.File, at func(ast.Node) int)) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"node_modules", "testdata", "bin", "testkit", "bench"}, entry.Name()) || strings.HasPrefix(name, "var")):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		if err == nil {
			visit(name, file, func(n ast.Node) int { return set.Position(n.Pos()).Line })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func page(t *testing.T) string {
	t.Helper()
	return read(t, "operations.md")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A line of level warn or error says what to do, or that there is nothing to do yet.
func TestEveryWarningSaysWhatIsNext(t *testing.T) {
	lines := 0
	eachSource(t, func(name string, file *ast.File, at func(ast.Node) int) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !warns(call) {
				return true
			}
			if last, ok := call.Args[len(call.Args)-1].(*ast.Ident); ok && call.Ellipsis.IsValid() && last.Name == "attrs" {
				return true // they were put together above
			}
			lines++
			if !saysNext(call) {
				t.Errorf("%s:%d: a line of level warn or error lacks the attribute next: what should its reader do?", name, at(call))
			}
			return true
		})
	})
	if lines < 15 {
		t.Errorf("found %d such lines", lines)
	}
}

// warns reports whether a call writes a log line of level warn or error.
func warns(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 2 {
		return false
	}
	switch method.Sel.Name {
	case "Warn", "Error", "WarnContext", "ErrorContext":
		logger := ""
		switch of := method.X.(type) {
		case *ast.Ident:
			logger = of.Name
		case *ast.SelectorExpr:
			logger = of.Sel.Name
		}
		return strings.EqualFold(logger, "log") || strings.EqualFold(logger, "logger") || logger == "slog"
	case "LogAttrs", "Log":
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			level, ok := arg.(*ast.SelectorExpr)
			return ok && (level.Sel.Name == "LevelWarn" || level.Sel.Name == "LevelError")
		})
	}
	return false
}

// saysNext finds the attribute among the arguments; those that were put together earlier carry it there.
func saysNext(call *ast.CallExpr) (says bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		says = says || ok && text.Value == `"next"`
		return !says
	})
	return says
}
