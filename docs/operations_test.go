package docs_test

import (
	"cmp"
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

// metrics.md lists the metrics of the code with their help texts, and pages and alerts name no others.
func TestMetricsAreThoseOfTheCode(t *testing.T) {
	metrics := codedMetrics(t)
	var list strings.Builder
	list.WriteString("# Metrics\n\nGenerated from the help texts of the code by `go test ./docs -update`.\n" +
		"[operations.md](operations.md#metrics) has the address that serves them.\n")
	tree := ""
	for _, m := range slices.SortedFunc(maps.Values(metrics), func(a, b metric) int {
		return cmp.Or(cmp.Compare(a.tree, b.tree), cmp.Compare(a.name, b.name))
	}) {
		if m.tree != tree {
			tree = m.tree
			list.WriteString("\n## " + tree + "\n\n")
		}
		labels := ""
		if len(m.labels) > 0 {
			labels = " by `" + strings.Join(m.labels, "`, `") + "`"
		}
		list.WriteString(wrap("- ", "`"+m.name+"`"+labels+": "+strings.TrimSuffix(m.help, ".")) + "\n")
	}
	if *update && !t.Failed() {
		if err := os.WriteFile("metrics.md", []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if list.String() != read(t, "metrics.md") {
		t.Error("metrics.md differs from the code: run go test ./docs -run TestMetrics -update and review " +
			"the difference")
	}
	for _, file := range []string{"operations.md", "../deploy/alerts.yaml", "../deploy/alerts_test.yaml"} {
		// quoted ones are names in SQL
		for _, named := range regexp.MustCompile(`[^'\w](answerscope_[a-z_]+)`).FindAllStringSubmatch(read(t, file),
			-1) {
			if name := named[1]; metrics[name].name == "" && metrics[series.ReplaceAllString(name, "")].name == "" {
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
				t.Errorf("%s has check %s, which operations.md does not explain: give it an item under "+
					"AnswerscopeNotReady", file, check[1])
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

// A metric is a name of the code, which is written in full so that it can be searched for, with its help text.
type metric struct {
	name, help, tree string
	labels           []string
}

// codedMetrics returns the metrics of the code by name: the first two texts of a composite literal or call are a name
// and its help; further texts of the call, or a list of texts beside the literal, are labels.
func codedMetrics(t *testing.T) map[string]metric {
	t.Helper()
	metrics := map[string]metric{}
	eachSource(t, func(file string, parsed *ast.File, _ func(ast.Node) int) {
		if !slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool {
			return strings.HasPrefix(i.Path.Value, `"github.com/prometheus/`)
		}) {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			texts := textsOf(call.Args)
			for _, arg := range call.Args {
				if options, ok := arg.(*ast.CompositeLit); ok && len(texts) == 0 {
					texts = append(textsOf(options.Elts), labelsBeside(call.Args, options)...)
				}
			}
			if len(texts) < 2 || !regexp.MustCompile(`^answerscope_[a-z_]*[a-z]$`).MatchString(texts[0]) {
				return true
			}
			tree := path.Dir(file)
			metrics[texts[0]] = metric{name: texts[0], help: texts[1], tree: tree, labels: texts[2:]}
			return true
		})
	})
	if len(metrics) < 60 {
		t.Fatalf("found %d metrics: %v", len(metrics), slices.Sorted(maps.Keys(metrics)))
	}
	return metrics
}

// textsOf returns the texts among expressions, of keyed ones those of Name and Help.
func textsOf(expressions []ast.Expr) (texts []string) {
	for _, e := range expressions {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); !ok || key.Name != "Name" && key.Name != "Help" {
				continue
			}
			e = pair.Value
		}
		if text, ok := textOf(e); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// textOf evaluates a text, or a sum of them.
func textOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok1 := textOf(e.X)
		right, ok2 := textOf(e.Y)
		return left + right, ok1 && ok2
	}
	return "", false
}

// labelsBeside returns the texts of the other lists among the arguments.
func labelsBeside(args []ast.Expr, options *ast.CompositeLit) (labels []string) {
	for _, arg := range args {
		if list, ok := arg.(*ast.CompositeLit); ok && list != options {
			labels = append(labels, textsOf(list.Elts)...)
		}
	}
	return labels
}

// eachSource visits every Go file of the program, but its tests. at returns a line number.
func eachSource(t *testing.T, visit func(name string, file *ast.File, at func(ast.Node) int)) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() &&
			(slices.Contains([]string{"node_modules", "testdata", "bin", "testkit", "bench"}, entry.Name()) ||
				strings.HasPrefix(name, "var")):
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
			if last, ok := call.Args[len(call.Args)-1].(*ast.Ident); ok && call.Ellipsis.IsValid() &&
				last.Name == "attrs" {
				return true // they were put together above
			}
			lines++
			if !saysNext(call) {
				t.Errorf("%s:%d: a line of level warn or error lacks the attribute next: what should its reader do?",
					name, at(call))
			}
			return true
		})
	})
	if lines < 15 {
		t.Errorf("found %d such lines", lines)
	}
}

// Lines of the log that the page names begin as texts of the code do.
func TestThePageNamesLinesOfTheLog(t *testing.T) {
	var texts strings.Builder
	eachSource(t, func(_ string, file *ast.File, _ func(ast.Node) int) {
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok {
				texts.WriteString(text.Value)
			}
			return true
		})
	})
	lines := regexp.MustCompile("\\blines?\\s+`([^`]+)`").FindAllStringSubmatch(page(t), -1)
	for _, line := range lines {
		if text := strings.Join(strings.Fields(line[1]), " "); !strings.Contains(texts.String(), `"`+text) {
			t.Errorf("operations.md names the line %q, which no code writes", text)
		}
	}
	if len(lines) < 15 {
		t.Errorf("found %d lines", len(lines))
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
