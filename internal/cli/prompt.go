package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/queryapi/topics"
	"github.com/answerscope/answerscope/sql/postgres"
)

type promptCmd struct {
	Add    promptAdd    `cmd:"" help:"Add a prompt to a brand; prints its id."`
	Edit   promptEdit   `cmd:"" help:"Change a prompt; what is not given stays."`
	List   promptList   `cmd:"" help:"List the prompts of a brand."`
	Remove promptRemove `cmd:"" help:"Delete a prompt; its answers stay in the figures."`
}

type promptAdd struct {
	brandFlags
	Text     string   `arg:"" help:"What is asked."`
	Set      string   `default:"Prompts" placeholder:"NAME" help:"{prompt_add_set}"`
	Topic    string   `placeholder:"NAME" help:"What it is about, to filter figures by; made where it is missing."`
	Propose  bool     `name:"propose-topic" help:"{prompt_add_propose}"`
	Platform []string `placeholder:"SLUG" help:"{prompt_add_platform}"`
	Model    []string `placeholder:"SLUG" help:"{prompt_add_model}"`
	Region   []string `placeholder:"CODE" help:"The countries it is asked from, such as us; repeat it for more."`
	Samples  int      `default:"1" placeholder:"N" help:"How often it is asked each time, 1 to 10 (default 1)."`
	Branded  *bool    `negatable:"" help:"{prompt_add_branded}"`
	JSON     bool     `name:"json" help:"One JSON document."`
}

// Validate checks the text and the samples.
func (c *promptAdd) Validate() error { return checkPrompt(&c.Text, &c.Samples) }

func (c *promptAdd) Run(ctx context.Context, p *process, db *postgres.DB, brand postgres.Brand) (err error) {
	prompt := postgres.TrackedPrompt{
		Text: c.Text, Set: c.Set, Topic: c.Topic, Platforms: c.Platform, Models: c.Model, Regions: c.Region,
		Samples: c.Samples, IsBranded: c.Branded, IsActive: true,
	}
	proposal := ""
	if c.Topic == "" {
		existing, err := topics.Read(ctx, db, brand.OrganizationID, brand.ID)
		if err != nil {
			return err
		}
		proposals, err := existing.Propose(ctx, []string{c.Text})
		if err != nil {
			return err
		}
		proposal = proposals[c.Text]
	}
	if c.Propose {
		prompt.Topic = cmp.Or(c.Topic, proposal)
	}
	if prompt.ID, err = db.AddPrompt(ctx, brand.ID, prompt); err != nil {
		return err
	}
	switch {
	case proposal == "":
	case c.Propose:
		p.say("topic: %s (proposed; --topic NAME chooses another)", proposal)
	default:
		p.say("topic: none (proposed: %s; --propose-topic sets it, --topic NAME another)", proposal)
	}
	return p.printResult(c.JSON, prompt, prompt.ID.String())
}

// maxSamples is the database's rule for how often a prompt is asked each time.
const maxSamples = 10

// checkPrompt checks a text and a number of samples as the database does.
func checkPrompt(text *string, samples *int) error {
	if text != nil && (strings.TrimSpace(*text) == "" || len(*text) > postgres.MaxPromptText ||
		event.HasControls(*text)) {
		return fmt.Errorf("prompt %.40q: want 1 to %d bytes without control characters", *text, postgres.MaxPromptText)
	}
	if samples != nil && (*samples < 1 || *samples > maxSamples) {
		return fmt.Errorf("--samples %d: want 1 to %d", *samples, maxSamples)
	}
	return nil
}

// promptArg is the id of a prompt.
type promptArg struct {
	ID string `arg:"" help:"Of the prompt, as prompt list prints it."`

	id uuid.UUID
}

// Validate checks the id.
func (c *promptArg) Validate() (err error) {
	if c.id, err = uuid.FromString(c.ID); err != nil {
		return fmt.Errorf("prompt %q: want the id that prompt list prints", c.ID)
	}
	return nil
}

const promptListCommand = "answerscope prompt list"

type promptEdit struct {
	brandFlags
	promptArg
	Text     *string  `placeholder:"TEXT" help:"What is asked from now on; earlier answers keep what they were asked."`
	Set      *string  `placeholder:"NAME" help:"Its prompt set, made where it is missing."`
	Topic    *string  `placeholder:"NAME" help:"Its topic, made where it is missing; \"\" for none."`
	Platform []string `sep:"none" placeholder:"SLUG" help:"{prompt_edit_platform}"`
	Model    []string `sep:"none" placeholder:"SLUG" help:"{prompt_edit_model}"`
	Region   []string `sep:"none" placeholder:"CODE" help:"{prompt_edit_region}"`
	Samples  *int     `placeholder:"N" help:"How often it is asked each time, 1 to 10."`
	Branded  *bool    `negatable:"" help:"It names the brand, or with --no-branded does not."`
	Active   *bool    `negatable:"" help:"Ask it, or with --no-active keep it as it is."`
}

// Validate checks the id, the text and the samples.
func (c *promptEdit) Validate() error {
	return errors.Join(c.promptArg.Validate(), checkPrompt(c.Text, c.Samples))
}

func (c *promptEdit) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return suggestList(promptListCommand, db.EditPrompt(ctx, brand.ID, c.id, postgres.PromptEdit{
		Text: c.Text, Set: c.Set, Topic: c.Topic, Platforms: replacement(c.Platform), Models: replacement(c.Model),
		Regions: replacement(c.Region),
		Samples: c.Samples, IsBranded: c.Branded, IsActive: c.Active,
	}))
}

// replacement is the list that a repeated flag gives; nil where it is not given, empty where it is only ”.
func replacement(flags []string) *[]string {
	if flags == nil {
		return nil
	}
	return new(slices.DeleteFunc(flags, func(flag string) bool { return flag == "" }))
}

type promptList struct {
	brandFlags
	JSON bool `name:"json" help:"One JSON object a line."`
}

func (c *promptList) Run(ctx context.Context, p *process, db *postgres.DB, brand postgres.Brand) error {
	return asList(db.Prompts(ctx, brand.ID)).print(p, c.JSON, func(t postgres.TrackedPrompt) string {
		state := "active"
		if !t.IsActive {
			state = "inactive"
		}
		return strings.Join([]string{t.ID.String(), state, t.Set, t.Topic, t.Text}, "\t")
	}, "ID", "STATE", "SET", "TOPIC", "TEXT")
}

type promptRemove struct {
	brandFlags
	promptArg
}

func (c *promptRemove) Run(ctx context.Context, db *postgres.DB, brand postgres.Brand) error {
	return suggestList(promptListCommand, db.RemovePrompt(ctx, brand.ID, c.id))
}
