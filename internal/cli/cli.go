// Package cli is the command line: it wires the components into subcommands. Only main imports it.
package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/config"
)

// grammar has every command with its flags, in the order of --help.
type grammar struct {
	Settings settings         `embed:""`
	Build    kong.VersionFlag `name:"version" env:"-" help:"Show which build this is."`
	HelpAll  helpAll          `name:"help-all" env:"-" help:"Show this, and the settings that every command takes."`

	Demo   demoCmd   `cmd:"" group:"start" help:"Run everything, with 60 days of simulated answers to look at."`
	All    allCmd    `cmd:"" group:"start" help:"Run everything on one port."`
	Status statusCmd `cmd:"" group:"start" help:"Show what runs on the data directory: addresses, keys, lag, disk."`

	Org        orgCmd        `cmd:"" group:"who" help:"Add, change and list organizations."`
	User       userCmd       `cmd:"" group:"who" help:"Add, list, disable and remove users; passwords, roles."`
	Key        keyCmd        `cmd:"" group:"who" help:"Create, list and revoke API keys."`
	Brand      brandCmd      `cmd:"" group:"who" help:"Add, change, list and delete brands, and where they are asked."`
	Competitor competitorCmd `cmd:"" group:"who" help:"Add, change, list and remove what a brand is compared with."`
	Prompt     promptCmd     `cmd:"" group:"who" help:"Add, change, list and delete a brand's prompts."`
	Provider   providerCmd   `cmd:"" group:"who" help:"List AI platforms; set their keys, limits, capture providers."`
	Budget     budgetCmd     `cmd:"" group:"who" help:"Limit what tracking may cost an organization."`
	Share      shareCmd      `cmd:"" group:"who" help:"Let people without an account see screens, by a link."`
	Webhook    webhookCmd    `cmd:"" group:"who" help:"Add, test, list and remove where events are posted."`
	Analyst    analystCmd    `cmd:"" group:"who" help:"Give people access by SQL, each to one organization."`
	Access     accessCmd     `cmd:"" group:"who" help:"Show who gave access or changed brands, when and from where."`

	Track    trackCmd    `cmd:"" group:"answers" help:"Ask AI platforms a brand's prompts, and show progress."`
	Ask      askCmd      `cmd:"" group:"answers" help:"Ask an AI platform now, and see how its answer is read."`
	Import   importCmd   `cmd:"" group:"answers" help:"Bring in answers captured elsewhere."`
	Crawlers crawlersCmd `cmd:"" group:"answers" help:"Count the requests of AI crawlers."`
	Pixel    pixelCmd    `cmd:"" group:"answers" help:"Show the script tag that reports visits, to paste into a site."`
	Reread   rereadCmd   `cmd:"" group:"answers" help:"Extract stored answers again and show progress."`

	Verdict verdictCmd `cmd:"" group:"figures" help:"Show whether a brand's figures moved, or noise explains it."`
	Advise  adviseCmd  `cmd:"" group:"figures" help:"Compute what a brand might do next, from its answers."`
	Report  reportCmd  `cmd:"" group:"figures" help:"Print the weekly report of a brand, as it is mailed."`
	Plan    planCmd    `cmd:"" group:"figures" help:"Compute how many answers a day would show a change."`
	MCP     mcpCmd     `cmd:"" group:"figures" name:"mcp" help:"Give an AI client on this machine a server's figures."`
	Export  exportCmd  `cmd:"" group:"figures" help:"Write a brand's raw facts, as NDJSON or Parquet."`

	Migrate     migrateCmd     `cmd:"" group:"ops" help:"Bring the schemas and the topics up to this binary."`
	Backup      backupCmd      `cmd:"" group:"ops" help:"Copy all that the embedded engines hold, while they run."`
	Restore     restoreCmd     `cmd:"" group:"ops" help:"Make an installation of a backup."`
	Cluster     clusterCmd     `cmd:"" group:"ops" help:"Make the installation larger, while it runs."`
	Secrets     secretsCmd     `cmd:"" group:"ops" help:"Encrypt the secrets in the database with another key."`
	Reconcile   reconcileCmd   `cmd:"" group:"ops" help:"Compare figures with facts, and rebuild those that differ."`
	Recover     recoverCmd     `cmd:"" group:"ops" help:"Put facts back that a broken part has lost, from the log."`
	Verdicts    verdictsCmd    `cmd:"" group:"ops" help:"Check how often verdicts are false."`
	DeadLetters deadLettersCmd `cmd:"" group:"ops" name:"deadletters" help:"List and replay uncounted records."`
	Mail        mailCmd        `cmd:"" group:"ops" help:"Try the mail relay."`
	Config      configCmd      `cmd:"" group:"ops" help:"Show the effective configuration, secrets masked."`
	Bench       benchCmd       `cmd:"" group:"ops" help:"Measure this machine."`
	Version     versionCmd     `cmd:"" group:"ops" help:"Show which build this is."`

	Pipeline  pipelineCmd  `cmd:"" group:"parts" help:"Run the part that reads the log into the warehouse."`
	Collector collectorCmd `cmd:"" group:"parts" help:"Run the part that serves the pixel and takes its beacons."`
	Ingest    ingestCmd    `cmd:"" group:"parts" help:"Run the part that asks AI platforms."`
	Queryapi  queryapiCmd  `cmd:"" group:"parts" help:"Run the part that answers /api/v1 and signs users in."`
}

// settings are config.Settings without their Validate: kong would call it before the environment is read, and `config`
// must run on wrong settings.
type settings config.Settings

// Exit statuses, a contract.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3 // done, but some inputs were refused, and are listed
)

// A usageError is a mistake in the call of a command, not a failure of its work.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// errRefused is the result of a command that has listed refused inputs.
var errRefused = errors.New("some inputs were refused")

// Main runs the command that the process was started with and returns its exit status.
func Main() int {
	engine.Main() // an engine's child process ends in there
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills at once; the engines' guards stop what is left

	var g grammar
	parser, err := newParser(&g)
	if err != nil {
		panic(err) // the grammar is wrong: any command of any test shows it
	}
	chosen, err := parser.Parse(os.Args[1:])
	if mistake, ok := errors.AsType[*kong.ParseError](err); ok && len(os.Args) == 1 {
		parser.Stdout = os.Stderr // no result: a script that forgot the command must not take it for one
		_ = mistake.Context.PrintUsage(false)
		return exitUsage
	}
	if err != nil {
		return report(&process{stderr: os.Stderr}, usageError{err})
	}
	g.Settings.Outside = config.FromEnvironment(os.Environ())
	command := strings.TrimPrefix(chosen.Selected().FullPath(), "answerscope ")
	p := newProcess(config.Settings(g.Settings), command, os.Stdin, os.Stdout, os.Stderr)
	p.unknown = config.Unknown(os.Environ(), variables(chosen.Model.Node, p.Settings.Outside))
	err = p.Do(ctx, func(ctx context.Context) error {
		chosen.BindTo(ctx, (*context.Context)(nil))
		if err := p.bindEngines(chosen); err != nil {
			return err
		}
		return chosen.Run(p, chosen)
	})
	if mistake, ok := errors.AsType[usageError](err); ok {
		err = usageError{namedAsGiven(chosen, mistake)}
	}
	return report(p, err)
}

// helpTexts has a section for each command, which --help shows beside its flags, and one with the texts of flags.
//
//go:embed help.txt
var helpTexts string

// readHelp returns the texts of commands by name, and what puts a flag's text in place of its name in braces.
func readHelp() (commands map[string]string, flags *strings.Replacer) {
	commands = map[string]string{}
	var texts []string
	for section := range strings.SplitSeq("\n"+helpTexts, "\n# ") {
		command, text, _ := strings.Cut(section, "\n")
		commands["answerscope "+command] = strings.TrimSpace(text)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(commands["answerscope flags"], "\n  ", " "), "\n") {
		name, text, _ := strings.Cut(line, ": ")
		texts = append(texts, "{"+name+"}", text)
	}
	return commands, strings.NewReplacer(texts...)
}

func newParser(g *grammar) (*kong.Kong, error) {
	commands, flags := readHelp()
	parser, err := kong.New(g,
		kong.Name("answerscope"),
		kong.Description("How AI answer engines speak of your brand: asked, kept, counted once, and answered by "+
			"API and SQL."),
		kong.DefaultEnvars("ANSWERSCOPE"),
		kong.Vars{ // few, since kong expands each once more for every flag of every command
			"platforms": catalog.Slugs(), "version": thisBuild().String(),
			"topics": topicList(), "topic_names": strings.Join(event.TopicNames(), ","),
			"timeout":      fmt.Sprintf("%.0fs", platform.DefaultTimeout.Seconds()),
			"frequencies":  "hourly,daily,weekly,monthly,manual",
			"advise_kinds": "gap,source,competitor,alias,prompt,topic,page,theme",
		},
		kong.ConfigureHelp(kong.HelpOptions{
			Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 120}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "start", Title: "Start here:"},
			{Key: "who", Title: "Who is tracked, by whom, and who sees it:"},
			{Key: "answers", Title: "Bring in answers and visits:"},
			{Key: "figures", Title: "Read the figures:"},
			{Key: "ops", Title: "Operate an installation:"},
			{Key: "parts", Title: "Run its parts apart:"},
		}),
	)
	if err != nil {
		return nil, err
	}
	for _, flag := range parser.Model.Flags {
		if flag.Name != "help" && flag.Name != "help-all" && flag.Name != "version" {
			flag.Hidden, flag.Group = true, &kong.Group{Key: "settings", Title: "Settings of every command:"}
		}
	}
	return parser, kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		switch node := node.(type) {
		case *kong.Node:
			node.Detail = commands[node.FullPath()]
		case *kong.Value:
			node.Help = flags.Replace(node.Help)
		}
		return next(nil)
	})
}

// helpAll is the flag that also shows the settings of every command, which --help leaves out.
type helpAll bool

// IgnoreDefault lets BeforeReset be called only where the flag is given.
func (helpAll) IgnoreDefault() {}

// BeforeReset prints the help before anything that is missing on the command line is an error.
func (helpAll) BeforeReset(ctx *kong.Context) error {
	for _, flag := range ctx.Model.Flags {
		flag.Hidden = false
	}
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	ctx.Kong.Exit(exitDone)
	return nil
}

// report prints once, on stderr, why a command failed, and returns its exit status.
func report(p *process, err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errRefused):
		return exitRefused
	}
	p.say("answerscope: %v", err)
	if mistake, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintln(p.stderr, usage(mistake))
		return exitUsage
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// usage points from a mistake to the help of the command it was made in.
func usage(mistake *kong.ParseError) string {
	command := "answerscope"
	if selected := mistake.Context.Selected(); selected != nil {
		command = selected.FullPath()
	}
	return fmt.Sprintf("run %q for its flags and an example", command+" --help")
}
