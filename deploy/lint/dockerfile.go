package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/solver/pb"
	"github.com/opencontainers/go-digest"
)

// A build is an image that is made here: from a Dockerfile, and the files below context that its ignore file lets through.
type build struct {
	context, dockerfile string // absolute
}

// lint holds the Dockerfile to every rule of BuildKit, as `docker build --check` does, and each COPY to what there is to copy.
// Images that it starts from are taken to be there.
func (b build) lint(ctx context.Context) []string {
	file := shown(b.dockerfile)
	text, err := os.ReadFile(b.dockerfile)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", file, err)}
	}
	results, err := dockerfile2llb.DockerfileLint(ctx, text, dockerfile2llb.ConvertOpt{
		SourceMap:    &llb.SourceMap{Definition: &llb.Definition{}, Filename: file, Data: text},
		MetaResolver: anyImage{},
	})
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", file, err)}
	}
	var problems []string
	for _, w := range results.Warnings {
		problems = append(problems, fmt.Sprintf("%s:%d: %s (%s)", file, line(w.Location), w.Detail, w.RuleName))
	}
	if results.Error != nil {
		return append(problems, fmt.Sprintf("%s:%d: %s", file, line(&results.Error.Location), results.Error.Message))
	}
	stages, err := stagesOf(text)
	if err != nil {
		return append(problems, fmt.Sprintf("%s: %v", file, err))
	}
	sent, err := b.sent(ctx)
	if err != nil {
		return append(problems, fmt.Sprintf("%s: %v", file, err))
	}
	return append(problems, missing(file, stages, sent)...)
}

func stagesOf(dockerfile []byte) ([]instructions.Stage, error) {
	parsed, err := parser.Parse(bytes.NewReader(dockerfile))
	if err != nil {
		return nil, err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	return stages, err
}

// missing says what the stages start from or copy that is not there: a file that is not sent, or what is neither a stage nor
// an image of a certain version, such as the misspelt name of a stage.
func missing(file string, stages []instructions.Stage, sent []string) []string {
	var problems []string
	for i, stage := range stages {
		if !isStage(stages[:i], stage.BaseName) && !versioned(stage.BaseName) && stage.BaseName != "scratch" {
			problems = append(problems, fmt.Sprintf("%s:%d: FROM %s is no stage above and does not say which version",
				file, stage.Location[0].Start.Line, stage.BaseName))
		}
		for _, command := range stage.Commands {
			c, ok := command.(*instructions.CopyCommand)
			if !ok {
				continue
			}
			at := fmt.Sprintf("%s:%d: ", file, c.Location()[0].Start.Line)
			switch {
			case c.From != "" && !isStage(stages[:i], c.From) && !versioned(c.From):
				problems = append(problems, at+"COPY --from="+c.From+" is no stage above and does not say which version")
			case c.From == "":
				for _, source := range c.SourcePaths {
					if !slices.ContainsFunc(sent, func(name string) bool { return holds(source, name) }) {
						problems = append(problems, at+"COPY "+source+" is not in the context, or is ignored")
					}
				}
			}
		}
	}
	return problems
}

// isStage tells whether one of the stages is called so, by its name or its number.
func isStage(stages []instructions.Stage, name string) bool {
	if i, err := strconv.Atoi(name); err == nil {
		return i < len(stages)
	}
	return slices.ContainsFunc(stages, func(s instructions.Stage) bool { return strings.EqualFold(s.Name, name) })
}

// holds tells whether the source of a COPY, which may be a pattern, takes the file along, itself or with a directory.
func holds(source, file string) bool {
	source = path.Clean("/" + source)
	for name := "/" + file; ; name = path.Dir(name) {
		if ok, err := path.Match(source, name); ok || err != nil || name == "/" {
			return ok
		}
	}
}

// anyImage answers for every registry that the image is there, for the platform that is asked for, and says nothing of itself.
type anyImage struct{}

func (anyImage) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config := []byte(`{"os": "linux", "architecture": "amd64", "config": {}}`)
	return ref, digest.FromBytes(config), config, nil
}

func line(l *pb.Location) int32 {
	if l == nil || len(l.Ranges) == 0 {
		return 1
	}
	return l.Ranges[0].Start.Line
}

// shown is the path as one would type it here.
func shown(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if short, err := filepath.Rel(here, file); err == nil && !strings.HasPrefix(short, "..") {
		return short
	}
	return file
}
