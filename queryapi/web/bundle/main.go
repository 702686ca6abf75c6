// Command bundle makes served/app.js and served/app.css of the sources in page/, with what package-lock.json pins. It
// prints their sizes. Run by `make page`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

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
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
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
	return result.OutputFiles, nil
}
