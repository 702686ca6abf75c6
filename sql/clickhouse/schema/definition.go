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

// files has the migrations and definitions of this release; tests replace it by another release.
var files fs.FS = clickhouse.Files

// mustRead panics on a missing file, which is a mistake of the build.
func mustRead(path string) string {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A definition is a function or a named view, and the statement that creates or drops it.
type definition struct {
	name      string
	statement string
}

// outdatedDefinitions returns the functions and views that the server lacks, has with another text, or has of removed
// files, in an order in which they can be created.
func outdatedDefinitions(ctx context.Context, conn *clickhouse.Conn, l layout) (outdated []definition, err error) {
	var views []struct {
		Name    string `ch:"name"`
		Comment string `ch:"comment"`
	}
	err = conn.Select(ctx, &views, `
		SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name`)
	if err != nil {
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
		text := l.viewText(texts[name])
		if comment := viewComment(text); comments[name] != comment {
			create := "CREATE OR REPLACE VIEW " + name + " AS " + strings.TrimSpace(text) + " COMMENT '" + comment + "'"
			outdated = append(outdated, definition{name, create})
		}
	}
	return outdated, nil
}

// namedViews returns the texts of views by name: the files of query/, and the views without parameters.
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

// outdatedFunctions does not recreate equal functions: they belong to the whole server, and several databases may
// migrate at the same time.
func outdatedFunctions(ctx context.Context, conn *clickhouse.Conn) ([]definition, error) {
	var all []definition
	var texts []string
	for _, name := range definitionNames("function") {
		text := "FUNCTION " + name + " AS " + mustRead("function/"+name+".sql")
		all = append(all, definition{name, "CREATE OR REPLACE " + text})
		texts = append(texts, "formatQuerySingleLine("+clickhouse.QuoteText("CREATE "+text)+")")
	}
	var current []string
	query := "SELECT groupArray(name) FROM system.functions WHERE create_query IN (" + strings.Join(texts, ", ") + ")"
	if err := conn.QueryRow(ctx, query).Scan(&current); err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return slices.DeleteFunc(all, func(d definition) bool { return slices.Contains(current, d.name) }), nil
}

// hashed matches a comment of viewComment.
var hashed = regexp.MustCompile(`\[[0-9a-f]{12}\]$`)

// viewComment describes a view by its first line, and by a hash of its text and all functions, which the server copies
// into a view when it is created.
func viewComment(text string) string {
	sum := sha256.New()
	sum.Write([]byte(text))
	for _, name := range definitionNames("function") {
		sum.Write([]byte(mustRead("function/" + name + ".sql")))
	}
	line, _, _ := strings.Cut(text, "\n")
	_, description, _ := strings.Cut(line, ": ")
	return strings.ReplaceAll(description, "'", "’") + " [" + hex.EncodeToString(sum.Sum(nil)[:6]) + "]"
}

func definitionNames(dir string) []string { return fileNames(dir+"/*.sql", ".sql") }

// fileNames lists the files of a pattern, without their folder and a suffix.
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
