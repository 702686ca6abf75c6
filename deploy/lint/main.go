// Command lint reads a compose.yaml, and each Dockerfile that it builds, as Docker would, says what is wrong and where, and
// then ends with 1:
//
//	POSTGRES_PASSWORD=x CLICKHOUSE_PASSWORD=x lint deploy/compose.yaml
//
// What the file interpolates comes from the environment. Nothing is fetched and no Docker is needed: whether an image is there,
// nobody has asked.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lint compose.yaml")
		os.Exit(2)
	}
	problems := lint(context.Background(), os.Args[1], os.Environ())
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// lint says everything that is wrong with the compose file and what it builds, each as `file:place: what`; env is `NAME=value`.
func lint(ctx context.Context, file string, env []string) []string {
	project, problems := load(ctx, file, env)
	if project == nil {
		return problems
	}
	problems = append(problems, stuck(file, project)...)
	for _, b := range builds(project) {
		problems = append(problems, b.lint(ctx)...)
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}
