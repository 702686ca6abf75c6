package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/patternmatcher/ignorefile"
	"github.com/tonistiigi/fsutil"
)

// sent are the files of the context, relative to it, that `docker build` sends to the builder: found by the walk that it
// does, with the ignore file that it takes.
func (b build) sent(ctx context.Context) ([]string, error) {
	patterns, err := b.ignored()
	if err != nil {
		return nil, err
	}
	var files []string
	err = fsutil.WalkDir(ctx, b.context, &fsutil.FilterOpt{ExcludePatterns: patterns}, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files = append(files, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk context %s: %w", b.context, err)
	}
	return files, nil
}

// ignored are the patterns of the ignore file beside the Dockerfile, or else of that of the context.
func (b build) ignored() ([]string, error) {
	for _, file := range []string{b.dockerfile + ".dockerignore", filepath.Join(b.context, ".dockerignore")} {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read ignore file: %w", err)
		}
		patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read ignore file %s: %w", file, err)
		}
		return patterns, nil
	}
	return nil, nil
}
