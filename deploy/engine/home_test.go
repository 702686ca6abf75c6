package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeHome has the real lock files and one package of the given version, or none.
func fakeHome(t *testing.T, version string) Home {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package-lock.json", "pom.sha256"} {
		text, err := os.ReadFile(filepath.Join(string(home(t)), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if version != "" {
		pkg := filepath.Join(dir, "node_modules", filepath.FromSlash(postgresNPM[runtime.GOOS+"/"+runtime.GOARCH]))
		if err := os.MkdirAll(pkg, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"version":"`+version+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Home(dir)
}

func TestMissingOrWrongEngineSaysWhatToRun(t *testing.T) {
	for name, c := range map[string]struct {
		start func(Home) error
		home  Home
		want  []string
	}{
		"clickhouse missing": {func(h Home) error {
			_, err := StartClickHouse(t.Context(), ClickHouseConfig{Dir: t.TempDir(), Home: h, Log: quiet})
			return err
		}, fakeHome(t, ""), []string{"is not in", "run: make engines"}},
		"postgres wrong": {func(h Home) error {
			_, err := StartPostgres(t.Context(), PostgresConfig{Dir: t.TempDir(), Home: h, Log: quiet})
			return err
		}, fakeHome(t, "17.1.0"), []string{"is 17.1.0, but", "run: make engines"}},
		"apache missing": {func(h Home) error {
			_, err := StartApacheKafka(t.Context(), ApacheKafkaConfig{Dir: t.TempDir(), Home: h, Log: quiet})
			return err
		}, fakeHome(t, ""), []string{".jar is not in", "run: make kafka-apache"}},
	} {
		err := c.start(c.home)
		if _, ok := errors.AsType[*MissingError](err); !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
	}
}

func TestFindHomeLooksAboveTheWorkingDirectory(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := home(t); string(got) != here {
		t.Errorf("home %s; want %s", got, here)
	}
	if _, err := FindHome(t.TempDir()); err == nil || !strings.Contains(err.Error(), "package-lock.json") {
		t.Errorf("a home without lock file: %v", err)
	}
}
