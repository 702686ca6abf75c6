package schema

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A definition is a function or a named view, and what gives the server the one that it should have.
type definition struct {
	name      string
	statement string
}

// outdatedDefinitions are the functions and views that the server lacks, has in another text, or has of files that are
// gone, in an order in which they can be made.
func outdatedDefinitions(ctx context.Context, conn *clickhouse.Conn, l layout) (outdated []definition, err error) {
	var views []struct {
		Name    string `ch:"name"`
		Comment string `ch:"comment"`
	}
	if err := conn.Select(ctx, &views, "SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name"); err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	texts, comments := namedViews(), map[string]string{}
	for _, view := range views {
		comments[view.Name] = view.Comment
		if hashed.MatchString(view.Comment) && texts[view.Name] == "" {
			outdated = append(outdated, definition{view.Name, "DROP VIEW IF EXISTS " + view.Name})
		}
	}
	functions, err := outdatedFunctions(ctx, conn)
	if err != nil {
		return nil, err
	}
	outdated = append(outdated, functions...)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := l.question(texts[name])
		if comment := comment(text); comments[name] != comment {
			create := fmt.Sprintf("CREATE OR REPLACE VIEW %s AS %s COMMENT '%s'", name, strings.TrimSpace(text), comment)
			outdated = append(outdated, definition{name, create})
		}
	}
	return outdated, nil
}

// namedViews are the texts of views by their names: a file of query/ each, and those without parameters.
func namedViews() map[string]string {
	texts := map[string]string{}
	for _, name := range definitionNames("query") {
		texts[name] = mustRead("query/" + name + ".sql")
	}
	for _, view := range plainViews {
		texts[view.name] = view.text()
	}
	return texts
}

// outdatedFunctions leaves a right function alone: functions belong to the whole server, and databases may migrate at
// the same time.
func outdatedFunctions(ctx context.Context, conn *clickhouse.Conn) ([]definition, error) {
	var all []definition
	var texts []string
	for _, name := range definitionNames("function") {
		text := "FUNCTION " + name + " AS " + mustRead("function/"+name+".sql")
		all = append(all, definition{name, "CREATE OR REPLACE " + text})
		texts = append(texts, "formatQuerySingleLine("+clickhouse.QuoteText("CREATE "+text)+")")
	}
	var current []string
	err := conn.QueryRow(ctx, "SELECT groupArray(name) FROM system.functions WHERE create_query IN ("+strings.Join(texts, ", ")+")").Scan(&current)
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return slices.DeleteFunc(all, func(d definition) bool { return slices.Contains(current, d.name) }), nil
}

// hashed is the end of a comment that comment has made.
var hashed = regexp.MustCompile(`\[[0-9a-f]{12}\]$`)

// comment is what the server shows beside a view: what it answers, and a hash of its text and of those of all
// functions, which the server copies into a view when it is created.
func comment(text string) string {
	sum := sha256.New()
	sum.Write([]byte(text))
	for _, name := range definitionNames("function") {
		sum.Write([]byte(mustRead("function/" + name + ".sql")))
	}
	line, _, _ := strings.Cut(text, "\n")
	_, says, _ := strings.Cut(line, ": ")
	return strings.ReplaceAll(says, "'", "’") + " [" + hex.EncodeToString(sum.Sum(nil)[:6]) + "]"
}

func definitionNames(dir string) []string { return fileNames(dir+"/*.sql", ".sql") }

// fileNames are those of a pattern, without their folder and a suffix.
func fileNames(pattern, suffix string) []string {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), suffix)
	}
	slices.Sort(names)
	return names
}
