package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

type promptCmd struct {
	Add    promptAdd    `cmd:"" help:"Add a prompt to a brand; prints its id."`
	Edit   promptEdit   `cmd:"" help:"Change a prompt; what is not given stays."`
	List   promptList   `cmd:"" help:"List the prompts of a brand."`
	Remove promptRemove `cmd:"" help:"Delete a prompt; its answers stay in the figures."`
}

type promptAdd struct {
	brandFlags `embed:""`
	Text       string   `arg:"" help:"What is asked."`
	Set        string   `default:"Prompts" placeholder:"NAME" help:"The prompt set that it belongs to, made where it is missing (default Prompts)."`
	Topic      string   `placeholder:"NAME" help:"What it is about, to filter figures by; made where it is missing."`
	Platform   []string `placeholder:"SLUG" help:"Where it is asked, in place of the brand's platforms; repeat it for more."`
	Model      []string `placeholder:"SLUG" help:"The models that are asked, in place of the brand's; repeat it for more."`
	Region     []string `placeholder:"CODE" help:"The countries it is asked from, such as us; repeat it for more."`
	Samples    int      `default:"1" placeholder:"N" help:"How often it is asked each time, 1 to 10 (default 1)."`
	Branded    *bool    `negatable:"" help:"It names the brand, or with --no-branded does not; decided by its text when absent."`
	JSON       bool     `name:"json" help:"One JSON document."`
}

func (c *promptAdd) Run(ctx context.Context, p *process) error {
	if err := checkPrompt(&c.Text, &c.Samples); err != nil {
		return err
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		added := postgres.TrackedPrompt{
			Text: c.Text, Set: c.Set, Topic: c.Topic, Platforms: c.Platform, Models: c.Model, Regions: c.Region,
			Samples: c.Samples, IsBranded: c.Branded, IsActive: true,
		}
		var err error
		if added.ID, err = on.DB.AddPrompt(ctx, b.ID, added); err != nil {
			return err
		}
		return p.printResult(c.JSON, added, added.ID.String())
	})
}

// maxSamples is the store's rule for how often a prompt is asked each time.
const maxSamples = 10

// checkPrompt checks what is given as the store does.
func checkPrompt(text *string, samples *int) error {
	if text != nil && (strings.TrimSpace(*text) == "" || len(*text) > postgres.MaxPromptText || event.HasControls(*text)) {
		return usageError{fmt.Errorf("prompt %.40q: want 1 to %d bytes without control characters", *text, postgres.MaxPromptText)}
	}
	if samples != nil && (*samples < 1 || *samples > maxSamples) {
		return usageError{fmt.Errorf("--samples %d: want 1 to %d", *samples, maxSamples)}
	}
	return nil
}

type promptEdit struct {
	brandFlags `embed:""`
	ID         string   `arg:"" help:"Of the prompt, as prompt list prints it."`
	Text       *string  `placeholder:"TEXT" help:"What is asked from now on; earlier answers keep what they were asked."`
	Set        *string  `placeholder:"NAME" help:"Its prompt set, made where it is missing."`
	Topic      *string  `placeholder:"NAME" help:"Its topic, made where it is missing; \"\" for none."`
	Platform   []string `sep:"none" placeholder:"SLUG" help:"Where it is asked, in place of what it had; repeat it for more, \"\" for the brand's platforms."`
	Model      []string `sep:"none" placeholder:"SLUG" help:"The models that are asked, in place of what it had; \"\" for the brand's."`
	Region     []string `sep:"none" placeholder:"CODE" help:"The countries it is asked from, in place of what it had; \"\" for the brand's."`
	Samples    *int     `placeholder:"N" help:"How often it is asked each time, 1 to 10."`
	Branded    *bool    `negatable:"" help:"It names the brand, or with --no-branded does not."`
	Active     *bool    `negatable:"" help:"Ask it, or with --no-active keep it as it is."`
}

func (c *promptEdit) Run(ctx context.Context, p *process) error {
	id, err := promptID(c.ID)
	if err != nil {
		return err
	}
	if err := checkPrompt(c.Text, c.Samples); err != nil {
		return err
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return listedBy("answerscope prompt list", on.DB.EditPrompt(ctx, b.ID, id, postgres.PromptEdit{
			Text: c.Text, Set: c.Set, Topic: c.Topic, Platforms: replaced(c.Platform), Models: replaced(c.Model), Regions: replaced(c.Region),
			Samples: c.Samples, IsBranded: c.Branded, IsActive: c.Active,
		}))
	})
}

// replaced is the list that a repeated flag gives; nil where it is not given, empty where it is only ”.
func replaced(flags []string) *[]string {
	if flags == nil {
		return nil
	}
	return new(slices.DeleteFunc(flags, func(flag string) bool { return flag == "" }))
}

func promptID(text string) (uuid.UUID, error) {
	id, err := uuid.FromString(text)
	if err != nil {
		return id, usageError{fmt.Errorf("prompt %q: want the id that prompt list prints", text)}
	}
	return id, nil
}

type promptList struct {
	brandFlags `embed:""`
	JSON       bool `name:"json" help:"One JSON object a line."`
}

func (c *promptList) Run(ctx context.Context, p *process) error {
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		list, err := on.DB.Prompts(ctx, b.ID)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, func(t postgres.TrackedPrompt) string {
			state := "active"
			if !t.IsActive {
				state = "inactive"
			}
			return strings.Join([]string{t.ID.String(), state, t.Set, t.Topic, t.Text}, "\t")
		}, "ID", "STATE", "SET", "TOPIC", "TEXT")
	})
}

type promptRemove struct {
	brandFlags `embed:""`
	ID         string `arg:"" help:"Of the prompt, as prompt list prints it."`
}

func (c *promptRemove) Run(ctx context.Context, p *process) error {
	id, err := promptID(c.ID)
	if err != nil {
		return err
	}
	return c.with(ctx, p, func(ctx context.Context, on *engines, b postgres.Brand) error {
		return listedBy("answerscope prompt list", on.DB.RemovePrompt(ctx, b.ID, id))
	})
}
