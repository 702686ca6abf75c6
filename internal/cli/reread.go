package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// rereadCmd is the command reread.
type rereadCmd struct {
	Org   string `placeholder:"SLUG" help:"Only its brands."`
	Brand string `placeholder:"SLUG" help:"Only this brand of --org."`
	From  string `placeholder:"DAY" help:"Only answers of this UTC day, 2026-03-01, and later."`
	To    string `placeholder:"DAY" help:"Only answers of this UTC day and earlier."`
	List  bool   `help:"Ask for nothing; show what is to be, is and was read again."`
	JSON  bool   `name:"json" help:"One JSON object a line."`
}

func (c *rereadCmd) Run(ctx context.Context, p *process) error {
	days, err := c.days()
	if err != nil {
		return usageError{err}
	}
	if c.Brand != "" && c.Org == "" {
		return usageError{errors.New("--brand names a brand of an organization: want --org too")}
	}
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		organization, brand, err := c.scope(ctx, on)
		if err != nil {
			return err
		}
		if !c.List {
			asked, err := on.DB.RequestRereads(ctx, organization, brand, days)
			if err != nil {
				return err
			}
			p.say("asked for %d brands; answerscope reread --list shows their progress", asked)
		}
		states, err := on.DB.Rereads(ctx, organization, brand)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, states, rereadLine, "ORGANIZATION", "BRAND", "STATE", "ANSWERS", "DAYS", "SINCE", "LAST ERROR")
	})
}

func (c *rereadCmd) days() (named postgres.Days, err error) {
	named.First, named.Last, err = days(c.From, c.To)
	if c.List && c.From+c.To != "" {
		err = errors.New("--list shows all days: want no --from and --to")
	}
	return named, err
}

// scope is the ids that --org and --brand name, nil for all.
func (c *rereadCmd) scope(ctx context.Context, on *engines) (organization, brand *uuid.UUID, err error) {
	if c.Org == "" {
		return nil, nil, nil
	}
	o, b, err := on.brand(ctx, c.Org, c.Brand)
	if c.Brand == "" {
		return &o.ID, nil, err
	}
	return &o.ID, &b.ID, err
}

// rereadLine is a state in a table.
func rereadLine(s postgres.RereadState) string {
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
	return fmt.Sprintf("%s\t%s\t%s\t%d of %d\t%s\t%s\t%s", s.Organization, s.Brand, s.State, s.Done, s.Total, days, since.Format(time.DateTime), s.LastError)
}
