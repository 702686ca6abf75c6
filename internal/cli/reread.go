package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// rereadCmd is the command reread.
type rereadCmd struct {
	Org   string `placeholder:"SLUG" help:"Only its brands."`
	Brand string `placeholder:"SLUG" help:"Only this brand of --org."`
	From  string `placeholder:"DAY" help:"Only answers of this UTC day, 2026-03-01, and later."`
	To    string `placeholder:"DAY" help:"Only answers of this UTC day and earlier."`
	List  bool   `help:"Queue nothing; list brands that are queued, in progress and done."`
	JSON  bool   `name:"json" help:"One JSON object a line."`
}

// Validate checks the flags.
func (c *rereadCmd) Validate() error {
	if c.Brand != "" && c.Org == "" {
		return errors.New("--brand names a brand of an organization: want --org too")
	}
	if c.List && c.From+c.To != "" {
		return errors.New("--list shows all days: want no --from and --to")
	}
	_, _, err := parseDays(c.From, c.To)
	return err
}

func (c *rereadCmd) Run(ctx context.Context, p *process, db *postgres.DB) error {
	organization, brand, err := c.scope(ctx, db)
	if err != nil {
		return err
	}
	if !c.List {
		var days postgres.Days
		if days.First, days.Last, err = parseDays(c.From, c.To); err != nil {
			return err
		}
		n, err := db.RequestRereads(ctx, organization, brand, days)
		if err != nil {
			return err
		}
		p.say("asked for %d brands; answerscope reread --list shows their progress", n)
	}
	return asList(db.Rereads(ctx, organization, brand)).print(p, c.JSON, rereadLine,
		"ORGANIZATION", "BRAND", "STATE", "ANSWERS", "DAYS", "SINCE", "LAST ERROR")
}

// scope returns the ids of --org and --brand, nil for all.
func (c *rereadCmd) scope(ctx context.Context, db *postgres.DB) (organization, brand *uuid.UUID, err error) {
	if c.Org == "" {
		return nil, nil, nil
	}
	o, b, err := findBrand(ctx, db, c.Org, c.Brand)
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
	return fmt.Sprintf("%s\t%s\t%s\t%d of %d\t%s\t%s\t%s",
		s.Organization, s.Brand, s.State, s.Done, s.Total, days, since.Format(time.DateTime), s.LastError)
}
