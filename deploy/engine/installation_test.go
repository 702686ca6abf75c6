package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeInstallation has the real lock files and PostgreSQL's package in the given version; none if that is empty.
func fakeInstallation(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package-lock.json", "pom.sha256"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if version != "" {
		pkg := filepath.Join(dir, "node_modules",
			filepath.FromSlash(npmNames["postgres"][runtime.GOOS+"/"+runtime.GOARCH]))
		if err := os.MkdirAll(pkg, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pkg, "package.json"),
			[]byte(`{"version":"`+version+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMissingOrWrongEngineSaysWhatToRun(t *testing.T) {
	for name, c := range map[string]struct {
		version string // of PostgreSQL's package
		start   func() error
		want    []string
	}{
		"clickhouse missing": {"", func() error {
			_, err := StartClickHouse(t.Context(), ClickHouseConfig{Dir: t.TempDir(), Log: quiet})
			return err
		}, []string{"is not in", "run: make engines"}},
		"postgres wrong": {"17.1.0", func() error {
			_, err := StartPostgres(t.Context(), PostgresConfig{Dir: t.TempDir(), Log: quiet})
			return err
		}, []string{"is 17.1.0, but", "run: make engines"}},
		"apache missing": {"", func() error {
			_, err := StartApacheKafka(t.Context(), ApacheKafkaConfig{Dir: t.TempDir(), Log: quiet})
			return err
		}, []string{".jar is not in", "run: make kafka-apache"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(installationEnv, fakeInstallation(t, c.version))
			err := c.start()
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
		})
	}
}

func TestTheInstallationIsFoundAboveTheWorkingDirectory(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := findInstallation(); err != nil || string(got) != here {
		t.Errorf("installation %s, %v; want %s", got, err, here)
	}
	t.Setenv(installationEnv, t.TempDir())
	if _, err := findInstallation(); err == nil || !strings.Contains(err.Error(), "package-lock.json") {
		t.Errorf("an installation without lock file: %v", err)
	}
}

// Once, an operator's binary took the engines of whatever tree it was started in.
func TestOnlyBuildsOfAMomentLookAboveTheWorkingDirectory(t *testing.T) {
	for executable, want := range map[string]string{
		"/usr/local/bin/answerscope":              "/usr/local",
		"/opt/answerscope/bin/answerscope":        "/opt/answerscope",
		"/tmp/go-build1/b001/engine.test":         "/tmp/go-build1 /planted/tree /planted",
		"/var/tmp/go-build1/b001/exe/answerscope": "/var/tmp/go-build1/b001 /planted/tree /planted",
	} {
		if got := strings.Join(installationRoots(executable, "/planted/tree"), " "); got != want {
			t.Errorf("%s looks in %s, want %s", executable, got, want)
		}
	}
}
