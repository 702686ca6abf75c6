package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/tracking"
	demodata "github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/pipeline/extract"
)

type askCmd struct {
	Slug     string        `arg:"" optional:"" name:"platform" help:"${platforms}."`
	Words    []string      `arg:"" optional:"" name:"prompt" help:"What to ask."`
	Platform string        `placeholder:"PLATFORM" help:"In place of the first argument."`
	Prompt   string        `placeholder:"TEXT" help:"In place of the other arguments."`
	Model    string        `placeholder:"MODEL" help:"{ask_model}"`
	Region   string        `placeholder:"COUNTRY" help:"{ask_region}"`
	Language string        `placeholder:"LANGUAGE" help:"Of the prompt, such as de."`
	Timeout  time.Duration `default:"${timeout}" placeholder:"DURATION" help:"How long to wait (default ${timeout})."`
	Brand    []string      `placeholder:"NAME" help:"{ask_brand}"`
	JSON     bool          `name:"json" xor:"form" help:"The record of the answer, one JSON document."`
	Raw      bool          `xor:"form" help:"The payload as the platform sent it, also one that cannot be read."`
}

// AfterApply reads platform and prompt, each from its flag or from the arguments.
func (c *askCmd) AfterApply() error {
	words := c.Words
	if c.Slug != "" {
		words = append([]string{c.Slug}, words...)
	}
	if c.Platform == "" && len(words) > 0 {
		c.Platform, words = words[0], words[1:]
	}
	if c.Prompt != "" && len(words) > 0 {
		return fmt.Errorf("unexpected argument %q beside --prompt", words[0])
	}
	c.Prompt = cmp.Or(c.Prompt, strings.Join(words, " "))
	if c.Platform == "" || strings.TrimSpace(c.Prompt) == "" {
		return errors.New(`want a platform and a prompt, such as openai "best tent?"`)
	}
	return nil
}

func (c *askCmd) Run(ctx context.Context, p *process) error {
	if err := p.Settings.Validate(); err != nil {
		return usageError{err}
	}
	platforms := tracking.NewPlatforms(p.Settings.Outside, nil, secret.Ring{})
	if err := platforms.Validate(); err != nil {
		return usageError{err}
	}
	chosen, err := platforms.Find(ctx, uuid.Nil, c.Platform)
	if err == nil {
		err = c.check(chosen)
	}
	if err != nil {
		return usageError{err}
	}
	if chosen.Unavailable != "" {
		return fmt.Errorf("%s: %s: %s", chosen.Slug, platform.Auth, chosen.Unavailable)
	}
	brand, competitors := c.entities(chosen)
	opened, err := chosen.Open(simulator.Cast{Brand: brand, Competitors: competitors})
	if err != nil {
		return usageError{err}
	}
	if c.Region != "" && !chosen.TakesRegion {
		p.say("%s takes no region: it answers as it does everywhere", chosen.Slug)
	}
	run, reply, err := c.ask(ctx, chosen, opened)
	raw := reply.Raw
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		raw = failure.Raw
	}
	if c.Raw && len(raw) > 0 {
		err = errors.Join(p.print(string(raw)), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", chosen.Slug, err)
	}
	if c.Raw {
		return nil
	}
	if len(c.Brand) > 0 {
		run.Snapshot = answer.Snapshot{Brand: event.Brand{Entity: brand}, Competitors: competitors}
	}
	record := run.Answered(reply)
	if c.JSON {
		text, err := event.EncodeAnswer(nil, &record)
		if err != nil {
			return fmt.Errorf("encode the record: %w", err)
		}
		return p.print(string(text))
	}
	return p.printAnswer(&record, c.Brand)
}

// check fills in the default model and checks the flags.
func (c *askCmd) check(chosen tracking.Platform) error {
	c.Region = strings.ToLower(c.Region)
	var models []string
	for _, m := range chosen.Models {
		models = append(models, m.Slug)
	}
	c.Model = chosen.Requested(c.Model)
	isChosen := func(d platform.Description) bool { return d.Slug == chosen.Slug }
	switch {
	case slices.ContainsFunc(capture.Providers(), isChosen):
		return fmt.Errorf("%s captures surfaces: want one of these, such as google-ai-overview", chosen.Slug)
	case !tracking.IsRegion(c.Region):
		return fmt.Errorf("--region %q: want a country of ISO 3166-1, such as us", c.Region)
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout %s: want more than 0, such as 120s", c.Timeout)
	case c.Model != "" && !slices.Contains(models, c.Model):
		return problem.New(problem.Missing,
			"model %q of %s is unknown: want one of %s, or name it in ANSWERSCOPE_PLATFORM_<NAME>_MODELS",
			c.Model, chosen.Slug, strings.Join(models, ", "))
	}
	return nil
}

// entities returns the brand and the competitors of --brand. The simulator has to name brands, so without the flag it
// names the demo's.
func (c *askCmd) entities(chosen tracking.Platform) (brand event.Entity, competitors []event.Entity) {
	for _, name := range c.Brand {
		e := event.Entity{ID: uuid.NewV5(uuid.Nil, name), Name: name}
		if brand.Name == "" {
			brand = e
			continue
		}
		competitors = append(competitors, e)
	}
	if len(c.Brand) == 0 && platform.Simulated(chosen.Slug) {
		demo := demodata.Brand()
		brand = event.Entity{Name: demo.Name, Aliases: demo.Aliases, Domains: demo.Domains}
		for _, other := range demo.Competitors {
			competitors = append(competitors,
				event.Entity{Name: other.Name, Aliases: other.Aliases, Domains: other.Domains})
		}
	}
	return brand, competitors
}

// ask asks once. The run has neither brand nor prompt: their ids are nil.
func (c *askCmd) ask(
	ctx context.Context, chosen tracking.Platform, opened platform.Platform,
) (answer.Run, platform.Reply, error) {
	begun := time.Now()
	run := answer.Run{
		Prompt: event.Prompt{Text: c.Prompt}, Platform: chosen.Slug, Model: c.Model, Region: c.Region,
		Language: c.Language,
		Sample:   1, Due: begun, Attempts: 1,
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	reply, err := opened.Ask(ctx, run.Question())
	run.EndedAt = time.Now()
	run.Latency = run.EndedAt.Sub(begun)
	return run, reply, err
}

// printAnswer prints an answer and its reading.
func (p *process) printAnswer(a *event.Answer, names []string) error {
	text := a.Text
	if a.Finish == event.FinishNotShown {
		text, names = "no overview was shown", nil
	}
	if err := p.print(text); err != nil {
		return err
	}
	reading := extract.Read(a)
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	// Flush returns an error of these.
	row := func(format string, args ...any) { fmt.Fprintln(table, escaped(fmt.Sprintf(format, args...))) }
	row("")
	for i, name := range names {
		entity := reading.Brand
		if i > 0 {
			entity = reading.Competitors[i-1]
		}
		if entity.Mentions == 0 {
			row("%s\tnot mentioned", name)
			continue
		}
		row("%s\tposition %d, mentions %d", name, entity.Position, entity.Mentions)
	}
	for _, cited := range []bool{true, false} {
		for _, citation := range reading.Citations {
			if citation.Cited == cited {
				kind := map[bool]string{true: "cited", false: "consulted"}[cited]
				row("%s\t%s\t%s\t%s", kind, citation.Listed, citation.URL, citation.Title)
			}
		}
	}
	for _, query := range a.SearchQueries {
		row("searched\t%s", query)
	}
	for _, card := range a.Products {
		row("product\t%s\t%s %s", card.Title, card.PriceAmount, card.PriceCurrency)
	}
	if a.Simulated {
		row("simulated\tno platform was asked")
	}
	if a.Provider != "" {
		row("provider\t%s", a.Provider)
	}
	if a.Model+a.ServedModel != "" {
		row("model\t%s, served %s", cmp.Or(a.Model, "none"), cmp.Or(a.ServedModel, "unknown"))
	}
	row("finish\t%s after %.1f s", a.Finish, float64(a.LatencyMS)/1000)
	if u := a.Usage; u != nil {
		if u.InputTokens+u.OutputTokens > 0 {
			row("usage\t%d tokens in, %d out, %d searches", u.InputTokens, u.OutputTokens, u.Searches)
		}
		cost := "unknown"
		if u.CostUSD != "" {
			cost = u.CostUSD + " USD"
		}
		row("cost\t%s", cost)
	}
	return table.Flush()
}
