package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"
)

// load reads the file as `docker compose config` does, with the services of every profile: interpolation, schema, merging,
// and whether services, volumes and networks that are named are there. What Compose only warns of is a problem here. Of a
// file that Compose refuses there is no project.
func load(ctx context.Context, file string, env []string) (*types.Project, []string) {
	heard := &remarks{file: file}
	logrus.SetOutput(io.Discard)
	logrus.StandardLogger().ReplaceHooks(logrus.LevelHooks{})
	logrus.AddHook(heard)
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithEnv(env), cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	if err != nil {
		return nil, []string{fmt.Sprintf("%s: %v", file, err)}
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		for said := range strings.Lines(err.Error()) {
			heard.add(said)
		}
	}
	return project, heard.said
}

// remarks keeps what the reader of Compose only logs, such as a variable that is not set.
type remarks struct {
	file string
	said []string
}

func (r *remarks) Levels() []logrus.Level {
	return []logrus.Level{logrus.ErrorLevel, logrus.WarnLevel}
}

func (r *remarks) Fire(entry *logrus.Entry) error {
	r.add(entry.Message)
	return nil
}

// add keeps what was said without the file that some of it names and some does not.
func (r *remarks) add(said string) {
	if absolute, err := filepath.Abs(r.file); err == nil {
		said = strings.TrimPrefix(strings.TrimPrefix(said, "validating "), absolute+": ")
	}
	r.said = append(r.said, r.file+": "+strings.TrimSpace(said))
}

// stuck says which services `docker compose up` would wait for in vain, which it finds out only then, and which it would run
// in whatever version is the newest that day.
func stuck(file string, project *types.Project) []string {
	var problems []string
	for name, service := range project.Services {
		if service.Build == nil && !versioned(service.Image) {
			problems = append(problems, fmt.Sprintf("%s: services.%s.image: %s does not say which version", file, name, service.Image))
		}
		for awaited, how := range service.DependsOn {
			place := fmt.Sprintf("%s: services.%s.depends_on.%s", file, name, awaited)
			other := project.Services[awaited]
			switch how.Condition {
			case types.ServiceConditionHealthy:
				if other.HealthCheck == nil || other.HealthCheck.Disable {
					problems = append(problems, place+": waits for its health, but it has no healthcheck")
				}
			case types.ServiceConditionCompletedSuccessfully:
				if other.Restart == types.RestartPolicyAlways || other.Restart == types.RestartPolicyUnlessStopped {
					problems = append(problems, place+": waits for its end, but it is started again whenever it ends")
				}
			}
		}
	}
	return problems
}

// versioned tells whether an image is named with its tag or digest; a port of a registry is none.
func versioned(image string) bool {
	return strings.ContainsAny(image[strings.LastIndex(image, "/")+1:], ":@")
}

// builds are the different images that the project makes itself.
func builds(project *types.Project) []build {
	var found []build
	for _, service := range project.Services {
		if service.Build == nil {
			continue
		}
		b := build{context: service.Build.Context, dockerfile: service.Build.Dockerfile}
		if !filepath.IsAbs(b.dockerfile) {
			b.dockerfile = filepath.Join(b.context, b.dockerfile)
		}
		if !slices.Contains(found, b) {
			found = append(found, b)
		}
	}
	return found
}
