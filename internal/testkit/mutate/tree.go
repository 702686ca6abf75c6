package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A tree is a copy of the tracked files of a checkout, in dir.
type tree struct {
	work  string // a temporary directory that holds dir and the files of tests
	dir   string
	files map[string]file // by path below dir
}

type file struct {
	text []byte
	mode fs.FileMode
}

// copyTree copies the tracked files, as they are on disk, and links the ignored directories: what make fetched and
// built.
func copyTree(ctx context.Context, root string) (t *tree, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	tracked, err := gitFiles(ctx, root)
	if err != nil {
		return nil, err
	}
	fetched, err := gitFiles(ctx, root, "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "answerscope-mutate-")
	if err != nil {
		return nil, err
	}
	t = &tree{work: work, dir: filepath.Join(work, "checkout"), files: map[string]file{}}
	if err := errors.Join(os.Chmod(work, 0o755), t.fill(root, tracked, fetched)); err != nil {
		return nil, errors.Join(err, t.remove())
	}
	return t, nil
}

func (t *tree) fill(root string, tracked, fetched []string) error {
	if err := os.MkdirAll(t.temp(), 0o755); err != nil { // PostgreSQL runs as another user under root, who must pass
		return err
	}
	for _, path := range tracked {
		info, err := os.Stat(filepath.Join(root, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		t.files[path] = file{text, info.Mode().Perm()}
	}
	if err := t.restore(); err != nil {
		return err
	}
	for _, path := range fetched {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir || strings.HasPrefix(dir, "var") { // data of a running system
			continue
		}
		link := filepath.Join(t.dir, dir)
		err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(root, dir), link))
		if err != nil {
			return err
		}
	}
	return nil
}

// temp returns the directory for the files of tests.
func (t *tree) temp() string { return filepath.Join(t.work, "t") }

// restore makes the tracked files what they were, and removes what tests have added beside them.
func (t *tree) restore() error {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if _, ok := t.files[path]; ok || err != nil || !entry.Type().IsRegular() {
			return err
		}
		return root.Remove(path)
	})
	if err != nil {
		return err
	}
	for path, original := range t.files {
		target := filepath.Join(t.dir, path)
		text, err := os.ReadFile(target)
		if err == nil && bytes.Equal(text, original.text) {
			continue
		}
		err = errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, original.text, original.mode))
		if err != nil {
			return err
		}
	}
	return nil
}

// plant writes a defect into its file.
func (t *tree) plant(d defect) error {
	original, ok := t.files[d.file]
	if !ok {
		return fmt.Errorf("%s is not tracked", d.file)
	}
	text, err := d.plant(original.text)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.dir, d.file), text, original.mode)
}

func (t *tree) remove() error { return os.RemoveAll(t.work) }

// gitFiles lists files of a checkout, tracked ones by default.
func gitFiles(ctx context.Context, root string, flags ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root, "ls-files", "-z"}, flags...)...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", root, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}
