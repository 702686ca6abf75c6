package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/sql/postgres"
)

// rereads is the command reread.
type rereads struct {
	Org   string `placeholder:"SLUG" help:"Only its brands."`
	Brand string `placeholder:"SLUG" help:"Only this brand of --org."`
	From  string `placeholder:"DAY" help:"Only answers of this UTC day, 2026-03-01, and later."`
	To    string `placeholder:"DAY" help:"Only answers of this UTC day and earlier."`
	List  bool   `help:"Ask for nothing; show what is to be, is and was read again."`
	JSON  bool   `name:"json" help:"One JSON object a line."`
}

func (rereads) Help() string {
	return `Kept answers are read again in the background, with the brand's present names and the newest extractor. Edits of names,
aliases, domains and competitors queue that by themselves, and so does an hourly sweep; this command asks for it now, for
the brands that it names, or for all. Answers that stand as they would be read are left alone, so it may be run at any
time and twice. It returns at once: a running pipeline does the work, and --list shows how far it is.

Example:

  answerscope reread --org acme --brand lumen --from 2026-03-01
  answerscope reread --list --json`
}

func (c *rereads) Run(ctx context.Context, p *process) error {
	days, err := c.days()
	if err != nil {
		return usageError{err}
	}
	if c.Brand != "" && c.Org == "" {
		return usageError{errors.New("--brand names a brand of an organization: want --org too")}
	}
	return p.controlling(ctx, "reread", func(ctx context.Context, db *postgres.DB) error {
		organization, brand, err := c.whose(ctx, db)
		if err != nil {
			return err
		}
		if !c.List {
			asked, err := db.AskRereads(ctx, organization, brand, days)
			if err != nil {
				return err
			}
			p.tell("asked for %d brands; answerscope reread --list shows how far they are", asked)
		}
		states, err := db.Rereads(ctx, organization, brand)
		if err != nil {
			return err
		}
		return c.print(p, states)
	})
}

func (c *rereads) days() (days postgres.Days, err error) {
	if days.First, err = day("--from", c.From); err != nil {
		return days, err
	}
	if days.Last, err = day("--to", c.To); err != nil {
		return days, err
	}
	switch {
	case c.List && (days.First != nil || days.Last != nil):
		return days, errors.New("--list shows all days: want no --from and --to")
	case days.First != nil && days.Last != nil && days.First.After(*days.Last):
		return days, fmt.Errorf("--from %s is after --to %s", c.From, c.To)
	}
	return days, nil
}

// day reads a flag; nil where it is absent.
func day(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: want a day such as 2026-03-01", flag, text)
	}
	return &at, nil
}

// whose are the ids that --org and --brand name, nil for all.
func (c *rereads) whose(ctx context.Context, db *postgres.DB) (organization, brand *uuid.UUID, err error) {
	if c.Org == "" {
		return nil, nil, nil
	}
	o, err := db.OrganizationBySlug(ctx, c.Org)
	if err != nil || c.Brand == "" {
		return &o.ID, nil, err
	}
	b, err := db.BrandBySlug(ctx, o.ID, c.Brand)
	return &o.ID, &b.ID, err
}

func (c *rereads) print(p *process, states []postgres.RereadState) error {
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for i, s := range states {
		if c.JSON {
			if err := p.printJSON(s); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			fmt.Fprintln(table, "ORGANIZATION\tBRAND\tSTATE\tANSWERS\tDAYS\tSINCE\tTROUBLE")
		}
		line(table, s)
	}
	return table.Flush()
}

func line(out io.Writer, s postgres.RereadState) {
	since := s.FinishedAt
	switch s.State {
	case "waiting":
		since = s.AskedAt
	case "reading":
		since = s.StartedAt
	}
	days := "all"
	if s.FirstDay+s.LastDay != "" {
		days = s.FirstDay + ".." + s.LastDay
	}
	fmt.Fprintf(out, "%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", s.Organization, s.Brand, s.State, s.Done, s.Total, days, since.Format(time.DateTime), s.LastError)
}

// assembleReread adds what reads kept answers again, and the producer of the pipeline, which is also the collector's where
// both are in one process.
func assembleReread(s *service) (err error) {
	if s.appends, err = s.newProducer(s.engines, s.metrics, s.takes.spool(s.DataDir)); err != nil {
		return err
	}
	cfg := reread.DefaultConfig()
	cfg.Connection = s.kafka(s.engines)
	cfg.Group, cfg.Topic = s.Kafka.TopicPrefix+groupOfAnswers, s.Kafka.TopicPrefix+event.TopicAnswers
	again, err := reread.New(cfg, s.db, s.warehouse, s.appends, s.metrics, s.log)
	if err != nil {
		return err
	}
	s.part("producer", s.appends.Run)
	s.part("reread", again.Run)
	s.chores.Every("sweep of rereads", timetable.Hourly(17), again.Sweep)
	return nil
}
