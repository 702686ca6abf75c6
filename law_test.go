package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/answerscope/answerscope"

// maxLines is the most that a file may have.
const maxLines = 450

// A source is what the laws read of one Go file.
type source struct {
	path    string
	dir     string // "" at the root
	name    string // of its package
	test    bool
	imports []string
	doc     string // the package comment, if this file holds one
}

// filesBelow reads every file below root whose name ends in one of the suffixes, except what is fetched, built or kept
// there by a running system.
func filesBelow(root fs.FS, suffixes ...string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if ignored(entry.Name()) || name == "bin" || name == "var" || strings.HasPrefix(name, "var-") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(suffixes, path.Ext(name)) {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		files[name] = text
		return err
	})
	return files, err
}

// ignored are directories that the go command ignores too.
func ignored(dir string) bool {
	return dir == "node_modules" || dir == "testdata" || dir != "." && strings.HasPrefix(dir, ".") ||
		strings.HasPrefix(dir, "_")
}

// sources parses files instead of asking `go list`, so that the test cache sees a changed import.
func sources(root fs.FS) ([]source, error) {
	files, err := filesBelow(root, ".go")
	if err != nil {
		return nil, err
	}
	var parsed []source
	for name, text := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s := source{path: name, dir: path.Dir(name), name: file.Name.Name, test: strings.HasSuffix(name, "_test.go")}
		if s.dir == "." {
			s.dir = ""
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, fmt.Errorf("read import of %s: %w", name, err)
			}
			s.imports = append(s.imports, imported)
		}
		s.doc = docOf(file)
		parsed = append(parsed, s)
	}
	slices.SortFunc(parsed, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return parsed, nil
}

func docOf(file *ast.File) string {
	if file.Doc == nil {
		return ""
	}
	return file.Doc.Text()
}

// undocumented names every package without a package comment: "Package sink turns …", "Command serve runs …" for a
// program, and for main at the root the product's name.
func undocumented(files []source) []string {
	documented := map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		opening := "Package " + path.Base(f.dir)
		switch {
		case f.dir == "":
			opening = "Answerscope"
		case f.name == "main":
			opening = "Command " + path.Base(f.dir)
		}
		said := strings.HasPrefix(f.doc, opening+" ")
		documented[f.dir] = documented[f.dir] || said
	}
	var broken []string
	for dir, ok := range documented {
		if !ok {
			broken = append(broken, fmt.Sprintf("%s: no file opens with %q", dir, "// Package "+path.Base(dir)+" …"))
		}
	}
	slices.Sort(broken)
	return broken
}

// tooLong names every Go and SQL file over maxLines. A golden is dumped from an engine: its length is the schema's.
func tooLong(files map[string][]byte) []string {
	var broken []string
	for name, text := range files {
		if lines := strings.Count(string(text), "\n"); lines > maxLines && !strings.HasSuffix(name, ".golden.sql") {
			broken = append(broken,
				fmt.Sprintf("%s: %d lines, over %d: split it by responsibility", name, lines, maxLines))
		}
	}
	slices.Sort(broken)
	return broken
}

// listening names every file of a server that listens by itself: a listener of httpd.Listen lets a client that is
// refused while it sends read why. Engines listen for what is not HTTP.
func listening(files map[string][]byte) []string {
	var broken []string
	for name, text := range files {
		isServer := path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") &&
			name != "internal/httpd/server.go" &&
			!within(name, "deploy/engine") && !within(name, "internal/bench") && !within(name, "internal/testkit")
		if isServer && (strings.Contains(string(text), "net.Listen(") ||
			strings.Contains(string(text), "net.ListenConfig") ||
			strings.Contains(string(text), "ListenAndServe")) {
			broken = append(broken, name+": listen by httpd.Listen")
		}
	}
	slices.Sort(broken)
	return broken
}

func within(pkg, tree string) bool {
	return pkg == tree || strings.HasPrefix(pkg, tree+"/")
}
