package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/answerscope/answerscope/internal/config"
)

// configCmd prints the settings as a server on this machine would have them.
type configCmd struct {
	allFlags     `embed:""`
	forwardFlags `embed:""`
	restFlags    `embed:"" prefix:"rest-"`

	Check bool `help:"Print nothing; say what is wrong and exit 1 if anything is."`
	JSON  bool `name:"json" help:"One JSON document."`
}

// setting is one line of the effective configuration.
type setting struct {
	Name  string `json:"-"`
	Value string `json:"value"`
	From  string `json:"from"` // flag, environment or default
}

func (c *configCmd) Run(p *process, chosen *kong.Context) error {
	if c.Check {
		wrong := errors.Join(p.Settings.Validate(), c.allFlags.validate(p.Settings), c.forwardFlags.validate(),
			c.restFlags.validate())
		return errors.Join(namedAsGiven(chosen, wrong), errors.Join(p.unknown...))
	}
	settings := effectiveSettings(chosen, p.Settings.Outside)
	if c.JSON {
		document := map[string]setting{}
		for _, s := range settings {
			document[s.Name] = s
		}
		return p.printJSON(document)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, s := range settings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Name, s.Value, s.From)
	}
	return table.Flush()
}

// effectiveSettings lists the flags of chosen, but for its own two, then what comes from the environment alone.
func effectiveSettings(chosen *kong.Context, outside config.Outside) []setting {
	var list []setting
	for _, flag := range chosen.Flags() {
		if len(flag.Envs) == 0 || flag.Name == "check" || flag.Name == "json" {
			continue
		}
		list = append(list, setting{flag.Envs[0], fmt.Sprint(chosen.FlagValue(flag)), from(chosen, flag)})
	}
	for _, v := range outside.Variables() {
		s := setting{v.Name, v.Masked, "environment"}
		if v.Masked == "" {
			s.From = "default"
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// namedAsGiven is err with the names of settings as they were given: of a flag of the command line --flag, else the
// variable.
func namedAsGiven(chosen *kong.Context, err error) error {
	if err == nil {
		return nil
	}
	flags := map[string]string{}
	for _, flag := range chosen.Flags() {
		if len(flag.Envs) > 0 && from(chosen, flag) == "flag" {
			flags[flag.Envs[0]] = "--" + flag.Name
		}
	}
	variable := regexp.MustCompile(`\b` + config.Prefix + `\w+`)
	return errors.New(variable.ReplaceAllStringFunc(err.Error(),
		func(name string) string { return cmp.Or(flags[name], name) }))
}

// from is the source of a flag's value.
func from(chosen *kong.Context, flag *kong.Flag) string {
	for _, step := range chosen.Path {
		if step.Flag == flag && !step.Resolved {
			return "flag"
		}
	}
	if _, set := os.LookupEnv(flag.Envs[0]); set {
		return "environment"
	}
	return "default"
}

// variables names every variable that some command or Outside reads.
func variables(node *kong.Node, outside config.Outside) []string {
	var names []string
	for _, flag := range node.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range node.Children {
		names = append(names, variables(child, config.Outside{})...)
	}
	for _, v := range outside.Variables() {
		names = append(names, v.Name)
	}
	return append(names, "ANSWERSCOPE_ENGINES_HOME") // read by deploy/engine itself
}
