// Command bundle makes the scripts and app.css in served/ of the sources in page/, with what package-lock.json pins. It
// prints their sizes. Run by `make page`.
//
// app.js and first.js are what the first screen needs; look.js, manage.js, tell.js and advice.js come when a screen of
// theirs is shown, with what they alone share in chunk.js.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := bundle(dir)
	if err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(dir, "served/*.js"))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := os.WriteFile(file.Path, file.Contents, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d bytes\n", filepath.Base(file.Path), len(file.Contents))
	}
	return nil
}

// bundle makes the files of the package in a directory.
func bundle(dir string) ([]api.OutputFile, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "page/main.tsx", OutputPath: "app"},
			{InputPath: "page/style/main.css", OutputPath: "app"},
		},
		Outdir:            "served",
		Bundle:            true,
		Splitting:         true,
		ChunkNames:        "[name]-[hash]",
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		TsconfigRaw:       `{"compilerOptions": {"jsx": "react", "jsxFactory": "h", "jsxFragmentFactory": "Fragment"}}`,
		Inject:            []string{"page/jsx.ts"},
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
	})
	if len(result.Errors) > 0 {
		first := result.Errors[0]
		if first.Location == nil {
			return nil, fmt.Errorf("%s", first.Text)
		}
		return nil, fmt.Errorf("%s:%d: %s (npm ci in %s fetches what is imported)", first.Location.File, first.Location.Line, first.Text, dir)
	}
	name(result.OutputFiles)
	return result.OutputFiles, nil
}

var hashedName = regexp.MustCompile(`^(\w+)-\w{8}\.js$`)

// name takes the hashes out of the names of files: their addresses have one (web.go). The chunk that app.js imports is
// first.js.
func name(files []api.OutputFile) {
	var app []byte
	for _, file := range files {
		if filepath.Base(file.Path) == "app.js" {
			app = file.Contents
		}
	}
	names := map[string]string{}
	for _, file := range files {
		base := filepath.Base(file.Path)
		if m := hashedName.FindStringSubmatch(base); m != nil {
			names[base] = m[1] + ".js"
			if m[1] == "chunk" && bytes.Contains(app, []byte(base)) {
				names[base] = "first.js"
			}
		}
	}
	for i := range files {
		for base, short := range names {
			files[i].Path = strings.ReplaceAll(files[i].Path, base, short)
			files[i].Contents = bytes.ReplaceAll(files[i].Contents, []byte(base), []byte(short))
		}
	}
}
