package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var env = []string{"POSTGRES_PASSWORD=x", "CLICKHOUSE_PASSWORD=x"}

func TestTheFilesOfDeployAreClean(t *testing.T) {
	for _, problem := range lint(t.Context(), "../compose.yaml", env) {
		t.Error(problem)
	}
}

// A lint that cannot fail is advice: each case breaks a copy of one file in one place.
func TestEachFileCanFail(t *testing.T) {
	const compose, dockerfile, ignore = "compose.yaml", "Dockerfile", "Dockerfile.dockerignore"
	cases := []struct {
		what, file, old, new string
		want                 string
	}{
		{"indented wrong", compose, "    image: postgres:18\n", "   image: postgres:18\n", "compose.yaml: yaml: "},
		{"unknown key", compose, "volumes: [\"kafka:", "volume: [\"kafka:", "compose.yaml: services.kafka.volume "},
		{"wrong type", compose, "retries: 24", "retries: many", "services.clickhouse.healthcheck.retries: failed to cast"},
		{"unknown service", compose, "      kafka: { condition", "      kafak: { condition", `service "migrate" depends on undefined service "kafak"`},
		{"circle", compose, "    healthcheck:\n      test: [\"CMD\", \"wget\"", "    depends_on: [migrate]\n    healthcheck:\n      test: [\"CMD\", \"wget\"", "dependency cycle detected"},
		{"unknown volume", compose, "[\"postgres:/var", "[\"postgers:/var", `service "postgres" refers to undefined volume postgers`},
		{"required variable", compose, "${POSTGRES_PASSWORD:?", "${POSTGRES_PASSWROD:?", `required variable POSTGRES_PASSWROD is missing a value: say it in deploy/.env`},
		{"blank variable", compose, "${POSTGRES_PASSWORD:?say it in deploy/.env}", "${POSTGRES_PASSWROD}", `The "POSTGRES_PASSWROD" variable is not set.`},
		{"awaited health", compose, "    healthcheck:\n      test: [\"CMD\", \"pg_isready\"", "    x-healthcheck:\n      test: [\"CMD\", \"pg_isready\"", "services.migrate.depends_on.postgres: waits for its health, but it has no healthcheck"},
		{"awaited end", compose, "    command: [\"migrate\"]\n", "    command: [\"migrate\"]\n    restart: always\n", "services.pipeline.depends_on.migrate: waits for its end, but it is started again"},
		{"any version", compose, "image: postgres:18", "image: postgres", "services.postgres.image: postgres does not say which version"},
		{"unknown Dockerfile", compose, "deploy/Dockerfile", "deploy/Dockerflie", "deploy/Dockerflie: no such file"},

		{"unknown instruction", dockerfile, "RUN go mod", "RUNN go mod", "Dockerfile:6: dockerfile parse error on line 6: unknown instruction: RUNN (did you mean RUN?)"},
		{"unknown flag", dockerfile, "--from=build", "--form=build", "Dockerfile:14: dockerfile parse error on line 14: unknown flag: --form"},
		{"unknown stage", dockerfile, "--from=build", "--from=biuld", "Dockerfile:14: COPY --from=biuld is no stage above"},
		{"base of any version", dockerfile, "golang:1.26-trixie", "golang", "Dockerfile:3: FROM golang is no stage above"},
		{"casing", dockerfile, " AS build", " as build", "(FromAsCasing)"},
		{"unset variable", dockerfile, "WORKDIR /var/lib/answerscope", "WORKDIR /var/lib/$NAME", "Dockerfile:17: Usage of undefined variable '$NAME' (UndefinedVar)"},
		{"shell form", dockerfile, `["/usr/local/bin/answerscope"]`, "/usr/local/bin/answerscope", "(JSONArgsRecommended)"},
		{"secret", dockerfile, "ENV ANSWERSCOPE_LOG_FORMAT=json", "ENV ANSWERSCOPE_ADMIN_PASSWORD=x", "(SecretsUsedInArgOrEnv)"},
		{"nothing to copy", dockerfile, "COPY go.mod go.sum", "COPY go.mod go.lock", "Dockerfile:5: COPY go.lock is not in the context"},

		{"ignored", ignore, "!go.sum\n", "", "Dockerfile:5: COPY go.sum is not in the context, or is ignored"},
		{"malformed pattern", ignore, "**/testdata", "[", "syntax error in pattern"},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			root := t.TempDir()
			place(t, "../../go.mod", filepath.Join(root, "go.mod"))
			place(t, "../../go.sum", filepath.Join(root, "go.sum"))
			for _, file := range []string{compose, dockerfile, ignore} {
				place(t, filepath.Join("..", file), filepath.Join(root, "deploy", file))
			}
			said := lint(t.Context(), filepath.Join(root, "deploy", compose), env)
			if len(said) > 0 {
				t.Fatalf("unbroken: %q", said)
			}
			broken := filepath.Join(root, "deploy", c.file)
			text := read(t, broken)
			if !strings.Contains(text, c.old) {
				t.Fatalf("%s has no %q", c.file, c.old)
			}
			write(t, broken, strings.ReplaceAll(text, c.old, c.new))
			said = lint(t.Context(), filepath.Join(root, "deploy", compose), env)
			if !strings.Contains(strings.Join(said, "\n"), c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

func place(t *testing.T, from, to string) {
	t.Helper()
	write(t, to, read(t, from))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
