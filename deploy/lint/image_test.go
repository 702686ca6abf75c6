package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// What the ignore file lets through is what the image is made of: the Dockerfile's own commands make the binary of it, as
// the Dockerfile lays it out, and the binary does what the image does by itself. The modules come from this machine's cache.
func TestWhatIsSentMakesTheImage(t *testing.T) {
	b, stages := ours(t)
	made, image := stages[0], stages[len(stages)-1]
	want := "golang:" + regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../../go.mod"))[1] + "-"
	if !strings.HasPrefix(made.BaseName, want) {
		t.Errorf("it is made in %s, but go.mod asks for %s…", made.BaseName, want)
	}
	inside := copied(t, image)
	binary := filepath.Join(t.TempDir(), filepath.Base(inside))
	tree := layOut(t, b)
	ran := 0
	for _, command := range shells(made) {
		if !strings.HasPrefix(command, "go build ") {
			continue // what it fetches before, the cache has
		}
		if !strings.Contains(command, " -o "+inside+" ") {
			t.Fatalf("%q does not make %s, which the image copies", command, inside)
		}
		do(t, tree, nil, "sh", "-c", strings.Replace(command, inside, binary, 1))
		ran++
	}
	if ran != 1 {
		t.Fatalf("it runs go build %d times", ran)
	}
	env, args := start(image)
	do(t, tree, env, binary, args...)
}

// What the ignore file would keep back is missed: the trial above is not one that anything passes.
func TestAFolderThatIsNotSentIsMissed(t *testing.T) {
	b, _ := ours(t)
	tree := layOut(t, b)
	if err := os.RemoveAll(filepath.Join(tree, "sql", "postgres", "migrate")); err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	list.Dir, list.Env = tree, offline()
	if said, err := list.CombinedOutput(); err == nil || !strings.Contains(string(said), "no matching files found") {
		t.Errorf("without migrations: %v, %.300s", err, said)
	}
}

// Nothing is sent that somebody made or keeps in a checkout: least of all passwords and data.
func TestNothingPrivateIsSent(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"deploy/Dockerfile", "deploy/Dockerfile.dockerignore"} {
		place(t, filepath.Join("../..", file), filepath.Join(root, file))
	}
	private := []string{".git/config", ".env", "deploy/.env", "bin/answerscope", "var/postgres/password", "var-2/clickhouse/store",
		"deploy/engine/node_modules/x.json", "internal/useragent/node_modules/x.json", "answers.ndjson", "brands.json", "pipeline/testdata/x.json", "ingest/x_test.go"}
	for _, file := range append(private, "main.go", "sql/postgres/x.sql") {
		write(t, filepath.Join(root, file), "x")
	}
	sent, err := build{context: root, dockerfile: filepath.Join(root, "deploy/Dockerfile")}.sent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"main.go", "sql/postgres/x.sql"}; !slices.Equal(sent, want) {
		t.Errorf("sends %q, want %q", sent, want)
	}
}

// ours is the image that compose.yaml makes, and the stages in which it does.
func ours(t *testing.T) (build, []instructions.Stage) {
	t.Helper()
	project, said := load(t.Context(), "../compose.yaml", env)
	if project == nil {
		t.Fatal(said)
	}
	all := builds(project)
	if len(all) != 1 {
		t.Fatalf("compose.yaml makes %d images", len(all))
	}
	stages, err := stagesOf([]byte(read(t, all[0].dockerfile)))
	if err != nil {
		t.Fatal(err)
	}
	return all[0], stages
}

// layOut copies what is sent into a directory of its own, as `COPY . .` does.
func layOut(t *testing.T, b build) string {
	t.Helper()
	sent, err := b.sent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	for _, file := range sent {
		place(t, filepath.Join(b.context, file), filepath.Join(tree, file))
	}
	return tree
}

// copied is the file that the stage takes of another one.
func copied(t *testing.T, s instructions.Stage) string {
	t.Helper()
	for _, command := range s.Commands {
		if c, ok := command.(*instructions.CopyCommand); ok && c.From != "" {
			return c.SourcePaths[0]
		}
	}
	t.Fatal("the image copies nothing from where it is made")
	return ""
}

func shells(s instructions.Stage) []string {
	var commands []string
	for _, command := range s.Commands {
		if c, ok := command.(*instructions.RunCommand); ok {
			commands = append(commands, strings.Join(c.CmdLine, " "))
		}
	}
	return commands
}

// start is the environment that the image sets, and the arguments that its binary gets by itself.
func start(s instructions.Stage) (env, args []string) {
	for _, command := range s.Commands {
		switch c := command.(type) {
		case *instructions.EnvCommand:
			for _, pair := range c.Env {
				env = append(env, pair.String())
			}
		case *instructions.CmdCommand:
			args = c.CmdLine
		}
	}
	return env, args
}

func do(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(offline(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, said)
	}
}

// offline fetches nothing: a module that is not in the cache is an error, and one is there that this checkout was built with.
func offline() []string {
	return append(os.Environ(), "GOPROXY=off", "GOWORK=off")
}
