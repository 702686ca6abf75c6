package schema

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A definition is a function or a named view, and what gives the server the one
// that it should have.
type definition struct {
	name      string
	statement string
}

// outdatedDefinitions are the functions and views that the server lacks or has in
// another text, in an order in which each finds what it uses.
func outdatedDefinitions(ctx context.Context, conn *clickhouse.Conn, l layout) ([]definition, error) {
	outdated, err := leftoverViews(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range definitionNames("function") {
		d := definition{name, "CREATE OR REPLACE FUNCTION " + name + " AS " + mustRead("function/"+name+".sql")}
		var fresh uint64
		// A function belongs to the whole server: leaving a right one alone keeps
		// databases that migrate at the same time out of each other's way.
		err := conn.QueryRow(ctx,
			"SELECT count() FROM system.functions WHERE name = {name:String} AND create_query = formatQuerySingleLine({text:String})",
			driver.Named("name", name), driver.Named("text", strings.Replace(d.statement, "OR REPLACE ", "", 1))).Scan(&fresh)
		if err != nil {
			return nil, fmt.Errorf("read function %s: %w", name, err)
		}
		if fresh == 0 {
			outdated = append(outdated, d)
		}
	}
	for _, name := range byUse(definitionNames("query")) {
		text := l.question(mustRead("query/" + name + ".sql"))
		comment := comment(text)
		var fresh uint64
		err := conn.QueryRow(ctx,
			"SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {name:String} AND comment = {comment:String}",
			driver.Named("name", name), driver.Named("comment", comment)).Scan(&fresh)
		if err != nil {
			return nil, fmt.Errorf("read view %s: %w", name, err)
		}
		if fresh == 0 {
			create := fmt.Sprintf("CREATE OR REPLACE VIEW %s AS %s COMMENT '%s'", name, strings.TrimSpace(text), comment)
			outdated = append(outdated, definition{name, create})
		}
	}
	return outdated, nil
}

// leftoverViews are those of an earlier release's files: left behind, they would keep answering by an old definition.
func leftoverViews(ctx context.Context, conn *clickhouse.Conn) ([]definition, error) {
	var names []string
	err := conn.QueryRow(ctx,
		"SELECT arraySort(groupArray(name)) FROM system.tables WHERE database = currentDatabase() AND engine = 'View' AND match(comment, '\\[[0-9a-f]{12}\\]$')").Scan(&names)
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	var leftover []definition
	for _, name := range names {
		if !slices.Contains(definitionNames("query"), name) {
			leftover = append(leftover, definition{name, "DROP VIEW IF EXISTS " + name})
		}
	}
	return leftover, nil
}

// comment is what the server shows beside a view: what it answers, and a hash of the texts that it depends on, so that a
// changed one is noticed. These are its own and those of the functions, which the server copies into a view when it is
// created; the views that it calls are looked up by name with every question.
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

func definitionNames(dir string) []string {
	names, err := fs.Glob(files, dir+"/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".sql")
	}
	slices.Sort(names)
	return names
}

// byUse orders views so that each comes after those that it calls.
func byUse(names []string) []string {
	var ordered []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(ordered, name) {
			return
		}
		text := mustRead("query/" + name + ".sql")
		for _, other := range names {
			if other != name && strings.Contains(text, " "+other+"(") {
				add(other)
			}
		}
		ordered = append(ordered, name)
	}
	for _, name := range names {
		add(name)
	}
	return ordered
}
